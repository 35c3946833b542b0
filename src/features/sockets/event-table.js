'use strict'
// Results of messages, by event: outcomes, the time from receipt to the end of the handlers, and to the
// acknowledgement. A name has a row only if the application listens to it, or if `kind` returned it. The
// number of names is bounded, and further names share a row.

const { ADVISED_BOUNDS, Buckets } = require('../../core/histogram/buckets')
const { RollingHistogram } = require('../../core/histogram/rolling')

/** Used where a request has its method. */
const METHOD = 'event'

/**
 * Names the event of a message for async contexts, stalls and errors, as a RequestReference names a route.
 * All messages of an event share one reference, without data of a client. So a timer that keeps the reference
 * keeps nothing else.
 */
class EventReference {
  method = METHOD
  /** A message has no request. */
  request = undefined
  isEvent = true
  route

  /** @param {string} name */
  constructor(name) {
    this.route = name
  }

  /** The name in lists of routes, such as the errors by route. No route begins with a word and a space. */
  get label() {
    return `${METHOD} ${this.route}`
  }
}

const MAX_EVENTS = 100
/**
 * A client may influence the result of `kind`. Without a limit, a name as long as a message would be kept,
 * and shown at each scrape.
 */
const MAX_NAME_LENGTH = 128
/** Messages of events that nobody listens to, whatever name their client gave. */
const UNHANDLED = '(unhandled)'

const OUTCOMES = Object.freeze(
  /** @type {const} */ ([
    'completed', // every listener has ended
    'errored', // a listener threw, or its promise rejected
    'blocked', // a middleware of `socket.use` passed an error
    'shed', // rejected in overload, by its priority
  ])
)
const [OUTCOME_COMPLETED, OUTCOME_ERRORED, OUTCOME_BLOCKED, OUTCOME_SHED] = OUTCOMES.keys()

class EventRow {
  outcomes = new Float64Array(OUTCOMES.length)
  /** Reference of the code that handles the event. */
  reference
  /** From receipt to the end of the last listener. @type {RollingHistogram | undefined} */
  latency
  /** From receipt to the acknowledgement. @type {RollingHistogram | undefined} */
  ackLatency
  /** Rows of the histograms. @type {number | undefined} */
  durationRow
  /** @type {number | undefined} */
  ackRow

  /** @param {string} name */
  constructor(name) {
    this.name = name
    this.reference = new EventReference(name)
  }
}

class EventTable {
  /** How many messages were counted in the shared row. */
  folded = 0
  /** @type {Map<string, EventRow>} */
  #rows = new Map()
  #buckets = new Buckets(ADVISED_BOUNDS)
  #acks = new Buckets(ADVISED_BOUNDS)
  #overflow
  #startMs

  /** @param {string} overflow the name of the shared row @param {number} startMs */
  constructor(overflow, startMs) {
    this.#overflow = overflow
    this.#startMs = startMs
  }

  // Hot path: once a message.
  /** @param {string} name @returns {EventRow} */
  rowOf(name) {
    const found = this.#rows.get(name)
    if (found !== undefined) return found
    const isFull = this.#rows.size >= MAX_EVENTS || name.length > MAX_NAME_LENGTH
    if (isFull && name !== this.#overflow && name !== UNHANDLED) {
      this.folded++
      return this.rowOf(this.#overflow)
    }
    const row = new EventRow(name)
    this.#rows.set(name, row)
    return row
  }

  // Hot path: once a message.
  /**
   * @param {EventRow} row
   * @param {number} outcome of OUTCOMES
   * @param {number} durationMs
   * @param {number} nowMs
   */
  onEnd(row, outcome, durationMs, nowMs) {
    row.outcomes[outcome]++
    if (outcome === OUTCOME_BLOCKED || outcome === OUTCOME_SHED || row.name === UNHANDLED) return
    row.durationRow ??= this.#buckets.add()
    row.latency ??= new RollingHistogram(this.#startMs)
    this.#buckets.record(row.durationRow, durationMs / 1000)
    row.latency.record(durationMs, nowMs, outcome === OUTCOME_ERRORED)
  }

  // Hot path: once a message with an acknowledgement.
  /** @param {EventRow} row @param {number} durationMs @param {number} nowMs */
  onAck(row, durationMs, nowMs) {
    row.ackRow ??= this.#acks.add()
    row.ackLatency ??= new RollingHistogram(this.#startMs)
    this.#acks.record(row.ackRow, durationMs / 1000)
    row.ackLatency.record(durationMs, nowMs, false)
  }

  /**
   * How many messages each event has had, and how many of these failed
   *
   * @returns {Map<string, { count: number, errors: number }>}
   */
  totals() {
    const totals = new Map()
    for (const { name, outcomes } of this.#rows.values())
      totals.set(name, {
        count: outcomes[OUTCOME_COMPLETED] + outcomes[OUTCOME_ERRORED],
        errors: outcomes[OUTCOME_ERRORED],
      })
    return totals
  }

  /** @param {{ durations: Float64Array, acks: Float64Array }} [spare] */
  sample(spare) {
    return {
      events: Array.from(
        this.#rows.values(),
        ({ name, outcomes, durationRow, ackRow, latency, ackLatency }) => ({
          name,
          outcomes: OUTCOMES.map((outcome, index) => ({ outcome, count: outcomes[index] })).filter(
            ({ count }) => count > 0
          ),
          durationRow,
          ackRow,
          latency,
          ackLatency,
        })
      ),
      durations: this.#buckets.copy(spare?.durations),
      acks: this.#acks.copy(spare?.acks),
      folded: this.folded,
    }
  }
}

exports.EventReference = EventReference
exports.EventTable = EventTable
exports.OUTCOME_BLOCKED = OUTCOME_BLOCKED
exports.OUTCOME_COMPLETED = OUTCOME_COMPLETED
exports.OUTCOME_ERRORED = OUTCOME_ERRORED
exports.OUTCOME_SHED = OUTCOME_SHED
exports.UNHANDLED = UNHANDLED
