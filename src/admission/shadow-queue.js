'use strict'
// Decides for mode `observe` what mode `adaptive` would reject. In `observe` every request runs, so the queue is in the
// kernel. This file models that queue by loop turn, and asks shadow-slots.js for the wait for a slot of `maxConcurrent`:
//   queue = queue + cost of the requests that arrived - time since the last arrivals;   0 once the loop idles
//   and never more than the requests of this turn and those in flight; what arrived and still runs is in both
// The part of the queue beyond the tolerated delay would be rejected, the lowest class first. For the loop it counts once the loop
// has been full for that delay: one that idles sooner has no such queue, whatever a request is taken to cost (docs/decisions/0056).

const { MIN_AHEAD } = require('./limits/queue-delay')
const { ShadowSlots } = require('./shadow-slots')
const { CRITICAL, QUEUED_CLASSES } = require('./verdict')

/** The cost of a request counts as known after this many requests in an idling loop. */
const MIN_SAMPLES = 200
/** A loop that idles more than this share of the tolerated delay has no such queue. A full loop idles a little, in system calls. */
const MOST_IDLE_SHARE = 0.05

/**
 * @typedef {object} Unproven requests of one class that arrived in one turn
 * @property {number} count
 * @property {number} priority
 * @property {number} waitMs how long they would have waited
 * @property {number} toleratedMs
 * @property {number} dueMs when they have waited as long as is tolerated
 * @property {number} maxIdleMs what the loop's idle time may be by then
 */
/** @typedef {{ ms: number, idleMs: number }} Instant */

class ShadowQueue {
  #cause
  #clock
  #limits
  #measurements
  #hooks
  #onWouldReject
  /** The mean cost of a request when the loop last idled. In a full loop much of the work is unfinished. */
  #costMs = 0
  #samples = 0
  /** The modelled wait for the loop. */
  #loopMs = 0
  #slots
  /** Arrivals of the current turn, by class and together. */
  #arrivals = new Float64Array(QUEUED_CLASSES)
  #count = 0
  /** The first arrival of the current turn, and of the last turn that had an arrival. @type {Instant} */
  #first
  #previous
  /** What the model rejects, until it is known whether the loop was full for as long. @type {Unproven[]} */
  #unproven = []

  /**
   * @param {{
   *   cause: InstanceType<typeof import('./cause').Cause>,
   *   clock: typeof import('../clock').systemClock,
   *   limits: InstanceType<typeof import('./limits/limits').Limits>,
   *   measurements: import('./admission').Measurements,
   *   hooks: InstanceType<typeof import('./user-hooks').UserHooks>,
   *   onWouldReject: (reason: string, priority: number) => void,
   * }} parts
   */
  constructor({ cause, clock, limits, measurements, hooks, onWouldReject }) {
    this.#cause = cause
    this.#clock = clock
    this.#limits = limits
    this.#slots = new ShadowSlots(limits)
    this.#measurements = measurements
    this.#hooks = hooks
    this.#onWouldReject = onWouldReject
    this.#first = this.#previous = this.#instant(clock.now())
  }

  // Hot path in mode `observe`: once a request.
  onRequest(request, nowMs) {
    const { priority } = request.admission
    const waitMs = Math.max(this.#loopMs - (nowMs - this.#previous.ms), this.#slotWaitMs(nowMs))
    if (waitMs > 0) {
      const deadlineMs = this.#hooks.deadlineMs(request)
      if (waitMs >= deadlineMs)
        return this.#onWouldReject(this.#cause.because('deadline', waitMs, deadlineMs), priority)
    }
    if (this.#count === 0) this.#first = this.#instant(nowMs)
    this.#arrivals[priority]++
    this.#count++
  }

  /** Another mode has begun: what was observed before is no evidence after it. */
  restart() {
    this.#loopMs = 0
    this.#slots.clear()
    this.#first = this.#previous = this.#instant(this.#clock.now())
    this.#unproven = []
    this.#arrivals.fill(0)
    this.#count = 0
  }

  #instant(nowMs) {
    return {
      ms: nowMs,
      idleMs: this.#clock.idleMs(),
      stallFreeMs: this.#measurements.turns.stallFreeMs(nowMs),
    }
  }

  onTurn(nowMs, idleMs) {
    this.#queueArrivals(nowMs)
    if (this.#unproven.length > 0) this.#countProven(nowMs, idleMs)
  }

  #queueArrivals(nowMs) {
    const { cost, turns } = this.#measurements
    if (turns.isIdling(nowMs) || this.#samples < MIN_SAMPLES) this.#costMs = cost.meanMs
    if (this.#count === 0) return
    if (turns.isIdling(nowMs)) this.#samples += this.#count
    const elapsedMs = this.#first.ms - this.#previous.ms
    const idledMs = this.#first.idleMs - this.#previous.idleMs
    if (this.#loopMs <= idledMs) this.#limits.onModelledEmpty(nowMs)
    const leftMs = Math.max(0, this.#loopMs - idledMs)
    const modelledMs = Math.max(0, leftMs + this.#count * this.#costMs - (elapsedMs - idledMs))
    // The cost is corrected once the loop idles. A few clients can keep it from idling.
    this.#loopMs = Math.min(modelledMs, (this.#count + this.#limits.inFlight) * this.#costMs)
    if (Number.isFinite(this.#limits.maxConcurrent)) this.#takeSlots(nowMs)
    this.#loopMs -= this.#costMs * this.#rejectExcess(nowMs)
    this.#previous = this.#first
    this.#arrivals.fill(0)
    this.#count = 0
  }

  /** Counts what has waited as long as is tolerated, and forgets what a loop that idled has served. */
  #countProven(nowMs, idleMs) {
    this.#unproven = this.#unproven.filter((each) => {
      const { count, priority, waitMs, toleratedMs, dueMs, maxIdleMs } = each
      if (idleMs > maxIdleMs) return false
      if (dueMs > nowMs) return true
      const reason = this.#cause.because('loop', waitMs, toleratedMs)
      for (let i = 0; i < count; i++) this.#onWouldReject(reason, priority)
      return false
    })
  }

  #slotWaitMs(nowMs) {
    return Number.isFinite(this.#limits.maxConcurrent) ? this.#slots.waitMs(nowMs, this.#limits.inFlight) : 0
  }

  /** The higher classes take their slots first. The requests of the turn are in flight already. */
  #takeSlots(nowMs) {
    const { ms } = this.#first
    const others = this.#limits.inFlight - 1
    for (let priority = CRITICAL; priority < QUEUED_CLASSES; priority++) {
      const toleratedMs = this.#limits.toleratedMs(priority, nowMs)
      for (let left = this.#arrivals[priority]; left > 0; left--) {
        const waitMs = this.#slots.waitMs(ms, others)
        if (waitMs <= toleratedMs) this.#slots.admit(ms, others, waitMs)
        else {
          this.#arrivals[priority]--
          this.#onWouldReject(this.#limits.concurrencyReason(), priority)
        }
      }
    }
  }

  /** @returns {number} how many of the turn's arrivals would be rejected for the loop */
  #rejectExcess(nowMs) {
    const eachMs = this.#costMs
    let rejected = 0
    for (let priority = QUEUED_CLASSES - 1; priority >= CRITICAL; priority--) {
      const toleratedMs = Math.max(this.#limits.toleratedMs(priority, nowMs), MIN_AHEAD * eachMs)
      const excess = Math.floor((this.#loopMs - toleratedMs) / eachMs) - rejected
      const count = Math.min(excess, this.#arrivals[priority])
      if (!(count > 0)) continue
      this.#arrivals[priority] -= count
      rejected += count
      this.#unproven.push(this.#unprovenOf(count, priority, toleratedMs))
    }
    return rejected
  }

  /** While the loop was full, they may have arrived at any time since the last arrivals were read. */
  #unprovenOf(count, priority, toleratedMs) {
    const allowedMs = MOST_IDLE_SHARE * toleratedMs
    const wasFull = this.#first.idleMs - this.#previous.idleMs <= allowedMs
    const { idleMs, ms } = wasFull ? this.#previous : this.#first
    return {
      count,
      priority,
      waitMs: this.#loopMs,
      toleratedMs,
      dueMs: ms + toleratedMs,
      maxIdleMs: idleMs + allowedMs,
    }
  }
}

module.exports = { ShadowQueue }
