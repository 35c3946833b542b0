'use strict'
// Limits how long a request may be queued, by CoDel's rule: a burst may wait long, a standing queue may not.
//   burst                                      rejected after maxDelay on the stall-free clock
//   standing: not empty for an interval        rejected after targetDelay, and on arrival if it would wait that long
// A queue has emptied when no request is queued and the loop idles. For `critical` every queue counts as a burst.

const { CRITICAL } = require('../verdict')

/** Nothing is rejected on arrival behind fewer requests: the time of a few slow ones is little evidence of the load. */
const MIN_AHEAD = 10
/** A request may be dequeued this much too late: the part of a loop turn that the queue may take. */
const GRACE_MS = 5

class QueueDelay {
  #turns
  #maxDelayMs = 0
  #targetDelayMs = 0
  #intervalMs = 0
  /** When the queue was last empty, on the stall-free clock. */
  #emptiedMs

  /** @param {InstanceType<typeof import('../measurements/loop-turns').LoopTurns>} turns @param {number} nowMs */
  constructor(turns, nowMs) {
    this.#turns = turns
    this.#emptiedMs = turns.stallFreeMs(nowMs)
  }

  update({ maxDelay, targetDelay, interval }) {
    this.#maxDelayMs = maxDelay
    this.#targetDelayMs = Math.min(targetDelay, maxDelay)
    this.#intervalMs = interval
  }

  isStanding(priority, nowMs) {
    return priority !== CRITICAL && this.#turns.stallFreeMs(nowMs) - this.#emptiedMs > this.#intervalMs
  }

  toleratedMs(priority, nowMs) {
    return this.isStanding(priority, nowMs) ? this.#targetDelayMs : this.#maxDelayMs
  }

  /** Whether to reject a request on arrival that would wait `waitMs` behind `ahead` others. */
  rejects(waitMs, ahead, priority, nowMs) {
    return waitMs > this.#targetDelayMs && ahead >= MIN_AHEAD && this.isStanding(priority, nowMs)
  }

  /** The first request is queued. If rejections emptied the queue of a full loop, the queue still stands. */
  onFirstQueued(nowMs, wasIdle = this.#turns.beganIdle) {
    if (wasIdle) this.#emptiedMs = this.#turns.stallFreeMs(nowMs)
  }

  onTurn(nowMs, isQueueing) {
    if (!isQueueing && this.#turns.isIdling(nowMs)) this.#emptiedMs = this.#turns.stallFreeMs(nowMs)
  }

  isOverdue({ priority, queuedMs, queuedStallFreeMs }, nowMs) {
    if (this.isStanding(priority, nowMs)) return nowMs - queuedMs > this.#targetDelayMs + GRACE_MS
    return this.#turns.stallFreeMs(nowMs) - queuedStallFreeMs > this.#maxDelayMs + GRACE_MS
  }
}

module.exports = { MIN_AHEAD, QueueDelay }
