'use strict'
// How close behind each other requests may start while the loop has no room, or had none a moment ago. What starts together comes
// back together from what it awaits: without a pace the loop idles and is swamped in turn (docs/decisions/0002).
//   debt = cost of what started - 1.1 x time gone by, never below 0;   nothing starts while it is over 20 ms

const SPEED = 1.1
const BURST_MS = 20
/** The debt that a cost which is far too high can run up. */
const MOST_DEBT_MS = 100
/** A pace is kept for so many times the time that requests wait for others after the loop had no room. */
const WAITS = 2
const MOST_MS = 1000

class Pace {
  #debtMs = 0
  #debtSinceMs = 0
  #shortMs = Number.NEGATIVE_INFINITY
  #isKept = false

  allows(nowMs) {
    return !this.#isKept || this.#debtAt(nowMs) <= BURST_MS
  }

  #debtAt(nowMs) {
    return Math.max(0, this.#debtMs - (nowMs - this.#debtSinceMs) * SPEED)
  }

  // Hot path: once a request.
  onAdmit(costMs, nowMs) {
    this.#debtMs = Math.min(MOST_DEBT_MS, this.#debtAt(nowMs)) + costMs
    this.#debtSinceMs = nowMs
  }

  onTurn(nowMs, isShort, waitMs) {
    if (isShort) this.#shortMs = nowMs
    this.#isKept = nowMs - this.#shortMs < Math.min(MOST_MS, WAITS * waitMs)
  }
}

module.exports = { Pace }
