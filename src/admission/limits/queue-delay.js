'use strict'
// Limits how long a request may be queued: in an overload for `targetDelay`, in a burst for `maxDelay` on the stall-free clock.
// The target is not below 1.5 times the long turn that is usual here: a request that waits for one of those says little about the
// load. For `critical` every queue counts as a burst.

const { CRITICAL } = require('../verdict')

/** Nothing is rejected on arrival behind fewer requests: the time of a few slow ones is little evidence of the load. */
const MIN_AHEAD = 10
/** A request may be dequeued this much too late: the part of a loop turn that the queue may take. */
const GRACE_MS = 5
const LONG_TURNS = 1.5

class QueueDelay {
  maxDelayMs = 0
  #targetDelayMs = 0
  #turns
  #overload

  /**
   * @param {{ turns: InstanceType<typeof import('../measurements/loop-turns').LoopTurns>,
   *   overload: InstanceType<typeof import('./overload').Overload> }} parts
   */
  constructor({ turns, overload }) {
    this.#turns = turns
    this.#overload = overload
  }

  update({ maxDelay, targetDelay }) {
    this.maxDelayMs = maxDelay
    this.#targetDelayMs = Math.min(targetDelay, maxDelay)
  }

  get targetMs() {
    return Math.max(this.#targetDelayMs, LONG_TURNS * this.#turns.usualLongMs)
  }

  /** @param {number} eachMs how long each queued request takes */
  toleratedMs(priority, eachMs, nowMs) {
    return priority !== CRITICAL && this.#overload.isOn(eachMs, nowMs) ? this.targetMs : this.maxDelayMs
  }

  /** Whether to reject a request on arrival that would wait `waitMs` behind `ahead` others. */
  rejects(waitMs, ahead, priority, eachMs, nowMs) {
    if (ahead < MIN_AHEAD || priority === CRITICAL || waitMs <= this.targetMs) return false
    return this.#overload.isOn(eachMs, nowMs)
  }

  isOverdue(record, isOverload, nowMs) {
    return this.waitedMs(record, isOverload, nowMs) > this.boundMs(record, isOverload) + GRACE_MS
  }

  /** How long a queued request has waited. In a burst, stalls do not count. */
  waitedMs({ priority, queuedMs, queuedStallFreeMs }, isOverload, nowMs) {
    if (isOverload && priority !== CRITICAL) return nowMs - queuedMs
    return this.#turns.stallFreeMs(nowMs) - queuedStallFreeMs
  }

  /** How long a queued request may wait. */
  boundMs({ priority }, isOverload) {
    return isOverload && priority !== CRITICAL ? this.targetMs : this.maxDelayMs
  }
}

module.exports = { MIN_AHEAD, QueueDelay }
