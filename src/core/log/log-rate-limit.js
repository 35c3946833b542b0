'use strict'
// The rate limit of one kind of log line: ten lines at once, then one a second. Each line carries the number
// of lines left out before it.

const BURST_LINES = 10
const LINE_INTERVAL_MS = 1000

class LogRateLimit {
  #lines = BURST_LINES
  #sinceMs
  #unlogged = 0

  /** @param {number} nowMs */
  constructor(nowMs) {
    this.#sinceMs = nowMs
  }

  /**
   * @param {number} nowMs
   * @returns {number} the lines left out since the last one, or -1 if this line is left out too
   */
  take(nowMs) {
    const earned = Math.floor((nowMs - this.#sinceMs) / LINE_INTERVAL_MS)
    if (earned > 0) {
      this.#lines = Math.min(BURST_LINES, this.#lines + earned)
      this.#sinceMs += earned * LINE_INTERVAL_MS
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

exports.LogRateLimit = LogRateLimit
