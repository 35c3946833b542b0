'use strict'
// The only file that uses hdr-histogram-js. It decides which part is loaded, and knows how the library keeps
// its counts. Histograms count whole microseconds from 1 µs to 60 s, at a precision of two digits. The
// library's main file also loads WebAssembly and a compression library, which nothing here uses: 40 ms and 15
// MB in every process (Node 20). The library keeps counts in the private array `_counts`. At a precision of
// two digits, each power of two has 128 cells. The library's own methods make one function call for each
// cell: with them, a snapshot of 1000 routes took 60 ms instead of 9. A test fails if the library changes its
// array (test/histogram/hdr-histogram.test.js).

/**
 * @import { JsHistogram } from 'hdr-histogram-js'
 * @typedef {JsHistogram & { _counts: Float64Array | Uint32Array }} WithCounts
 */

const MAX_US = 60_000_000
const CELLS_PER_OCTAVE_LOG2 = 7
const DIGITS = 2

/** @typedef {new (lowest: number, highest: number, digits: number) => JsHistogram} HistogramClass */

/** @returns {(bits: 32 | 64) => HistogramClass} */
function loadClasses() {
  try {
    return require('hdr-histogram-js/dist/JsHistogramFactory').constructorFromBucketSize
  } catch {
    // A later version of the library may keep its files elsewhere.
    const { Float64Histogram, Int32Histogram } = require('hdr-histogram-js')
    return (bits) => (bits === 64 ? Float64Histogram : Int32Histogram)
  }
}

const classOf = loadClasses()

/** @param {32 | 64} bits of a count */
function newHistogram(bits) {
  const histogram = new (classOf(bits))(1, MAX_US, DIGITS)
  histogram.autoResize = true
  return histogram
}

/**
 * @param {JsHistogram} histogram
 * @returns {Float64Array | Uint32Array} the histogram's own array: writing into it changes the histogram
 */
const countsOf = (histogram) => /** @type {WithCounts} */ (histogram)._counts

/**
 * Does what `recordValue` does, with the cell found by shifts instead of logarithms.
 *
 * @param {JsHistogram} histogram of values from 1, with two digits
 * @param {number} value a whole number in the range of the histogram
 */
function recordInto(histogram, value) {
  const shift = Math.max(31 - CELLS_PER_OCTAVE_LOG2 - Math.clz32(value), 0)
  histogram.incrementCountAtIndex((shift << CELLS_PER_OCTAVE_LOG2) + (value >>> shift))
  histogram.updateMinAndMax(value)
  histogram.incrementTotalCount()
}

/**
 * @param {JsHistogram} sum with cells wide enough for both
 * @param {JsHistogram} histogram of the same range and digits
 */
function addHistogram(sum, histogram) {
  if (histogram.totalCount === 0) return
  const into = countsOf(sum)
  const from = countsOf(histogram)
  const last = histogram.countsArrayIndex(histogram.maxValue)
  for (let cell = 0; cell <= last; cell++) into[cell] += from[cell]
  sum.addToTotalCount(histogram.totalCount)
  sum.updateMinAndMax(histogram.minNonZeroValue)
  sum.updateMinAndMax(histogram.maxValue)
}

/**
 * The library counts NaN and Infinity in no cell, and throws on negative values: clamp to 1..MAX_US.
 *
 * @param {number} durationMs
 */
function toMicroseconds(durationMs) {
  const us = Math.round(durationMs * 1000)
  return us >= 1 ? Math.min(us, MAX_US) : 1
}

module.exports = { addHistogram, countsOf, newHistogram, recordInto, toMicroseconds }
