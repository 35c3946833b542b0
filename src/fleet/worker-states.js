'use strict'
// Who is there: what each worker is called in a label, and how many are in what state. A worker that is silent, or whose
// version nobody here understands, costs this gauge and not the scrape.

const { Labels, NO_LABELS } = require('../metrics/labels')

const STATES = /** @type {const} */ (['live', 'silent', 'unreadable'])
/** A name is a label as it is. */
const UNSAFE = /[^\w.-]/g
const LONGEST_NAME = 64
const LABELS = STATES.map((state) => new Labels({ state }))

/** While a worker is replaced there may be two of a name: the newest has it, the others their process id behind it. */
function named(members) {
  const taken = new Set()
  const names = new Map()
  const age = ({ head }) => (head === undefined ? 0 : head.startedAt)
  for (const { id, head, state } of [...members].sort((a, b) => age(b) - age(a))) {
    if (head === undefined || state === 'departed') continue
    const worker = String(head.worker).replace(UNSAFE, '_').slice(0, LONGEST_NAME)
    const name = taken.has(worker) ? `${worker}-${head.pid}` : worker
    names.set(id, taken.has(name) ? `${name}-${id}` : name)
    taken.add(names.get(id))
  }
  return members.map((member) => ({ ...member, worker: names.get(member.id) ?? '' }))
}

/** @returns {Record<typeof STATES[number] | 'departed', number>} */
function statesOf(members, departed) {
  const count = (state) => members.filter((member) => member.state === state).length
  return {
    live: count('live'),
    silent: count('silent'),
    unreadable: count('unreadable'),
    departed: departed.head.count + count('departed'),
  }
}

const stateFamilies = (states) => [
  {
    name: 'spillway_workers',
    type: 'gauge',
    help: 'Workers of the fleet: live, silent (their last known values are shown), unreadable (such as of another version).',
    points: () => STATES.map((state, i) => ({ labels: LABELS[i], value: states[state] })),
  },
  {
    name: 'spillway_workers_departed_total',
    type: 'counter',
    help: 'Workers that have ended; what they have counted is in the totals.',
    points: () => [{ labels: NO_LABELS, value: states.departed }],
  },
]

module.exports = { named, stateFamilies, statesOf }
