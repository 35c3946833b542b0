'use strict'
// What a limit would reject in mode `observe`, where every request runs at once. The model uses the mean time
// that a slot is held.
// - While the loop is full, one turn reads what arrived during the turn before. As in the gate's model, these
//   arrivals are spread evenly over their turn (docs/decisions/0056).
// - Requests that the gate would reject would never reach the limit. See `GateShare`.
// - A request that would wait too long is counted as rejected when its wait is over. During its wait it is
//   one of the queued requests. The gate is informed at once, because a rejected request costs the loop
//   nothing.

const { IDLE_SHARE } = require('../../core/gate/measurements/loop-turns')
const { SMOOTHING } = require('../../core/gate/measurements/request-cost')
const { ShadowSlots } = require('../../core/gate/shadow-slots')

/**
 * @import { Clock } from '../../core/clock'
 * @import { LoopTurns } from '../../core/gate/measurements/loop-turns'
 * @import { Slot } from './slot'
 *
 * @typedef {{ priority: number, others: number, boundMs: number }} Arrival `others`: how many others run;
 *   `boundMs`: how long it may wait
 */

/**
 * A request counts for at most this multiple of the mean. The multiple is large, because a tenth of the
 * requests may hold slots for long.
 */
const MAX_OF_MEAN = 100
/** Least time between two counts of the requests whose wait is over. */
const COUNT_MS = 10
/** Number of requests that the mean of the gate's share covers. */
const HORIZON = 200

class ShadowBulkhead {
  /** Mean time that a slot is held, in every mode. */
  heldMs = 0
  #limit
  #clock
  #turns
  #gateShare
  #onWouldReject
  #onWithdraw
  #slots
  /** Sum of the gate's share: at 1, the gate would reject the next request. */
  #ofGate = 0
  /**
   * Requests that wait in vain, the one whose wait ends first at the front.
   *
   * @type {{ arrival: Arrival, untilMs: number }[]}
   */
  #doomed = []
  #isCountScheduled = false
  /** Arrivals of this turn. @type {Arrival[]} */
  #arrivals = []
  /** Arrivals until this time have been replayed. */
  #modelMs = Number.NEGATIVE_INFINITY

  /**
   * @param {{ readonly maxConcurrent: number, readonly maxQueue: number, readonly slotHeldMs: number }} limit
   * @param {{ clock: Pick<Clock, 'after' | 'afterTurn' | 'idleMs' | 'now'>, turns: Pick<LoopTurns,
   *   'beganIdle' | 'isIdling' | 'mostReadyDelayMs'>, gateShare: { readonly value: number },
   *   onWouldReject: (arrival: Arrival) => void, onWithdraw: () => void }} deps
   *   `onWithdraw`: called for a request that the gate admits and this limit would reject
   */
  constructor(limit, { clock, turns, gateShare, onWouldReject, onWithdraw }) {
    this.#limit = limit
    this.#clock = clock
    this.#turns = turns
    this.#gateShare = gateShare
    this.#onWouldReject = onWouldReject
    this.#onWithdraw = onWithdraw
    this.#slots = new ShadowSlots(limit)
  }

  /** @param {Arrival} arrival @param {number} nowMs */
  onRequest(arrival, nowMs) {
    if (this.#turns.beganIdle) this.#observe(arrival, nowMs)
    else if (this.#arrivals.push(arrival) === 1) this.#clock.afterTurn(() => this.#replay())
  }

  /** A request has given its slot back. @param {number} heldMs */
  onEnd(heldMs) {
    const maxMs = MAX_OF_MEAN * Math.max(1, this.heldMs)
    if (this.heldMs === 0) this.heldMs = heldMs
    else this.heldMs += (Math.min(heldMs, maxMs) - this.heldMs) * SMOOTHING
  }

  /**
   * Called in mode `observe` when a request has given its slot back. In this mode more requests may run than
   * there are slots. A full loop then keeps requests for longer than it would with the gate and this limit.
   * So requests that waited for the loop are not counted.
   *
   * @param {Slot} slot @param {number} running this one included @param {number} nowMs
   */
  onEndWhileObserving({ takenMs, takenIdleMs }, running, nowMs) {
    const heldMs = nowMs - takenMs
    if (this.heldMs > 0) {
      if (!this.#turns.isIdling(nowMs)) return
      const isOverfull = running > this.#limit.maxConcurrent
      if (isOverfull && this.#clock.idleMs() - takenIdleMs < IDLE_SHARE * heldMs) return
    }
    this.onEnd(heldMs)
  }

  /** Decides about the arrivals of a turn, after its end. */
  #replay() {
    const nowMs = this.#clock.now()
    const earliestMs = nowMs - this.#turns.mostReadyDelayMs(nowMs, this.#clock.idleMs())
    const sinceMs = Math.max(this.#modelMs, earliestMs)
    const arrivals = this.#arrivals
    this.#arrivals = []
    for (const [i, arrival] of arrivals.entries())
      this.#observe(arrival, sinceMs + ((nowMs - sinceMs) * (i + 1)) / arrivals.length)
  }

  /** @param {Arrival} arrival @param {number} atMs */
  #observe(arrival, atMs) {
    this.#modelMs = atMs
    this.#ofGate += this.#gateShare.value
    if (this.#ofGate >= 1) return void this.#ofGate--
    const { boundMs, others } = arrival
    const waitMs = this.#slots.waitMs(atMs, others)
    if (waitMs > 0) {
      this.#countUntil(atMs)
      const isFull = this.#slots.waiting + this.#doomed.length >= this.#limit.maxQueue
      if (isFull || boundMs <= 0) {
        this.#onWithdraw()
        return this.#onWouldReject(arrival)
      }
      if (waitMs > boundMs) return this.#doom(arrival, atMs + boundMs)
    }
    this.#slots.admit(atMs, others, waitMs)
  }

  /** @param {Arrival} arrival @param {number} untilMs */
  #doom(arrival, untilMs) {
    this.#onWithdraw()
    let i = this.#doomed.length
    while (i > 0 && this.#doomed[i - 1].untilMs > untilMs) i--
    this.#doomed.splice(i, 0, { arrival, untilMs })
    this.#scheduleCount()
  }

  /** @param {number} nowMs */
  #countUntil(nowMs) {
    let over = 0
    while (over < this.#doomed.length && this.#doomed[over].untilMs <= nowMs) over++
    if (over === 0) return
    for (const { arrival } of this.#doomed.splice(0, over)) this.#onWouldReject(arrival)
  }

  #scheduleCount() {
    if (this.#isCountScheduled || this.#doomed.length === 0) return
    this.#isCountScheduled = true
    const leftMs = this.#doomed[0].untilMs - this.#clock.now()
    this.#clock.after(Math.max(COUNT_MS, leftMs), () => {
      this.#isCountScheduled = false
      this.#countUntil(this.#clock.now())
      this.#scheduleCount()
    })
  }

  /** Called when another mode begins, or at the close. No request waits in vain any more. */
  restart() {
    this.#doomed = []
    this.#slots.clear()
  }
}

/**
 * The share of the requests that the gate would reject. The gate replays a turn after its end, and cannot say
 * which requests these are. A limit never gets such requests in mode `adaptive`, so its model skips the same
 * share of its own requests.
 */
class GateShare {
  value = 0
  #stats
  #decided = 0
  #wouldReject = 0

  /** @param {{ readonly decided: number, readonly wouldReject: number }} stats of the gate and its limits */
  constructor(stats) {
    this.#stats = stats
  }

  /** Called at the end of a turn. @param {number} ofLimits how many the limits would have rejected so far */
  sample(ofLimits) {
    const { decided } = this.#stats
    const count = decided - this.#decided
    if (count === 0) return
    const wouldReject = this.#stats.wouldReject - ofLimits
    const share = Math.min(1, (wouldReject - this.#wouldReject) / count)
    this.value += ((share - this.value) * count) / (HORIZON + count)
    this.#decided = decided
    this.#wouldReject = wouldReject
  }
}

exports.GateShare = GateShare
exports.ShadowBulkhead = ShadowBulkhead
