'use strict'
// Time as it counts for those who wait: as the clock tells it, but of one turn of the loop only so much. A handler that
// blocks for a second, a long collection or a machine that stands still makes all who wait a second older in one turn,
// and that alone is no overload: they are served after it, where by the clock the whole queue would be too old.

class Patience {
  /** What a turn counts for at most. */
  mostMs = 0
  #turnedMs
  #uncountedMs = 0

  constructor(nowMs) {
    this.#turnedMs = nowMs
  }

  // Hot path: once a request.
  at(nowMs) {
    return nowMs - this.#uncountedMs - this.#overMs(nowMs)
  }

  noteTurn(nowMs) {
    this.#uncountedMs += this.#overMs(nowMs)
    this.#turnedMs = nowMs
  }

  #overMs(nowMs) {
    return Math.max(0, nowMs - this.#turnedMs - this.mostMs)
  }
}

module.exports = { Patience }
