'use strict'
// All limits of one instance. Queries change nothing but `cause`, where a query that returns a reason writes
// its figures. `current(nowMs)` returns how many requests may be in flight, and which limit says so. Events
// change the limits: their names begin with `on`.
//
// Features add limits of their own, such as the connections of a pool: `FeatureLimits`. Such a limit is not
// told when a request ends: its feature has the hook `onEnd` for that (core/features.js).

const { MAX_OF_MEAN, SMOOTHING } = require('../measurements/request-cost')
const { LoopShare } = require('./loop-share')
const { Overload, QueueDelay } = require('./queue-delay')

/**
 * @import { ShedReason } from '../../../../index.js'
 * @import { Clock } from '../../clock'
 * @import { RequestRecord, Ticket } from '../../request/request-record'
 * @import { QueueEntry } from '../queue'
 * @import { ShedOptions } from '../admission'
 * @import { LoopTurns } from '../measurements/loop-turns'
 * @import { RequestCost } from '../measurements/request-cost'
 * @import { Cause } from '../decision'
 *
 * @typedef {object} FeatureLimit
 * @property {boolean} mayReject whether the limit may reject a request now. If not, the gate asks nothing
 * @property {boolean} [callsUser] whether the limit calls a function of the user. Such a function expects the
 *   framework's request, so the framework's middleware then asks the gate
 * @property {(request: RequestRecord, nowMs: number, isObserved: boolean) => ShedReason | undefined}
 *   reasonFor called on arrival
 * @property {(request: RequestRecord, nowMs: number) => ShedReason | undefined} reasonAfterQueue called
 *   before a queued request runs
 * @property {(request: RequestRecord, nowMs: number) => number} [maxWaitMs] returns how long the request
 *   may be queued
 * @property {(request: RequestRecord, nowMs: number) => void} [onAdmit] called when the gate runs a request,
 *   on arrival or from the queue
 * @property {(request: RequestRecord) => void} [onReject] called when a request is rejected, for whatever
 *   reason
 */

/**
 * In `slotHeldMs`, a duration counts as at most this multiple of the mean. The multiple is larger than
 * MAX_OF_MEAN, because up to a tenth of the requests may hold their slots for long.
 */
const SLOT_MAX_OF_MEAN = 100

/**
 * The limits of features as one. If several have a reason to reject a request, the reason of the first is
 * used. Without a limit, it may reject nothing.
 *
 * @implements {FeatureLimit}
 */
class FeatureLimits {
  /** @type {FeatureLimit[]} */
  #all = []
  callsUser = false

  /** @param {FeatureLimit} limit */
  add(limit) {
    this.#all.push(limit)
    if (limit.callsUser) this.callsUser = true
  }

  // Hot path: once a request.
  get mayReject() {
    for (const each of this.#all) if (each.mayReject) return true
    return false
  }

  /** @param {RequestRecord} request @param {number} nowMs @param {boolean} isObserved */
  reasonFor(request, nowMs, isObserved) {
    for (const each of this.#all) {
      const reason = each.mayReject ? each.reasonFor(request, nowMs, isObserved) : undefined
      if (reason !== undefined) return reason
    }
    return undefined
  }

  /** @param {RequestRecord} request @param {number} nowMs */
  reasonAfterQueue(request, nowMs) {
    for (const each of this.#all) {
      const reason = each.mayReject ? each.reasonAfterQueue(request, nowMs) : undefined
      if (reason !== undefined) return reason
    }
    return undefined
  }

  /** @param {RequestRecord} request @param {number} nowMs */
  maxWaitMs(request, nowMs) {
    let leastMs = Number.POSITIVE_INFINITY
    for (const each of this.#all)
      if (each.mayReject && each.maxWaitMs !== undefined)
        leastMs = Math.min(leastMs, each.maxWaitMs(request, nowMs))
    return leastMs
  }

  // Hot path: once a request.
  /** @param {RequestRecord} request @param {number} nowMs */
  onAdmit(request, nowMs) {
    for (const each of this.#all) each.onAdmit?.(request, nowMs)
  }

  /** @param {RequestRecord} request */
  onReject(request) {
    for (const each of this.#all) each.onReject?.(request)
  }
}

class Limits {
  loop
  delay
  /** The limits of features. */
  ofFeatures = new FeatureLimits()
  #cause
  #cost
  #turns
  #overload
  maxConcurrent = Number.POSITIVE_INFINITY
  #durationMs = 0
  /**
   * Like #durationMs, but long durations count for more. From this figure alone, mode `observe` knows how
   * long slots are held.
   */
  slotHeldMs = 0
  #wasHeldBack = false
  /** How many requests were rejected in this loop turn although they had been admitted. */
  #withdrawn = 0
  /** @type {ShedOptions['mode'] | undefined} */
  #mode
  /** Modes `observe` and `off` enforce no limit. */
  areEnforced = true

  /**
   * @param {{
   *   cause: Cause,
   *   clock: Clock,
   *   cost: RequestCost,
   *   turns: LoopTurns,
   *   clients: import('./queue-delay').BoundedClients,
   * }} deps
   */
  constructor({ cause, clock, cost, turns, clients }) {
    this.#cause = cause
    this.#cost = cost
    this.#turns = turns
    this.loop = new LoopShare({ clock, cost, turns })
    this.#overload = new Overload(clients, clock.now(), clock.idleMs())
    this.delay = new QueueDelay({ turns, overload: this.#overload })
  }

  /** @param {ShedOptions} options */
  update(options) {
    this.maxConcurrent = options.maxConcurrent ?? Number.POSITIVE_INFINITY
    this.#mode = options.mode
    this.areEnforced = options.mode !== 'observe' && options.mode !== 'off'
    this.delay.update(options)
  }

  /**
   * @param {number} nowMs
   * @returns {{ limit: number, by: 'loop' | 'concurrency' | undefined }}
   */
  current(nowMs) {
    const ofLoop = this.#turns.isIdling(nowMs) ? Number.POSITIVE_INFINITY : this.loop.limit
    const limit = Math.min(ofLoop, this.maxConcurrent)
    const by = this.maxConcurrent <= ofLoop ? 'concurrency' : 'loop'
    return { limit, by: limit === Number.POSITIVE_INFINITY ? undefined : by }
  }

  /**
   * Mode `adaptive` enforces the measured limit, `threshold` only `maxConcurrent`; `observe` and `off`
   * enforce none.
   *
   * @param {number} nowMs
   * @returns {{ limit: number, limitedBy: 'loop' | 'concurrency' | undefined }}
   */
  enforced(nowMs) {
    if (this.#mode === 'adaptive') {
      const { limit, by } = this.current(nowMs)
      return { limit, limitedBy: by }
    }
    const limit = this.#mode === 'threshold' ? this.maxConcurrent : Number.POSITIVE_INFINITY
    return { limit, limitedBy: limit === Number.POSITIVE_INFINITY ? undefined : 'concurrency' }
  }

  get inFlight() {
    return this.loop.inFlight
  }

  get isAtMaxConcurrent() {
    return this.loop.inFlight >= this.maxConcurrent
  }

  // Hot path, once a request (bench/overhead).
  /** Whether every limit allows one more request in flight. @param {number} nowMs */
  hasFreeSlot(nowMs) {
    if (!this.areEnforced) return true
    return this.loop.inFlight < this.maxConcurrent && this.loop.hasFreeShare(nowMs)
  }

  /** The resource that is short if no slot is free. */
  get shortResource() {
    return this.isAtMaxConcurrent ? 'concurrency' : 'loop'
  }

  /** The mean time from one end of a request to the next, while `maxConcurrent` are in flight. */
  get slotMs() {
    return this.#durationMs / this.maxConcurrent
  }

  /** The mean time until one more queued request can start. */
  get msPerStart() {
    return this.isAtMaxConcurrent ? this.slotMs : Math.max(this.#cost.meanMs, this.#cost.ms)
  }

  /** @param {number} priority @param {number} nowMs */
  toleratedMs(priority, nowMs) {
    return this.delay.toleratedMs(priority, this.msPerStart, nowMs)
  }

  /**
   * Whether a request may be rejected for the loop: the loop does not idle, and the cost of a request is
   * known.
   *
   * @param {number} nowMs
   */
  isLoopShort(nowMs) {
    return this.#cost.isKnown && !this.#turns.isIdling(nowMs)
  }

  get areClientsBounded() {
    return this.#overload.isBounded(this.msPerStart)
  }

  /** @param {number} nowMs */
  isOverload(nowMs) {
    return this.#overload.isOn(this.msPerStart, nowMs)
  }

  /** How long a request will be queued behind `ahead` others. @param {number} ahead */
  expectedWaitMs(ahead) {
    if (this.isAtMaxConcurrent) return ahead * this.slotMs
    return this.loop.waitMs(ahead)
  }

  /**
   * The reason to reject a request on arrival because it would be queued for too long; undefined if it may be
   * queued.
   * @param {number} expectedWaitMs @param {number} ahead @param {number} priority @param {number} nowMs
   */
  reasonFor(expectedWaitMs, ahead, priority, nowMs) {
    if (this.isAtMaxConcurrent)
      return expectedWaitMs > this.toleratedMs(priority, nowMs) ? this.concurrencyReason() : undefined
    const isTooLong = this.delay.rejects(expectedWaitMs, ahead, priority, this.msPerStart, nowMs)
    if (!isTooLong || !this.isLoopShort(nowMs)) return undefined
    return this.#cause.because('loop', expectedWaitMs, this.toleratedMs(priority, nowMs))
  }

  /**
   * The reason to reject a queued request that has waited too long.
   *
   * @param {QueueEntry} entry
   * @param {boolean} isOverload
   * @param {number} nowMs
   */
  overdueReason(entry, isOverload, nowMs) {
    if (this.isAtMaxConcurrent) return this.concurrencyReason()
    const waitedMs = this.delay.waitedMs(entry, isOverload, nowMs)
    return this.#cause.because('loop', waitedMs, this.delay.boundMs(entry.priority, isOverload))
  }

  concurrencyReason() {
    return this.#cause.because('concurrency', this.loop.inFlight, this.maxConcurrent)
  }

  /**
   * Called when a request enters an empty queue. The queue counts as having been empty only if the loop was
   * idle. In a full loop, rejections have emptied the queue, and not work.
   *
   * @param {number} nowMs
   */
  onFirstQueued(nowMs) {
    if (this.#turns.beganIdle) this.#overload.onEmpty(nowMs)
  }

  /** @param {Ticket} ticket @param {number} nowMs @param {number} idleMs */
  onAdmit(ticket, nowMs, idleMs) {
    this.loop.onAdmit(ticket, nowMs, idleMs)
  }

  /** @param {Ticket} ticket @param {number} nowMs @param {number} idleMs */
  onEnd(ticket, nowMs, idleMs) {
    const tookMs = nowMs - ticket.decidedMs
    const maxMs = MAX_OF_MEAN * Math.max(1, this.#durationMs)
    this.#durationMs += (Math.min(tookMs, maxMs) - this.#durationMs) * SMOOTHING
    const slotMaxMs = SLOT_MAX_OF_MEAN * Math.max(1, this.slotHeldMs)
    this.slotHeldMs += (Math.min(tookMs, slotMaxMs) - this.slotHeldMs) * SMOOTHING
    this.loop.onEnd(ticket, nowMs, idleMs)
  }

  /** @param {Ticket} ticket that was admitted @param {number} nowMs */
  onPause(ticket, nowMs) {
    if (ticket.isInFlight) this.loop.onPause(ticket, nowMs)
  }

  /** @param {Ticket} ticket that was paused @param {number} nowMs @param {number} idleMs */
  onResume(ticket, nowMs, idleMs) {
    if (ticket.isInFlight) this.loop.onResume(ticket, nowMs, idleMs)
  }

  /** @param {Ticket} ticket that was admitted, and has not run @param {number} nowMs */
  onWithdraw(ticket, nowMs) {
    this.#withdrawn++
    this.loop.onWithdraw(ticket, nowMs)
  }

  /**
   * A request was queued for lack of a slot, or rejected. Only the reason `loop` is evidence about the loop.
   *
   * @param {ShedReason} reason
   */
  onHeldBack(reason) {
    if (reason === 'loop') this.#wasHeldBack = true
  }

  /**
   * @param {number} nowMs
   * @param {number} idleMs
   * @param {number} arrivedInTurn @param {number} ended
   * @param {boolean} isQueueing
   */
  onTurn(nowMs, idleMs, arrivedInTurn, ended, isQueueing) {
    // Requests that were withdrawn will not end, so they do not count as arrivals.
    const arrived = Math.max(0, arrivedInTurn - this.#withdrawn)
    this.#withdrawn = 0
    this.loop.onTurn(nowMs, idleMs, this.#wasHeldBack || (isQueueing && !this.isAtMaxConcurrent))
    this.#wasHeldBack = false
    const isEmpty = !isQueueing && this.#turns.isIdling(nowMs)
    const isSlotShort = this.isAtMaxConcurrent
    const idledMs = idleMs - this.#turns.sleptMs
    this.#overload.onTurn({
      nowMs,
      idleMs: idledMs,
      arrived,
      ended,
      usualMs: this.msPerStart,
      isEmpty,
      isSlotShort,
    })
  }
}

exports.FeatureLimits = FeatureLimits
exports.Limits = Limits
