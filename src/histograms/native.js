'use strict'
// Counts for Prometheus' native histograms, schema 3: eight buckets to each power of two, so that one is 9.05 % wider
// than the one before. Counted exactly as requests end, and not converted from the HDR histogram at a scrape: its cells
// are no multiples of these (0.9 % of the values would be put a bucket off), it stops at 60 s, and 1000 of them cannot be
// read in one instant. A quantile is off by less than one bucket: 9.05 %.
// From 7.6 µs, below which nothing is answered, to 512 s: a row is 1.7 kB. What is longer is in the last bucket.

const { Rows } = require('./rows')

const SCHEMA = 3
const PER_OCTAVE = 2 ** SCHEMA
const LOWEST_OCTAVE = -17
const HIGHEST_OCTAVE = 9
/** What is not above this is in the first column, Prometheus' zero bucket. */
const ZERO_THRESHOLD_SECONDS = 2 ** LOWEST_OCTAVE
/** Column 1 has this index among the buckets of the schema: those up to 2^(index / 8) seconds. */
const FIRST_INDEX = LOWEST_OCTAVE * PER_OCTAVE + 1
const COLUMNS = (HIGHEST_OCTAVE - LOWEST_OCTAVE) * PER_OCTAVE + 1
const SUM = COLUMNS
const WIDTH = COLUMNS + 1

class NativeBuckets {
  #rows = new Rows(WIDTH)

  add() {
    return this.#rows.add()
  }

  // Hot path, where the option is on.
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
 * One copied row as the formats want it: runs of buckets that are not empty, the offset of each from the end of the one
 * before, and each count as its difference from the last.
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

module.exports = {
  NATIVE_WIDTH: WIDTH,
  NativeBuckets,
  SCHEMA,
  ZERO_THRESHOLD_SECONDS,
  nativeOf,
}
