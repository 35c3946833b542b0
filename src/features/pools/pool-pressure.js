'use strict'
// How long a request would wait for a connection of one pool, and whether this wait is over the limit:
//   wait = asks per request x (callers ahead - callers served before it asks) x use time / connections
// Callers ahead are waiting callers, and running requests that will ask before this request does
// (route-uses.js). Free connections are subtracted. Without `maxWait` the limit is 180 ms. Twenty callers
// ahead are also allowed, or more if use times differ, because such queues form by chance at 70 % of the
// capacity. A burst may wait for 500 ms. It counts as a burst if the queue was empty less than 500 ms ago
// (decisions/0053).

const { CRITICAL } = require('../../core/gate/decision')

const DEFAULT_MAX_WAIT_MS = 180
const BURST_MS = 500
const USE_SMOOTHING = 0.1
/**
 * A use counts for at most these multiples of the mean, because a use that hung says little about later uses.
 */
const MAX_OF_MEAN = 10
const MAX_OF_MEAN_IN_SPREAD = 40
const MIN_AHEAD = 20
/**
 * Largest factor of MIN_AHEAD if use times differ. The factor is half of the mean square over the squared
 * mean.
 */
const MAX_SPREAD = 20
const SPREAD_SMOOTHING = 0.01
/**
 * At least one request is admitted in this time, so that the figures stay fresh. A slower pool gets one
 * request for each request that it serves, so that its queue does not grow.
 */
const MIN_ADMIT_GAP_MS = 100
/** A pool is watched for this long after a caller had to wait. */
const WATCH_MS = 300_000

class PoolPressure {
  /** Whether a caller waited in the last five minutes. Only then are arriving requests checked. */
  isWatched = false
  meanUseMs = 0
  /** The last expected wait that was too long, and the limit at that time. */
  longMs = 0
  toleratedMs = 0
  #maxWait
  #figures
  /** Last time the queue was seen empty. */
  #emptiedMs = 0
  #watchedUntilMs = 0
  #lastAdmitMs = Number.NEGATIVE_INFINITY
  /** For mode `observe`: the modelled wait behind the requests that would have been admitted. */
  #modelledMs = 0
  #modelledAtMs = 0
  #modelEmptiedMs = 0
  #spreadMs = 0
  #spreadSquare = 0

  /**
   * @param {{ maxWait: number | false | undefined, figures: { readonly max: number, readonly waiting: number,
   *   readonly held: number, routes: { updateAsksBefore: (travelMs: number,
   *   nowMs: number) => number } } }} deps
   *   `figures`: current figures of the pool
   */
  constructor({ maxWait, figures }) {
    this.#maxWait = maxWait
    this.#figures = figures
  }

  /** Whether the pool may reject requests at all. */
  get isEnforced() {
    return this.#maxWait !== false && this.#maxWait !== 0
  }

  get maxWaitMs() {
    return this.#maxWait === undefined ? DEFAULT_MAX_WAIT_MS : Number(this.#maxWait)
  }

  /** Longest permitted wait now, for a request that asks once. @param {number} nowMs */
  toleratedNowMs(nowMs) {
    const { maxWaitMs } = this
    if (this.#maxWait !== undefined) return maxWaitMs
    const standsMs = this.#figures.waiting === 0 ? 0 : nowMs - this.#emptiedMs
    return Math.max(maxWaitMs, burstMsAfter(standsMs), this.#chanceMs)
  }

  /** Wait behind as many callers as may be ahead by chance. */
  get #chanceMs() {
    return this.meanUseMs === 0 ? 0 : this.#mostByChance * this.#slotMs
  }

  // Hot path: once a use.
  /** @param {number} ms @param {number} nowMs */
  onUse(ms, nowMs) {
    if (this.#figures.waiting === 0) this.#emptiedMs = nowMs
    if (this.meanUseMs === 0) {
      this.meanUseMs = this.#spreadMs = ms
      this.#spreadSquare = ms * ms
      return
    }
    const meanMs = Math.max(0.1, this.meanUseMs)
    this.meanUseMs += (Math.min(ms, MAX_OF_MEAN * meanMs) - this.meanUseMs) * USE_SMOOTHING
    const spreadMs = Math.min(ms, MAX_OF_MEAN_IN_SPREAD * meanMs)
    this.#spreadMs += (spreadMs - this.#spreadMs) * SPREAD_SMOOTHING
    this.#spreadSquare += (spreadMs * spreadMs - this.#spreadSquare) * SPREAD_SMOOTHING
  }

  /** A caller is about to wait. The pool does not count it as waiting yet. @param {number} nowMs */
  onShortage(nowMs) {
    if (this.#figures.waiting === 0) this.#emptiedMs = nowMs
    this.isWatched = true
    this.#watchedUntilMs = nowMs + WATCH_MS
  }

  /** @param {number} nowMs */
  onTurn(nowMs) {
    if (this.isWatched && nowMs >= this.#watchedUntilMs) this.isWatched = false
  }

  /** Mean time between two releases while all connections are in use. */
  get #slotMs() {
    const { max } = this.#figures
    return max > 0 ? this.meanUseMs / max : 0
  }

  /** Expected wait of the next caller, behind the callers that wait now. */
  get expectedWaitMs() {
    return this.#figures.waiting * this.#slotMs
  }

  /**
   * Expected wait of the next caller, as a share of the longest permitted wait; 0 if the pool rejects
   * nothing.
   */
  get shortage() {
    const { expectedWaitMs } = this
    if (!this.isEnforced || expectedWaitMs === 0) return 0
    const byChanceMs = this.#maxWait === undefined ? this.#chanceMs : 0
    return expectedWaitMs / Math.max(this.maxWaitMs, byChanceMs)
  }

  /**
   * Number of callers ahead when a request of the route asks for a connection.
   *
   * @param {{ travelMs: number }} route
   * @param {number} slotMs
   * @param {number} nowMs
   */
  #aheadOf({ travelMs }, slotMs, nowMs) {
    const { held, max, routes, waiting } = this.#figures
    const expected = routes.updateAsksBefore(travelMs, nowMs)
    const free = waiting > 0 ? 0 : Math.max(0, max - held)
    return Math.max(0, waiting + expected - free - travelMs / slotMs)
  }

  /**
   * Decides about a request of the route. Writes the wait and its bound to `longMs` and `toleratedMs` if the
   * request is to be rejected.
   *
   * @param {{ travelMs: number, asksPerRequest: number }} route
   * @param {number} priority
   * @param {number} nowMs
   * @returns {boolean} whether to reject the request
   */
  judge(route, priority, nowMs) {
    const slotMs = this.#slotMs
    if (!this.isEnforced || slotMs === 0 || priority === CRITICAL) return false
    const ahead = this.#aheadOf(route, slotMs, nowMs)
    if (this.#figures.waiting === 0) this.#emptiedMs = nowMs
    const waitMs = ahead * slotMs * route.asksPerRequest
    if (!this.#isTooLong(ahead, waitMs, nowMs - this.#emptiedMs)) return false
    return nowMs - this.#lastAdmitMs <= Math.max(MIN_ADMIT_GAP_MS, slotMs * route.asksPerRequest)
  }

  /** @param {number} ahead @param {number} waitMs @param {number} standsMs */
  #isTooLong(ahead, waitMs, standsMs) {
    const { maxWaitMs } = this
    if (waitMs <= maxWaitMs) return false
    let toleratedMs = maxWaitMs
    if (this.#maxWait === undefined) {
      const burstMs = burstMsAfter(standsMs)
      const most = this.#mostByChance
      if (ahead < most || waitMs <= burstMs) return false
      toleratedMs = Math.max(maxWaitMs, burstMs, most * (waitMs / ahead))
    }
    this.longMs = waitMs
    this.toleratedMs = toleratedMs
    return true
  }

  get #mostByChance() {
    const spread = this.#spreadSquare / this.#spreadMs ** 2 / 2
    return MIN_AHEAD * Math.min(MAX_SPREAD, Math.max(1, spread))
  }

  /** @param {number} nowMs */
  onAdmit(nowMs) {
    this.#lastAdmitMs = nowMs
  }

  /**
   * In mode `observe` all requests are admitted, so the wait is modelled. It only grows with requests that
   * would have been admitted (`onModelledAdmit`).
   *
   * @param {number} priority @param {number} nowMs
   * @returns {boolean} whether mode `adaptive` would reject the request
   */
  judgeModelled(priority, nowMs) {
    const slotMs = this.#slotMs
    if (!this.isEnforced || slotMs === 0 || priority === CRITICAL) return false
    this.#modelledMs = Math.max(0, this.#modelledMs - (nowMs - this.#modelledAtMs))
    this.#modelledAtMs = nowMs
    if (this.#modelledMs === 0) this.#modelEmptiedMs = nowMs
    return this.#isTooLong(this.#modelledMs / slotMs, this.#modelledMs, nowMs - this.#modelEmptiedMs)
  }

  /** @param {{ asksPerRequest: number }} route */
  onModelledAdmit({ asksPerRequest }) {
    this.#modelledMs += this.#slotMs * asksPerRequest
  }
}

/**
 * Returns how long a burst may wait, if callers have waited for `standsMs` without a break.
 *
 * @param {number} standsMs
 */
const burstMsAfter = (standsMs) => (standsMs > BURST_MS ? 0 : BURST_MS)

exports.PoolPressure = PoolPressure
