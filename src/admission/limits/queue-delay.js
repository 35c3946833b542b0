'use strict'
// Limits how long a request may be queued. A burst may wait for maxDelay, an overload for targetDelay:
//   overload   more arrive than start, and the queue has not been empty for 200 ms; through gateways, for a second
//   burst      any other queue; and any queue that the clients' own connections keep short
// For `critical` every queue counts as a burst.

const { CRITICAL } = require('../verdict')

/** Nothing is rejected on arrival behind fewer requests: the time of a few slow ones is little evidence of the load. */
const MIN_AHEAD = 10
/** A request may be dequeued this much too late: the part of a loop turn that the queue may take. */
const GRACE_MS = 5
/** A queue that has not been empty for so long stands. */
const STANDING_MS = Number(process.env.STANDING_MS ?? 300)
/** A gateway sends its next request when one is answered, so that its surplus never shows. Its queue stands in an overload, and drains after a burst. */
const ALLOW = Number(process.env.ALLOW ?? 400)
const OVERLOAD_MS = Number(process.env.OVER_MS ?? 1250)
/** Clients that make no longer queue than this are left alone. */
const BOUND_MS = Number(process.env.BOUND_MS ?? 450)

class QueueDelay {
  #turns
  #surplus
  #clients
  #maxDelayMs = 0
  #targetDelayMs = 0
  /** When the queue was last empty, on the stall-free clock. */
  #emptiedMs
  #isEmpty = true

  constructor({ turns, surplus, clients }, nowMs) {
    this.#turns = turns
    this.#surplus = surplus
    this.#clients = clients
    this.#emptiedMs = turns.stallFreeMs(nowMs)
  }

  update({ maxDelay, targetDelay }) {
    this.#maxDelayMs = maxDelay
    this.#targetDelayMs = Math.min(targetDelay, maxDelay)
  }

  /** @param {number} eachMs how long each queued request takes */
  standsMs(nowMs) { return this.#turns.stallFreeMs(nowMs) - this.#emptiedMs }
  isOverload(eachMs, nowMs) {
    if (this.#clients.most * eachMs <= BOUND_MS) return false
    return this.#surplus.at(nowMs) > ALLOW
  }
  isEmpty(nowMs) { return this.#isEmpty }

  get #targetMs() {
    const f = Number(process.env.LONG ?? 1.5)
    return Math.max(this.#targetDelayMs, f * this.#turns.longestMs)
  }

  toleratedMs(priority, eachMs, nowMs) {
    return priority !== CRITICAL && this.isOverload(eachMs, nowMs) ? this.#targetMs : this.#maxDelayMs
  }

  /** Whether to reject a request on arrival that would wait `waitMs` behind `ahead` others. */
  rejects(waitMs, ahead, priority, eachMs, nowMs) {
    return ahead >= MIN_AHEAD && waitMs > this.#targetMs && priority !== CRITICAL && this.isOverload(eachMs, nowMs)
  }

  /** The first request is queued. If rejections emptied the queue of a full loop, the queue still stands. */
  onFirstQueued(nowMs, wasIdle = this.#turns.beganIdle) {
    if (wasIdle) this.#emptiedMs = this.#turns.stallFreeMs(nowMs)
  }

  onTurn(nowMs, isQueueing) {
    this.#isEmpty = !isQueueing && this.#turns.isIdling(nowMs)
    if (this.#isEmpty) this.#emptiedMs = this.#turns.stallFreeMs(nowMs)
  }

  isOverdue({ priority, queuedMs, queuedStallFreeMs }, isOverload, nowMs) {
    if (isOverload && priority !== CRITICAL) return (process.env.SF ? this.#turns.stallFreeMs(nowMs) - queuedStallFreeMs : nowMs - queuedMs) > this.#targetMs + GRACE_MS
    return this.#turns.stallFreeMs(nowMs) - queuedStallFreeMs > this.#maxDelayMs + GRACE_MS
  }
}

module.exports = { MIN_AHEAD, QueueDelay }
