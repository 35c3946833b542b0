'use strict'
// How many lines of one kind a log takes: ten at once, then one a second, which says how many it stands for. Under overload a
// line for each would be the overload.

const BURST_LINES = 10
const LINE_EVERY_MS = 1000

class LineBudget {
  #lines = BURST_LINES
  #sinceMs
  #unlogged = 0

  constructor(nowMs) {
    this.#sinceMs = nowMs
  }

  /** @returns {number} how many have gone unlogged since the last line, or -1 for one that goes unlogged too */
  spend(nowMs) {
    const earned = Math.floor((nowMs - this.#sinceMs) / LINE_EVERY_MS)
    if (earned > 0) {
      this.#lines = Math.min(BURST_LINES, this.#lines + earned)
      this.#sinceMs += earned * LINE_EVERY_MS
    }
    if (this.#lines === 0) {
      this.#unlogged++
      return -1
    }
    this.#lines--
    const unlogged = this.#unlogged
    this.#unlogged = 0
    return unlogged
  }
}

module.exports = { LineBudget }
