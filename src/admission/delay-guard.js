'use strict'
// How long may a request wait? CoDel's rule: a burst that drains again may wait long, a queue that stands may not.
//
//   tolerated = maxDelay     while the queue has been empty within the last interval
//             = targetDelay  once it has stood longer
//   reject    when  work ahead x cost per request + what the kernel may have held  >  tolerated
//
// It rejects on arrival what would come too late, and in the queue what has waited for as long after all. (Twice as long
// there: a step to ten times the load took 213 ms instead of 208, and no more were served.) The loop is never idled by it,
// so as much is served as the process can, and recovery is immediate: the rule simply no longer holds.
//
// What the kernel may have held counts up to a quarter of targetDelay. In simulated time such a step takes 198 ms with it and
// 208 without, and at ten times the load the p99 of those let in is 39 ms instead of 49 (cpu), 93 instead of 102 (await), and
// 132 instead of 143 where one in a hundred blocks for 100 ms, with as many served. Up to half of it the last would be 124, up
// to all of it 109, but then whoever comes to a backend that has stood still for two seconds would be turned away.
//
// A queue that is empty because all in it had become too old has not drained: the next stand in the kernel. That makes it a
// burst again once, within two intervals after the loop has idled, and then not until it has again or, where it never does,
// until none has become too old for an interval. (Else all were turned away every half second, and the next let wait for
// maxDelay: in simulated time, at five times the capacity where a rejection costs 0.25 ms, p99 245 ms instead of 55; where one
// in a hundred blocks for 100 ms, at ten times 279 instead of 132, and 0.85 served instead of 0.88. Were it not so even once,
// 4.5 % would be turned away at 0.8 of it instead of 3.7. Could it be at any time, a queue of twenty that stands for minutes
// would by chance be emptied once and then let wait for maxDelay for half a second: over TLS, at 1.2 times the capacity, in
// each of five runs of three seconds.)
//
// The interval is half a second, and not CoDel's tenth: where one request in a hundred blocks for 100 ms, a queue stands for
// 300 now and then without any overload (at 0.8 of the capacity 0.928 served with 300, 0.946 with 500; past it the same).

const { Patience } = require('./patience')

/** Of maxDelay, what a turn counts for at most: one alone makes nobody too old. */
const TURN_SHARE = 0.75
/** Of targetDelay, what the kernel's holding counts for at most. */
const HELD_SHARE = 0.25
/** For so many intervals after the loop has idled may a queue that did not drain count as one that did. */
const EXCUSED_INTERVALS = 2

class DelayGuard {
  #maxDelayMs
  #targetDelayMs
  #intervalMs
  #patience
  #emptyMs
  #expiredMs = Number.NEGATIVE_INFINITY
  #excusedMs = Number.NEGATIVE_INFINITY
  #idledMs = Number.NEGATIVE_INFINITY

  constructor(nowMs) {
    this.#patience = new Patience(nowMs)
    this.#emptyMs = nowMs
  }

  /** @param {{ maxDelay: number, targetDelay: number, interval: number }} options */
  update({ maxDelay, targetDelay, interval }) {
    this.#maxDelayMs = maxDelay
    // A queue that stands is never let wait longer than a burst.
    this.#targetDelayMs = Math.min(targetDelay, maxDelay)
    this.#intervalMs = interval
    this.#patience.mostMs = maxDelay * TURN_SHARE
  }

  /** @param {number} idledMs when the loop last idled */
  noteTurn(nowMs, idledMs) {
    this.#patience.noteTurn(nowMs)
    this.#idledMs = idledMs
  }

  /** The time to which waiting is counted. */
  patienceAt(nowMs) {
    return this.#patience.at(nowMs)
  }

  /** The time from which it is counted: who comes now may have been held by the kernel already. */
  waitsSince(nowMs, heldMs) {
    return this.#patience.at(nowMs) - Math.min(heldMs, this.#targetDelayMs * HELD_SHARE)
  }

  /** One had waited too long. */
  noteExpired(nowMs) {
    this.#expiredMs = nowMs
  }

  // Hot path: once a request.
  /** The queue was seen empty. */
  noteEmpty(nowMs) {
    if (this.#expiredMs > Math.max(this.#idledMs, nowMs - this.#intervalMs)) {
      const isLate = nowMs - this.#idledMs > EXCUSED_INTERVALS * this.#intervalMs
      if (isLate || this.#excusedMs > this.#idledMs) return
      this.#excusedMs = nowMs
    }
    this.#emptyMs = this.#patience.at(nowMs)
  }

  toleratedMs(nowMs) {
    return this.isStanding(nowMs) ? this.#targetDelayMs : this.#maxDelayMs
  }

  isStanding(nowMs) {
    return this.#patience.at(nowMs) - this.#emptyMs > this.#intervalMs
  }
}

module.exports = { DelayGuard }
