'use strict'
// Counts the values of a rolling histogram in 30 rows, five to each power of ten, from below 0.1 ms to 60 s.
// A mark holds the counts of one moment, in 120 bytes. Later counts minus the mark give the values recorded
// since. So recording a value costs nothing more.

const { countsOf } = require('./hdr-histogram')

/** @import { RollingHistogram } from './rolling' */

const MIN_MS = 0.1
const PER_DECADE = 5
const ROWS = 30
/** Where each row starts, in milliseconds; a row ends where the next one starts. */
const ROW_STARTS_MS = Object.freeze(
  Array.from({ length: ROWS }, (_, row) =>
    row === 0 ? 0 : Number((MIN_MS * 10 ** ((row - 1) / PER_DECADE)).toPrecision(2))
  )
)

/** The first cell of each row, the same in all histograms. @type {number[] | undefined} */
let firstCells

/**
 * Adds the counts of a histogram to `ROWS` numbers of `into`, which begin at `start`.
 *
 * @param {import('hdr-histogram-js').JsHistogram} histogram of whole microseconds
 * @param {Uint32Array} into
 * @param {number} start
 */
function addRows(histogram, into, start) {
  if (histogram.totalCount === 0) return
  firstCells ??= ROW_STARTS_MS.map((ms) => histogram.countsArrayIndex(Math.round(ms * 1000)))
  const counts = countsOf(histogram)
  const end = histogram.countsArrayIndex(histogram.maxValue) + 1
  for (let row = 0; row < ROWS && firstCells[row] < end; row++) {
    const rowEnd = Math.min(end, firstCells[row + 1] ?? end)
    let count = 0
    for (let cell = firstCells[row]; cell < rowEnd; cell++) count += counts[cell]
    into[start + row] += count
  }
}

/**
 * Buffer for the counts of the newest half minute. Counting its cells is nearly the whole cost of a reading.
 */
const newest = new Uint32Array(ROWS)

class RowsSinceMark {
  #rolling
  /** Count of the newest half minute at the mark. */
  #marked = new Uint32Array(ROWS)
  #markedStartMs = Number.NEGATIVE_INFINITY

  /**
   * Until the first mark, all values of the two half minutes count as new.
   *
   * @param {RollingHistogram} rolling
   */
  constructor(rolling) {
    this.#rolling = rolling
  }

  /** Adds what was recorded since the mark. @param {Uint32Array} into @param {number} start */
  addTo(into, start) {
    this.#read(into, start)
  }

  /** As `addTo`, and sets the mark. @param {Uint32Array} into @param {number} start */
  take(into, start) {
    this.#markedStartMs = this.#read(into, start)
    this.#marked.set(newest)
  }

  mark() {
    this.take(new Uint32Array(ROWS), 0)
  }

  /**
   * Leaves the counts of the newest half minute in `newest`.
   *
   * @param {Uint32Array} into
   * @param {number} start
   * @returns {number} when the newest half minute began
   */
  #read(into, start) {
    let newestStartMs = Number.NEGATIVE_INFINITY
    for (const { histogram, startMs } of this.#rolling.spans) {
      if (startMs < this.#markedStartMs) continue
      newestStartMs = startMs
      addRows(histogram, newest.fill(0), 0)
      const isMarked = startMs === this.#markedStartMs
      for (let row = 0; row < ROWS; row++)
        into[start + row] += isMarked ? newest[row] - this.#marked[row] : newest[row]
    }
    return newestStartMs
  }
}

exports.ROWS = ROWS
exports.ROW_STARTS_MS = ROW_STARTS_MS
exports.RowsSinceMark = RowsSinceMark
