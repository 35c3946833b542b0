'use strict'
// The turn of the loop that is running, and what it may still take on. A turn has 5 ms for requests that start: then the
// others wait, so that polling and accepting go on. And once it is 10 ms old, no slot that becomes free is filled in it:
// timers that fall due while it works run in it too, and so it would last until the queue is empty (20 ms awaited and
// 2 ms burnt, ten times the capacity: p99 152 ms, with this bound 119).

const BUDGET_MS = 5
const OLD_MS = 10

class Turn {
  #clock
  #isOpen = false
  /** When the first request came in it, or the queue's turn. */
  #sinceMs = 0
  /** What the queue's own requests took. */
  #ranMs = 0
  #closedMs = 0
  #closedIdleMs = 0

  constructor(clock) {
    this.#clock = clock
  }

  // Hot path: once a request.
  open(nowMs) {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#sinceMs = nowMs
  }

  /** The queue is worked off now. */
  serve(nowMs) {
    this.#isOpen = true
    this.#sinceMs = nowMs
    this.#ranMs = 0
  }

  close(nowMs, idleMs) {
    this.#isOpen = false
    this.#closedMs = nowMs
    this.#closedIdleMs = idleMs
  }

  ageMs(nowMs) {
    return nowMs - this.#sinceMs
  }

  isYoung(nowMs) {
    return nowMs - this.#sinceMs < BUDGET_MS
  }

  noteRun(ranMs) {
    this.#ranMs += ranMs
  }

  get hasBudget() {
    return this.#ranMs < BUDGET_MS
  }

  /** Since the one before ended, without what the loop slept. */
  isOld(nowMs) {
    return nowMs - this.#closedMs - (this.#clock.idleMs() - this.#closedIdleMs) >= OLD_MS
  }
}

module.exports = { Turn }
