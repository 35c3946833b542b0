'use strict'
// Finds the longest loop turn since any moment. Keeps only the turns that no later turn exceeded: about ln n of n
// random turns.

/** A shorter turn makes no request slow. Most turns end at this comparison. */
const MIN_MS = 1
const MAX_TURNS = 128

class LongestTurns {
  /** In falling order of length. @type {{ busyMs: number, endMs: number }[]} */
  #turns = []

  // Hot path: once a loop turn.
  /** @param {number} busyMs @param {number} endMs */
  record(busyMs, endMs) {
    if (busyMs < MIN_MS) return
    const turns = this.#turns
    while (turns.length > 0 && turns[turns.length - 1].busyMs <= busyMs) turns.pop()
    if (turns.length === MAX_TURNS) turns.shift()
    turns.push({ busyMs, endMs })
  }

  /** @param {number} sinceMs @returns {number} milliseconds; 0 if every turn that ended since then was short */
  since(sinceMs) {
    return this.#turns.find(({ endMs }) => endMs >= sinceMs)?.busyMs ?? 0
  }
}

exports.LongestTurns = LongestTurns
