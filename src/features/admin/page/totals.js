'use strict'
// The totals of the last minute, which are always shown. In a fleet, the totals of all workers stand below
// those of this worker.

const { make, setText } = require('./dom')
const { NONE, count, duration, number, percent } = require('../../../core/readable')

/**
 * @import { Snapshot } from '../../../../index.js'
 * @import { State } from './chart-list'
 * @import { Past } from './past'
 *
 * @typedef {Pick<Snapshot, 'requests'>} Requests of one process, or of a fleet
 * @typedef {object} Total
 * @property {string} title
 * @property {string} [about]
 * @property {(snapshot: Snapshot, past: Past) => string} text
 * @property {(fleet: NonNullable<State['fleet']>) => string} [ofFleet] of all workers
 */

/** @param {'p50Ms' | 'p99Ms' | 'maxMs'} key */
const latency =
  (key) =>
  (/** @type {Requests} */ { requests: { lastMinute } }) =>
    lastMinute.count === 0 ? NONE : duration(lastMinute[key])
/** @param {Requests} of */
const rateOf = ({ requests }) => number(requests.lastMinute.ratePerSecond)
/** @param {Requests} of */
const errorsOf = ({ requests: { lastMinute } }) =>
  lastMinute.count === 0 ? NONE : percent(lastMinute.errorRatio)

/** The share of the last minute's requests that clients gave up. @param {Snapshot} snapshot */
function gaveUpOf({ requests, routes }) {
  const { count: all } = requests.lastMinute
  if (all === 0 || routes.some(({ gaveUp }) => gaveUp === null)) return NONE
  return percent(Math.min(1, routes.reduce((sum, { gaveUp }) => sum + (gaveUp?.lastMinute ?? 0), 0) / all))
}

/** @type {Total[]} */
const TOTALS = [
  { title: 'requests/s', text: rateOf, ofFleet: rateOf },
  { title: 'p50', text: latency('p50Ms'), ofFleet: latency('p50Ms') },
  { title: 'p99', text: latency('p99Ms'), ofFleet: latency('p99Ms') },
  { title: 'errors', text: errorsOf, ofFleet: errorsOf },
  {
    title: 'gave up',
    about: 'Clients disconnected before an answer began',
    text: gaveUpOf,
    ofFleet: ({ lastMinute }) => percent(lastMinute?.gaveUpRatio),
  },
  {
    title: 'shed',
    about: 'The share of requests that was rejected',
    text: (_, past) => percent(past.shedOfLastMinute),
    ofFleet: ({ lastMinute }) => percent(lastMinute?.shedRatio),
  },
  {
    title: 'in flight',
    text: ({ admission, requests }) =>
      admission.limit === null
        ? count(requests.inFlight)
        : `${count(requests.inFlight)} of ${count(admission.limit)}`,
    ofFleet: ({ requests }) => count(requests.inFlight),
  },
  { title: 'queued', text: ({ admission }) => count(admission.queued) },
  { title: 'loop busy', text: ({ runtime }) => percent(runtime.loop.utilization) },
  {
    title: 'loop delay',
    about: 'p99 of the busy time of a loop turn: 1 % of the turns took longer than this',
    text: ({ runtime }) => duration(runtime.loop.delayMs.p99),
  },
  { title: 'CPU', text: ({ runtime }) => percent(runtime.cpu.utilization) },
  {
    title: 'heap',
    about: 'Heap in use, as a share of its limit',
    text: ({ runtime: { heap } }) => percent((heap.afterGcBytes ?? heap.usedBytes) / heap.limitBytes),
  },
]

class Totals {
  element
  #past
  #whose = make('dt', null, 'Last minute')
  #own = make('dd')
  #all = make('dd', { class: 'all', hidden: true })
  #cells = TOTALS.map(() => ({ own: make('dd'), all: make('dd', { class: 'all', hidden: true }) }))

  /** @param {Past} past */
  constructor(past) {
    this.#past = past
    this.element = make(
      'dl',
      { class: 'totals' },
      make('div', { class: 'whose' }, this.#whose, this.#own, this.#all),
      ...TOTALS.map(({ title, about }, i) =>
        make('div', null, make('dt', { title: about }, title), this.#cells[i].own, this.#cells[i].all)
      )
    )
  }

  /** @param {State} state */
  update({ fleet, snapshot }) {
    const workers = fleet?.workers ?? []
    const isOfFleet = workers.length > 1
    setText(this.#own, isOfFleet ? `worker ${workers[0].worker}` : 'all requests')
    setText(this.#all, `all ${workers.length} workers`)
    this.#all.hidden = !isOfFleet
    for (const [i, { text, ofFleet }] of TOTALS.entries()) {
      const { all, own } = this.#cells[i]
      setText(own, text(snapshot, this.#past))
      all.hidden = !isOfFleet
      if (fleet !== null) setText(all, ofFleet?.(fleet) ?? '')
    }
  }
}

exports.Totals = Totals
