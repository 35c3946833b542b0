'use strict'
// Exact counters at the 14 bounds OpenTelemetry advises for durations in seconds. A row is one series: 14 bounds,
// the rest above them, and the sum, added in the order of arrival so that it equals what prom-client would show.

const { Rows } = require('./rows')

const BOUNDS_SECONDS = Object.freeze([
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
])
const SUM = BOUNDS_SECONDS.length + 1
const WIDTH = SUM + 1

class Buckets {
  #rows = new Rows(WIDTH)

  add() {
    return this.#rows.add()
  }

  // Hot path: most answers fall into the first buckets, where a linear search beats a binary one.
  /** @returns {number} the bucket it fell into; past the last bound the one after it */
  record(row, seconds) {
    const { values } = this.#rows
    const start = row * WIDTH
    let bucket = 0
    while (bucket < BOUNDS_SECONDS.length && seconds > BOUNDS_SECONDS[bucket]) bucket++
    values[start + bucket]++
    values[start + SUM] += seconds
    return bucket
  }

  /** @param {Float64Array} [spare] */
  copy(spare) {
    return this.#rows.copy(spare)
  }
}

/** How many values one copied row holds. */
function countOf(values, row) {
  let count = 0
  for (let i = row * WIDTH; i < row * WIDTH + SUM; i++) count += values[i]
  return count
}

const sumOf = (values, row) => values[row * WIDTH + SUM]

module.exports = { BOUNDS_SECONDS, WIDTH, Buckets, countOf, sumOf }
