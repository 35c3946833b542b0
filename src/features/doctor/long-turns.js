'use strict'
// Sums the loop turns that kept everything else waiting: their number, their length, and how many requests
// ended in them. A turn with fifty requests of 2 ms each is a full loop. A turn of 100 ms for one request is
// a blocked loop.

/** On a full loop a request waits for about two turns. Users notice two turns of this length. */
const LONG_MS = 20
/** Noticed at any load, because a request that comes meanwhile waits for the rest of the turn. */
const VERY_LONG_MS = 50

class LongTurns {
  #long = { count: 0, ms: 0, requests: 0 }
  #veryLong = { count: 0, ms: 0, requests: 0 }
  #endedBefore = 0

  // Hot path: once a loop turn, one comparison.
  /** @param {number} busyMs @param {number} ended how many requests have ended so far, ever */
  onTurn(busyMs, ended) {
    if (busyMs >= LONG_MS) this.#record(busyMs, ended - this.#endedBefore)
    this.#endedBefore = ended
  }

  /** @param {number} busyMs @param {number} requests */
  #record(busyMs, requests) {
    add(this.#long, busyMs, requests)
    if (busyMs >= VERY_LONG_MS) add(this.#veryLong, busyMs, requests)
  }

  /** Sums since the start. */
  sample() {
    return { long: { ...this.#long }, veryLong: { ...this.#veryLong } }
  }
}

/**
 * @param {{ count: number, ms: number, requests: number }} sum
 * @param {number} busyMs
 * @param {number} requests
 */
function add(sum, busyMs, requests) {
  sum.count++
  sum.ms += busyMs
  sum.requests += requests
}

exports.LONG_MS = LONG_MS
exports.LongTurns = LongTurns
exports.VERY_LONG_MS = VERY_LONG_MS
