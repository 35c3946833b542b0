'use strict'
// Limits how long a request may be queued. In an overload the limit is `targetDelay`. In a burst it is
// `maxDelay`, and stalls of the loop do not count. A request that would wait longer is rejected on arrival.
// In a burst, the queue must first have shown how fast it drains. `targetDelay` counts as at least 1.5 times
// the usual long turn, because a wait for one long turn says little about the load. Class `critical` may wait
// four times as long.

const { SAMPLE_MS, TURN_BUDGET_MS } = require('../measurements/loop-turns')
const { CRITICAL } = require('../decision')
const { FEW_REQUESTS } = require('./loop-share')

/**
 * @import { ShedOptions } from '../admission'
 * @typedef {{ readonly maxOutstanding: number, readonly areGateways: boolean, readonly cpuShare: number }}
 *   BoundedClients
 * @typedef {{ readonly priority: number, readonly queuedMs: number, readonly queuedStallFreeMs: number }}
 *   Waited
 */

const LONG_TURNS = 1.5
const CRITICAL_FACTOR = 4
/** Arriving work that needs at most this share of the loop's time is not an overload. */
const HEALTHY_LOAD = 0.7
/** An overload begins when more work than this has arrived beyond HEALTHY_LOAD. */
const MAX_EXCESS_MS = 400
/**
 * The same bound for requests from gateways. A gateway queues requests itself, and the requests in its queue
 * do not show in the load.
 */
const MAX_GATEWAY_EXCESS_MS = 200
/**
 * For an overload, the queue must have been non-empty for three samples. The burst that began the queue is
 * then in neither of the last two samples.
 */
const MIN_STOOD_MS = 3 * SAMPLE_MS
/** If the clients cannot make the queue longer than this, a full loop is not an overload. */
const MAX_BOUND_MS = 450

class QueueDelay {
  maxDelayMs = 0
  #targetDelayMs = 0
  #turns
  #overload

  /**
   * @param {{ turns: { readonly usualLongMs: number, stallFreeMs: (nowMs: number) => number },
   *   overload: Overload }} deps
   */
  constructor({ turns, overload }) {
    this.#turns = turns
    this.#overload = overload
  }

  /** @param {Pick<ShedOptions, 'maxDelay' | 'targetDelay'>} options */
  update({ maxDelay, targetDelay }) {
    this.maxDelayMs = maxDelay
    this.#targetDelayMs = Math.min(targetDelay, maxDelay)
  }

  get targetMs() {
    return Math.min(this.maxDelayMs, Math.max(this.#targetDelayMs, LONG_TURNS * this.#turns.usualLongMs))
  }

  /** How long a request of this class may be queued in an overload. @param {number} priority */
  targetOf(priority) {
    return priority === CRITICAL ? Math.min(this.maxDelayMs, CRITICAL_FACTOR * this.targetMs) : this.targetMs
  }

  /**
   * @param {number} priority
   * @param {number} msPerStart how long each queued request takes
   * @param {number} nowMs
   */
  toleratedMs(priority, msPerStart, nowMs) {
    return this.boundMs(priority, this.#overload.isOn(msPerStart, nowMs))
  }

  /**
   * Whether to reject a request on arrival that would wait `waitMs` behind `ahead` others.
   * @param {number} waitMs @param {number} ahead @param {number} priority @param {number} msPerStart
   *   @param {number} nowMs
   */
  rejects(waitMs, ahead, priority, msPerStart, nowMs) {
    if (ahead < FEW_REQUESTS || waitMs <= this.targetOf(priority)) return false
    if (this.#overload.isOn(msPerStart, nowMs)) return true
    // In a burst `waitMs` is not enough, because the requests of a burst may be cheaper than the usual ones.
    return waitMs > this.maxDelayMs && this.#overload.waitMs(ahead, nowMs) > this.maxDelayMs
  }

  /**
   * Whether a queued request has waited for longer than its bound. TURN_BUDGET_MS is added, because requests
   * are dequeued throughout that part of a loop turn.
   * @param {Waited} wait @param {boolean} isOverload @param {number} nowMs
   */
  isOverdue(wait, isOverload, nowMs) {
    return this.waitedMs(wait, isOverload, nowMs) > this.boundMs(wait.priority, isOverload) + TURN_BUDGET_MS
  }

  /**
   * How long a queued request has waited. In a burst, stalls do not count.
   *
   * @param {Waited} wait
   * @param {boolean} isOverload
   * @param {number} nowMs
   */
  waitedMs({ queuedMs, queuedStallFreeMs }, isOverload, nowMs) {
    if (isOverload) return nowMs - queuedMs
    return this.#turns.stallFreeMs(nowMs) - queuedStallFreeMs
  }

  /** How long a queued request may wait. @param {number} priority @param {boolean} isOverload */
  boundMs(priority, isOverload) {
    return isOverload ? this.targetOf(priority) : this.maxDelayMs
  }
}

/**
 * Tells an overload from a burst. A burst arrives at once and then drains. In an overload, work keeps
 * arriving:
 *   overload   stood >= 300 ms, and stood x (load - 0.7) > 400 ms; through gateways > 200 ms
 *     stood    the time since the queue was last empty
 *     load     the work that arrived in a slice of 100 ms, as a share of the slice. The lesser load of the
 *              last two slices counts
 * So a load of 2 is an overload after 310 ms, of 1.2 after 800 ms, and of 1 after 1.3 s. A load of up to 0.7
 * is never an overload.
 */
class Overload {
  #clients
  /** When the queue was last empty. */
  #emptiedMs
  /** When the current slice began, and how long the loop had idled by then. */
  #slicedMs
  #slicedIdleMs
  #arrived = 0
  #ended = 0
  /** Cost of a request in the last slice; the load of that slice, and of the slice before. */
  #costMs = 0
  #load = 0
  #loadBefore = 0
  /** Whether the loop was busy for no more than 0.7 of the last slice. */
  #hadRoom = false

  /** @param {BoundedClients} clients @param {number} nowMs */
  constructor(clients, nowMs, idleMs = 0) {
    this.#clients = clients
    this.#emptiedMs = this.#slicedMs = nowMs
    this.#slicedIdleMs = idleMs
  }

  /** @param {number} msPerStart how long each queued request takes @param {number} nowMs */
  isOn(msPerStart, nowMs) {
    const stoodMs = nowMs - this.#emptiedMs
    if (stoodMs < MIN_STOOD_MS || this.isBounded(msPerStart)) return false
    const most = this.#clients.areGateways ? MAX_GATEWAY_EXCESS_MS : MAX_EXCESS_MS
    return stoodMs * (Math.min(this.#load, this.#loadBefore) - HEALTHY_LOAD) > most
  }

  /**
   * Expected wait behind `ahead` others, from the cost of requests in the last slice. 0 until the queue has
   * been non-empty for MIN_STOOD_MS.
   * @param {number} ahead @param {number} nowMs
   */
  waitMs(ahead, nowMs) {
    return nowMs - this.#emptiedMs < MIN_STOOD_MS ? 0 : ahead * this.#costMs
  }

  /**
   * Whether the clients cannot make the queue long, because all requests that they can have outstanding need
   * little CPU time.
   *
   * @param {number} msPerStart
   */
  isBounded(msPerStart) {
    const { cpuShare, maxOutstanding } = this.#clients
    return maxOutstanding * msPerStart * cpuShare <= MAX_BOUND_MS
  }

  /**
   * @param {{ nowMs: number, idleMs: number, arrived: number, ended: number, usualMs: number,
   *   isEmpty: boolean, isSlotShort?: boolean }} turn
   *   `usualMs`: what a request takes on average.
   *   `isSlotShort`: `maxConcurrent` is reached, so the idle time of the loop says nothing
   */
  onTurn({ nowMs, idleMs, arrived, ended, usualMs, isEmpty, isSlotShort = false }) {
    this.#arrived += arrived
    this.#ended += ended
    if (isEmpty) this.onEmpty(nowMs)
    if (nowMs - this.#slicedMs >= SAMPLE_MS) this.#endSlice(nowMs, idleMs, usualMs, isSlotShort)
  }

  /** @param {number} nowMs */
  onEmpty(nowMs) {
    this.#emptiedMs = nowMs
  }

  /**
   * Measures the load of the slice. The requests of a burst may be cheaper than the mean; the number that
   * ended in the slice shows this.
   * @param {number} nowMs @param {number} idleMs @param {number} usualMs @param {boolean} isSlotShort
   */
  #endSlice(nowMs, idleMs, usualMs, isSlotShort) {
    const elapsedMs = nowMs - this.#slicedMs
    const busyMs = isSlotShort ? elapsedMs : elapsedMs - (idleMs - this.#slicedIdleMs)
    const costMs = this.#ended === 0 ? usualMs : Math.min(usualMs, busyMs / this.#ended)
    this.#loadBefore = this.#load
    this.#load = (this.#arrived * costMs) / elapsedMs
    this.#costMs = costMs
    // If the loop had this much room in two slices in a row, queued requests wait for something other than
    // the loop.
    const hadRoom = this.#hadRoom
    this.#hadRoom = busyMs <= HEALTHY_LOAD * elapsedMs
    if (hadRoom && this.#hadRoom) this.onEmpty(nowMs)
    this.#slicedMs = nowMs
    this.#slicedIdleMs = idleMs
    this.#arrived = this.#ended = 0
  }
}

exports.HEALTHY_LOAD = HEALTHY_LOAD
exports.Overload = Overload
exports.QueueDelay = QueueDelay
