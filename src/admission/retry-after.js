'use strict'
// Computes `Retry-After`: a random whole number of seconds, because a constant would bring all clients back together.
// The spread grows with the share of requests rejected lately:
//   seconds = least + floor(random x (1 + 9 x rejected share))        1 at first, 1 to 10 at worst

const SPREAD = 9
const SMOOTHING = 0.01
/** A smaller share than this changes no answer that a client could tell. */
const NEGLIGIBLE = 1e-4

class RetryAfter {
  /** Whether the spread is wider than at first: each admitted request then narrows it. */
  isSpread = false
  #leastSeconds
  #random
  #rejectedShare = 0

  constructor(leastSeconds, random = Math.random) {
    this.#leastSeconds = leastSeconds
    this.#random = random
  }

  onAdmit() {
    this.#rejectedShare -= this.#rejectedShare * SMOOTHING
    if (this.#rejectedShare > NEGLIGIBLE) return
    this.#rejectedShare = 0
    this.isSpread = false
  }

  onReject() {
    this.#rejectedShare += (1 - this.#rejectedShare) * SMOOTHING
    this.isSpread = true
  }

  seconds() {
    return this.#leastSeconds + Math.floor(this.#random() * (1 + SPREAD * this.#rejectedShare))
  }
}

module.exports = { RetryAfter }
