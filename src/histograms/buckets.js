'use strict'
// Exact counters at given bounds in seconds. A row is one series: a count for each bound, one for what is above them all,
// and the sum, added in the order of arrival so that it equals what prom-client would show.

const { Rows } = require('./rows')

/** @typedef {{ seconds: readonly number[], width: number }} Bounds how many columns a row has is its width */

/** @param {readonly number[]} seconds rising @returns {Bounds} */
const boundsOf = (seconds) =>
  Object.freeze({ seconds: Object.freeze([...seconds]), width: seconds.length + 2 })

const ADVISED = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Those that OpenTelemetry advises for durations. */
const ADVISED_BOUNDS = boundsOf(ADVISED)
/** With these two below them: without, any quantile of a route that answers in a millisecond reads 5 ms. */
const DURATION_BOUNDS = boundsOf([0.001, 0.0025, ...ADVISED])

class Buckets {
  #rows
  #seconds
  #sum
  #width

  /** @param {Bounds} bounds */
  constructor({ seconds, width }) {
    this.#rows = new Rows(width)
    this.#seconds = seconds
    this.#width = width
    this.#sum = width - 1
  }

  add() {
    return this.#rows.add()
  }

  // Hot path: most answers fall into the first buckets, where a linear search beats a binary one.
  /** @returns {number} the bucket it fell into; past the last bound the one after it */
  record(row, seconds) {
    const { values } = this.#rows
    const bounds = this.#seconds
    const start = row * this.#width
    let bucket = 0
    while (bucket < bounds.length && seconds > bounds[bucket]) bucket++
    values[start + bucket]++
    values[start + this.#sum] += seconds
    return bucket
  }

  /** @param {Float64Array} [spare] */
  copy(spare) {
    return this.#rows.copy(spare)
  }
}

/** How many values one copied row holds, given the bounds of its table. */
function countOf(values, row, { width }) {
  let count = 0
  for (let i = row * width; i < (row + 1) * width - 1; i++) count += values[i]
  return count
}

const sumOf = (values, row, { width }) => values[(row + 1) * width - 1]

module.exports = { ADVISED_BOUNDS, DURATION_BOUNDS, Buckets, boundsOf, countOf, sumOf }
