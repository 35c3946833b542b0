'use strict'
// Counts the gate's decisions by reason and class, keeps the last rejections, and groups rejections into
// overloads.

const { ADVISED_BOUNDS, Buckets } = require('../histogram/buckets')
const {
  LIMIT_REASON,
  MAX_LIMITS,
  MAX_POOLS,
  POOL_REASON,
  PRIORITIES,
  REASONS,
  figuresOf,
} = require('./decision')

/** @import { ShedReason, SpillwayEvents } from '../../../index.js' */

/**
 * @typedef {{ lastReason: ShedReason, sinceMs: number, lastMs: number, counts: Map<ShedReason, number> }}
 *   Overloaded
 * @typedef {SpillwayEvents['overload'] | SpillwayEvents['recovered']} OverloadDetails
 * @typedef {{ call(event: 'overload' | 'recovered', details: OverloadDetails): void }['call']}
 *   OnOverloadEvent
 */

/** @type {ShedReason} */
const OTHER_POOLS = `${POOL_REASON}(other)`
const CELLS = (REASONS.length + MAX_POOLS + 1 + MAX_LIMITS) * PRIORITIES.length
/** Reasons that say nothing about the process. A limit of one route says nothing about it either. */
const OF_REQUEST = /** @type {const} */ (['age', 'deadline', 'closed'])
/** How many of the last rejections are kept. */
const KEPT = 20
/** An overload is over after this time without a rejection. Clients that back off return within it. */
const QUIET_MS = 10_000

class Stats {
  shed = new Float64Array(CELLS)
  wouldShed = new Float64Array(CELLS)
  /**
   * The row of each reason. A pool or a limit has a row from its first rejection on.
   *
   * @type {Map<ShedReason, number>}
   */
  #rows = new Map(REASONS.map((reason, row) => [reason, row]))
  /** The rows of reasons that say nothing about the process. */
  #ofRequest = OF_REQUEST.map((reason) => REASONS.indexOf(reason))
  #pools = 0
  /** Requests that the rules have judged: none of class bypass, and none in mode `off`. */
  decided = 0
  admitted = 0
  rejected = 0
  /** Requests that run in mode `observe`, and that mode `adaptive` would reject. */
  wouldReject = 0
  /** Requests whose client disconnected while they were queued. */
  abandoned = 0
  queueDelays = new Buckets(ADVISED_BOUNDS)

  constructor() {
    this.queueDelays.add()
  }

  /** @param {ShedReason} reason @param {number} priority */
  countRejected(reason, priority) {
    this.rejected++
    this.shed[this.#cellOf(reason, priority)]++
  }

  /** @param {ShedReason} reason @param {number} priority */
  countWouldReject(reason, priority) {
    this.wouldReject++
    this.wouldShed[this.#cellOf(reason, priority)]++
  }

  /** @param {ShedReason} reason @param {number} priority */
  #cellOf(reason, priority) {
    return (this.#rows.get(reason) ?? this.#addRow(reason)) * PRIORITIES.length + priority
  }

  /** @param {ShedReason} reason */
  #addRow(reason) {
    const isOther = reason.startsWith(POOL_REASON) && this.#pools++ >= MAX_POOLS
    const name = isOther ? OTHER_POOLS : reason
    const row = this.#rows.get(name) ?? this.#rows.size
    if (reason.startsWith(LIMIT_REASON)) this.#ofRequest.push(row)
    this.#rows.set(name, row)
    return row
  }

  /** Requests that were rejected because the process is full. Computed when it is read. */
  get rejectedByProcess() {
    let count = this.rejected
    for (const row of this.#ofRequest)
      for (let column = 0; column < PRIORITIES.length; column++)
        count -= this.shed[row * PRIORITIES.length + column]
    return count
  }

  /**
   * Lists the counts above 0, with the names of their reason and class.
   *
   * @param {Float64Array} counts `shed` or `wouldShed`
   */
  list(counts) {
    const list = []
    for (const [reason, row] of this.#rows) {
      for (const [column, priority] of PRIORITIES.entries()) {
        const count = counts[row * PRIORITIES.length + column]
        if (count > 0) list.push({ reason, priority, count })
      }
    }
    return list
  }

  /** @param {number} waitMs */
  onWait(waitMs) {
    this.queueDelays.record(0, waitMs / 1000)
  }
}

/** The last twenty rejections, for the snapshot. Recording one allocates nothing. */
class LastRejections {
  #clock
  #entries = Array.from({ length: KEPT }, () => ({
    atMs: Number.NaN,
    priority: 0,
    reason: '',
    value: Number.NaN,
    bound: Number.NaN,
  }))
  #count = 0

  /** @param {Pick<import('../clock').Clock, 'now' | 'wallMs'>} clock */
  constructor(clock) {
    this.#clock = clock
  }

  // Hot path: once a rejection.
  /**
   * @param {ShedReason} reason
   * @param {number} priority
   * @param {number} nowMs
   * @param {{ readonly value: number, readonly bound: number }} cause
   */
  record(reason, priority, nowMs, { value, bound }) {
    const entry = this.#entries[this.#count++ % KEPT]
    entry.atMs = nowMs
    entry.priority = priority
    entry.reason = reason
    entry.value = value
    entry.bound = bound
  }

  /** Lists the kept rejections, the newest last. */
  list() {
    const wallOffsetMs = this.#clock.wallMs() - this.#clock.now()
    const list = []
    for (let i = Math.max(0, this.#count - KEPT); i < this.#count; i++) {
      const { atMs, priority, reason, ...cause } = this.#entries[i % KEPT]
      const at = new Date(wallOffsetMs + atMs).toISOString()
      list.push({
        at,
        priority: PRIORITIES[priority],
        reason: /** @type {ShedReason} */ (reason),
        ...figuresOf(cause),
      })
    }
    return list
  }
}

/** @param {Overloaded} overload */
const durationOf = ({ sinceMs, lastMs }) => lastMs - sinceMs

/**
 * Groups rejections into overloads. An overload begins with a rejection (`overload`). It ends after ten
 * seconds without a rejection (`recovered`, with its length and the count of every reason). A timer runs only
 * during an overload.
 */
class RejectionPeriod {
  /**
   * Overloads so far. Most are shorter than the time between two scrapes, so that only a counter shows them.
   */
  count = 0
  #clock
  #onEvent
  /** @type {Overloaded | undefined} */
  #current
  #earlierMs = 0
  #fullMs = Number.NEGATIVE_INFINITY

  /**
   * @param {import('../clock').Clock} clock
   * @param {OnOverloadEvent} onEvent
   */
  constructor(clock, onEvent) {
    this.#clock = clock
    this.#onEvent = onEvent
  }

  get isOn() {
    return this.#current !== undefined
  }

  /** Whether a request was rejected lately for another reason than the limit of its route. */
  get mayBeFull() {
    return this.#clock.now() - this.#fullMs < QUIET_MS
  }

  /** The reason of the last rejection; undefined outside of an overload. */
  get reason() {
    return this.#current?.lastReason
  }

  /** The length of all overloads together, up to the last rejection. */
  get totalMs() {
    return this.#earlierMs + (this.#current === undefined ? 0 : durationOf(this.#current))
  }

  /**
   * @param {ShedReason} reason
   * @param {number} nowMs
   * @param {{ readonly value: number, readonly bound: number }} cause
   */
  record(reason, nowMs, cause) {
    if (!reason.startsWith(LIMIT_REASON)) this.#fullMs = nowMs
    if (this.#current === undefined) {
      this.count++
      this.#current = { lastReason: reason, sinceMs: nowMs, lastMs: nowMs, counts: new Map() }
      this.#onEvent('overload', { reason, ...figuresOf(cause) })
      this.#endWhenQuiet(QUIET_MS)
    }
    const { counts } = this.#current
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
    this.#current.lastReason = reason
    this.#current.lastMs = nowMs
  }

  /** @param {number} delayMs */
  #endWhenQuiet(delayMs) {
    this.#clock.after(delayMs, () => {
      const quietMs = this.#clock.now() - /** @type {Overloaded} */ (this.#current).lastMs
      if (quietMs < QUIET_MS) return this.#endWhenQuiet(QUIET_MS - quietMs)
      this.#end()
    })
  }

  #end() {
    const durationMs = durationOf(/** @type {Overloaded} */ (this.#current))
    const counts = [.../** @type {Overloaded} */ (this.#current).counts].sort(([, a], [, b]) => b - a)
    this.#earlierMs += durationMs
    this.#current = undefined
    this.#onEvent('recovered', {
      reason: counts[0][0],
      reasons: Object.fromEntries(counts),
      durationMs,
      rejected: counts.reduce((sum, [, count]) => sum + count, 0),
    })
  }
}

exports.LastRejections = LastRejections
exports.RejectionPeriod = RejectionPeriod
exports.Stats = Stats
