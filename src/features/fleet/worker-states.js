'use strict'
// Names the workers of a fleet for labels, and counts them by state. A silent worker, or a worker of an
// unknown version, changes a gauge and does not fail the scrape.

const { Labels, NO_LABELS } = require('../../core/metrics/labels')

/** @import { Member, NamedMember } from './members/poll-members' */

const STATES = /** @type {const} */ (['live', 'silent', 'unreadable'])
/** Names become label values without escaping. */
const UNSAFE = /[^\w.-]/g
const LONGEST_NAME = 64
const LABELS = STATES.map((state) => new Labels({ state }))

/**
 * During a replacement two workers may have one name. The newest worker keeps the name, and the pid of the
 * other is added to its name.
 *
 * @param {readonly Member[]} members
 * @returns {NamedMember[]}
 */
function withWorkerNames(members) {
  const taken = new Set()
  /** @type {Map<string, string>} */
  const names = new Map()
  /** @param {Member} member */
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

/** @typedef {Record<typeof STATES[number] | 'departed', number>} States how many workers have each state */

/**
 * @param {readonly { state: string }[]} members
 * @param {{ head: { count: number } }} retired
 * @returns {States}
 */
function statesOf(members, retired) {
  /** @param {keyof States} state */
  const count = (state) => members.filter((member) => member.state === state).length
  return {
    live: count('live'),
    silent: count('silent'),
    unreadable: count('unreadable'),
    departed: retired.head.count + count('departed'),
  }
}

/** @param {States | undefined} states undefined if only the metric names are needed */
const stateFamilies = (states) => [
  {
    name: 'spillway_workers',
    type: 'gauge',
    help: 'Workers of the fleet, by state: live, silent (shown with their last known values), or unreadable (for example, of another version).',
    points: () =>
      STATES.map((state, i) => ({ labels: LABELS[i], value: /** @type {States} */ (states)[state] })),
  },
  {
    name: 'spillway_workers_departed_total',
    type: 'counter',
    help: 'Workers that have ended. Their counts are part of the totals.',
    points: () => [{ labels: NO_LABELS, value: /** @type {States} */ (states).departed }],
  },
]

module.exports = { stateFamilies, statesOf, withWorkerNames }
