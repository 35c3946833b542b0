'use strict'
// The longest turn of the loop since any moment: those turns are kept that no later one has outdone, which are few
// (of n turns of random length, ln n).

/** No shorter turn is what made a request slow; most end at this comparison. */
const SHORTEST_MS = 1
const MOST_TURNS = 128

class LongestTurns {
  /** Each shorter than the one before. */
  #turns = []

  // Hot path: once a loop turn.
  record(busyMs, endMs) {
    if (busyMs < SHORTEST_MS) return
    const turns = this.#turns
    while (turns.length > 0 && turns[turns.length - 1].busyMs <= busyMs) turns.pop()
    if (turns.length === MOST_TURNS) turns.shift()
    turns.push({ busyMs, endMs })
  }

  /** @returns {number} milliseconds, 0 where every turn that ended since was short */
  since(sinceMs) {
    return this.#turns.find(({ endMs }) => endMs >= sinceMs)?.busyMs ?? 0
  }
}

module.exports = { LongestTurns }
