'use strict'
// By how much a number of requests took longer than requests of their routes usually do: the mean, in which none counts
// for more than a bound in either direction, since those that stand in line are all late, and a slow report is but one.

/** Standard errors. */
const CHANCE = 3

class Excess {
  count = 0
  #boundMs
  #excessMs = 0
  #usualMs = 0
  #variance = 0

  constructor({ boundMs }) {
    this.#boundMs = boundMs
  }

  note(usual, durationMs) {
    const bound = this.#boundMs
    this.count++
    this.#excessMs += Math.max(-bound, Math.min(bound, durationMs - usual.ms))
    this.#usualMs += usual.ms
    this.#variance += Math.min(bound * bound, usual.variance)
  }

  get ms() {
    return this.#excessMs / this.count
  }

  get usualMs() {
    return this.#usualMs / this.count
  }

  /** Whether it is above that, and not by chance. */
  isAbove(ms) {
    return this.ms > Math.max(ms, (CHANCE * Math.sqrt(this.#variance)) / this.count)
  }

  clear() {
    this.count = this.#excessMs = this.#usualMs = this.#variance = 0
  }
}

module.exports = { Excess }
