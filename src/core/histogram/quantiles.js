'use strict'
// Computes all quantiles of an HDR histogram in one pass over its cells, and its mean and standard deviation
// in another. The library scans from the start for each quantile: for 1000 routes that would block a snapshot
// for 34 ms.

const { countsOf } = require('./hdr-histogram')

/** @import { JsHistogram } from 'hdr-histogram-js' */

/**
 * @param {JsHistogram} histogram
 * @param {readonly number[]} ratios ascending, 0..1
 * @returns {number[]} in recorded units; zeros if the histogram is empty
 */
function quantilesOf(histogram, ratios) {
  const total = histogram.totalCount
  if (total === 0) return ratios.map(() => 0)
  const found = quantilesIn(countsOf(histogram), total, ratios, histogram)
  return found.map((value) => Math.min(value, histogram.maxValue))
}

/**
 * @param {Float64Array | Uint32Array} counts in the cells of the histogram
 * @param {number} total of the counts, above 0
 * @param {readonly number[]} ratios ascending, 0..1
 * @param {JsHistogram} histogram
 */
function quantilesIn(counts, total, ratios, histogram) {
  const found = []
  let seen = 0
  for (let cell = 0; found.length < ratios.length; cell++) {
    seen += counts[cell]
    while (found.length < ratios.length && seen >= Math.max(1, Math.ceil(ratios[found.length] * total)))
      found.push(histogram.highestEquivalentValue(histogram.valueFromIndex(cell)))
  }
  return found
}

/**
 * @param {JsHistogram} histogram
 * @returns {{ mean: number, stddev: number }} in recorded units; zeros if the histogram is empty
 */
function momentsOf(histogram) {
  const total = histogram.totalCount
  if (total === 0) return { mean: 0, stddev: 0 }
  let sum = 0
  let squares = 0
  for (let cell = 0, seen = 0; seen < total; cell++) {
    const count = histogram.getCountAtIndex(cell)
    if (count === 0) continue
    const value = histogram.medianEquivalentValue(histogram.valueFromIndex(cell))
    seen += count
    sum += value * count
    squares += value * value * count
  }
  const mean = sum / total
  return { mean, stddev: Math.sqrt(Math.max(0, squares / total - mean * mean)) }
}

module.exports = { momentsOf, quantilesIn, quantilesOf }
