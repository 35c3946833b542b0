'use strict'
// Counts values at given bounds, in seconds or bytes. A row is one series: a count for each bound, a count
// above the last bound, and the sum. Values are added to the sum in the order of arrival, as in prom-client.

const { Rows } = require('./rows')

/** @typedef {{ seconds: readonly number[], width: number }} Bounds `width`: the number of columns in a row */

/** @param {readonly number[]} seconds in rising order @returns {Bounds} */
const boundsOf = (seconds) =>
  Object.freeze({ seconds: Object.freeze([...seconds]), width: seconds.length + 2 })

/** The bounds that OpenTelemetry advises for durations of requests and of garbage collections. */
const ADVISED_BOUNDS = boundsOf([0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10])

/**
 * The bounds for sizes of bodies, in bytes: from 1 KB to 64 MB, each four times the previous one.
 * OpenTelemetry advises none.
 */
const SIZE_BOUNDS = boundsOf(Array.from({ length: 9 }, (_, i) => 1024 * 4 ** i))

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

  /** @returns {number} */
  add() {
    return this.#rows.add()
  }

  // Hot path: most values fall into the first buckets, where a linear search beats a binary one.
  /**
   * @param {number} row
   * @param {number} seconds
   * @returns {number} the bucket of the value; above the last bound, the number of bounds
   */
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

  /** Resets the row, for another series. @param {number} row */
  clear(row) {
    this.#rows.values.fill(0, row * this.#width, (row + 1) * this.#width)
  }

  /** @param {Float64Array} [spare] */
  copy(spare) {
    return this.#rows.copy(spare)
  }
}

/**
 * The number of values in one row of a copy, given the bounds of its table.
 *
 * @param {Float64Array} values
 * @param {number} row
 * @param {Bounds} bounds
 */
function countOf(values, row, { width }) {
  let count = 0
  for (let i = row * width; i < (row + 1) * width - 1; i++) count += values[i]
  return count
}

/** @param {Float64Array} values @param {number} row @param {Bounds} bounds */
const sumOf = (values, row, { width }) => values[(row + 1) * width - 1]

exports.ADVISED_BOUNDS = ADVISED_BOUNDS
exports.Buckets = Buckets
exports.SIZE_BOUNDS = SIZE_BOUNDS
exports.boundsOf = boundsOf
exports.countOf = countOf
exports.sumOf = sumOf
