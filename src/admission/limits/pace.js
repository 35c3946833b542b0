'use strict'
// Limits how closely requests may start after one another, while the loop is full and shortly after. Requests that start
// together resume together: without a pace, the loop alternates between idle and overloaded (docs/decisions/0002).
//   debt = cost of the started requests - 1.1 x elapsed time, at least 0;   no request starts while the debt is over 20 ms

const SPEED = 1.1
const BURST_MS = 20
/** Bounds the debt where the measured cost is far too high. */
const MAX_DEBT_MS = 100
/** The pace applies until this multiple of the requests' own waiting time has passed since the loop was full. */
const WAITS = 2
const MAX_MS = 1000

class Pace {
  #debtMs = 0
  #debtSinceMs = 0
  #fullMs = Number.NEGATIVE_INFINITY
  #isActive = false

  allows(nowMs) {
    return !this.#isActive || this.#debtAt(nowMs) <= BURST_MS
  }

  #debtAt(nowMs) {
    return Math.max(0, this.#debtMs - (nowMs - this.#debtSinceMs) * SPEED)
  }

  // Hot path: once a request.
  onAdmit(costMs, nowMs) {
    this.#debtMs = Math.min(MAX_DEBT_MS, this.#debtAt(nowMs)) + costMs
    this.#debtSinceMs = nowMs
  }

  onTurn(nowMs, isFull, waitMs) {
    if (isFull) this.#fullMs = nowMs
    this.#isActive = nowMs - this.#fullMs < Math.min(MAX_MS, WAITS * waitMs)
  }
}

module.exports = { Pace }
