'use strict'
// Counts values for Prometheus' native histograms of schema 3, from 7.6 µs to 512 s. Each power of two has
// eight buckets, each 9.05 % wider than the one before. Values are counted as requests end, and not converted
// from the HDR histogram at a scrape (docs/decisions/0042).

const { Rows } = require('./rows')

const SCHEMA = 3
const PER_OCTAVE = 2 ** SCHEMA
const LOWEST_OCTAVE = -17
const HIGHEST_OCTAVE = 9
/** Values up to this are in column 0, Prometheus' zero bucket. */
const ZERO_THRESHOLD_SECONDS = 2 ** LOWEST_OCTAVE
/** The index of column 1 among the buckets of the schema. Bucket `index` ends at 2^(index / 8) seconds. */
const FIRST_INDEX = LOWEST_OCTAVE * PER_OCTAVE + 1
const COLUMNS = (HIGHEST_OCTAVE - LOWEST_OCTAVE) * PER_OCTAVE + 1
const SUM = COLUMNS
const WIDTH = COLUMNS + 1

class NativeBuckets {
  #rows = new Rows(WIDTH)

  add() {
    return this.#rows.add()
  }

  // Hot path if `latency.nativeHistograms` is on.
  /** @param {number} row @param {number} seconds */
  record(row, seconds) {
    const { values } = this.#rows
    const start = row * WIDTH
    const column = Math.ceil(Math.log2(seconds) * PER_OCTAVE) - FIRST_INDEX + 1
    values[start + (column > 0 ? Math.min(column, COLUMNS - 1) : 0)]++
    values[start + SUM] += seconds
  }

  /** @param {Float64Array} [spare] */
  copy(spare) {
    return this.#rows.copy(spare)
  }
}

/**
 * One row of a copy in the form of the exposition formats. A span of non-empty buckets has its offset from
 * the end of the previous span. A count is the difference from the previous count.
 * @param {Float64Array} values @param {number} row
 */
function nativeOf(values, row) {
  const start = row * WIDTH
  const spans = []
  const deltas = []
  let count = values[start]
  let last = 0
  let end = 1 - FIRST_INDEX
  for (let column = 1; column < COLUMNS; column++) {
    const here = values[start + column]
    if (here === 0) continue
    if (spans.length === 0 || column !== end) spans.push({ offset: column - end, length: 0 })
    spans[spans.length - 1].length++
    deltas.push(here - last)
    count += here
    last = here
    end = column + 1
  }
  return { count, sum: values[start + SUM], zeroCount: values[start], spans, deltas }
}

exports.NATIVE_WIDTH = WIDTH
exports.NativeBuckets = NativeBuckets
exports.SCHEMA = SCHEMA
exports.ZERO_THRESHOLD_SECONDS = ZERO_THRESHOLD_SECONDS
exports.nativeOf = nativeOf
