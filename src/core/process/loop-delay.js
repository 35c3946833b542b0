'use strict'
// Records how long each loop turn was busy: the time that a request which arrives in the turn may have to
// wait. The values come from the turn clock. A stall of 500 ms is one value of 500 ms, and an idle loop
// records none.

const { RollingHistogram } = require('../histogram/rolling')
const { momentsOf, quantilesOf } = require('../histogram/quantiles')

const RATIOS = [0.5, 0.9, 0.99]
/** A shorter turn makes no request slow, so most turns are not kept. */
const MIN_MS = 1
const MAX_TURNS = 128

/**
 * Tells the longest loop turn since a given moment. Keeps only the turns that no later turn exceeded: about
 * ln n of n random turns.
 */
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

  /**
   * @param {number} sinceMs
   * @returns {number} milliseconds; 0 if every turn that ended since then was short
   */
  since(sinceMs) {
    return this.#turns.find(({ endMs }) => endMs >= sinceMs)?.busyMs ?? 0
  }
}

class LoopDelay {
  #turns
  #longest = new LongestTurns()

  /** @param {number} nowMs */
  constructor(nowMs) {
    this.#turns = new RollingHistogram(nowMs)
  }

  /** @param {number} busyMs @param {number} nowMs */
  record(busyMs, nowMs) {
    this.#turns.record(busyMs, nowMs, false)
    this.#longest.record(busyMs, nowMs)
  }

  /** How long each turn was busy. */
  get turns() {
    return this.#turns
  }

  /** @param {number} sinceMs */
  longestSinceMs(sinceMs) {
    return this.#longest.since(sinceMs)
  }

  /**
   * The delay in seconds over the last 30 to 60 seconds. All figures are 0 if the loop did not turn.
   *
   * @param {number} nowMs
   */
  sample(nowMs) {
    const { histogram } = this.#turns.lastMinute(nowMs)
    const [p50, p90, p99] = quantilesOf(histogram, RATIOS)
    const { mean, stddev } = momentsOf(histogram)
    const hasTurns = histogram.totalCount > 0
    return {
      min: hasTurns ? histogram.minNonZeroValue / 1e6 : 0,
      max: hasTurns ? histogram.maxValue / 1e6 : 0,
      mean: mean / 1e6,
      stddev: stddev / 1e6,
      p50: p50 / 1e6,
      p90: p90 / 1e6,
      p99: p99 / 1e6,
    }
  }
}

exports.LongestTurns = LongestTurns
exports.LoopDelay = LoopDelay
