'use strict'
// How long the loop was away from its events, turn by turn: what a request that arrives in a turn may have to wait.
// From the turn clock, so that a 500 ms stall is one value of 500 ms and an idle loop records nothing.

const { RollingHistogram } = require('../histograms/rolling')
const { momentsOf, quantilesOf } = require('../histograms/quantiles')
const { LongestTurns } = require('./longest-turns')

const RATIOS = [0.5, 0.9, 0.99]

class LoopDelay {
  #turns
  #longest = new LongestTurns()

  constructor(nowMs) {
    this.#turns = new RollingHistogram(nowMs)
  }

  record(busyMs, nowMs) {
    this.#turns.record(busyMs, nowMs, false)
    this.#longest.record(busyMs, nowMs)
  }

  longestSinceMs(sinceMs) {
    return this.#longest.since(sinceMs)
  }

  /** Over the last half minute to minute, in seconds; zeros where no turn was taken. */
  sample(nowMs) {
    const { histogram } = this.#turns.lastMinute(nowMs)
    const [p50, p90, p99] = quantilesOf(histogram, RATIOS)
    const { mean, stddev } = momentsOf(histogram)
    const isAny = histogram.totalCount > 0
    return {
      min: isAny ? histogram.minNonZeroValue / 1e6 : 0,
      max: isAny ? histogram.maxValue / 1e6 : 0,
      mean: mean / 1e6,
      stddev: stddev / 1e6,
      p50: p50 / 1e6,
      p90: p90 / 1e6,
      p99: p99 / 1e6,
    }
  }
}

module.exports = { LoopDelay }
