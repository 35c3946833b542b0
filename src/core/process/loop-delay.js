'use strict'
// Records how long each loop turn was busy: the time that a request which arrives in the turn may have to wait.
// The values come from the turn clock, so that a stall of 500 ms is one value of 500 ms, and an idle loop records none.

const { RollingHistogram } = require('../histogram/rolling')
const { momentsOf, quantilesOf } = require('../histogram/quantiles')
const { LongestTurns } = require('./longest-turns')

const RATIOS = [0.5, 0.9, 0.99]

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

  /** Over the last half minute to minute, in seconds; zeros if the loop did not turn. @param {number} nowMs */
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

exports.LoopDelay = LoopDelay
