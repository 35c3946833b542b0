'use strict'
// All the quantiles of one HDR histogram in one pass over its slots. The library scans from the start for each
// (2.8 µs a scan), which with six quantiles, two spans and 1000 routes would block a snapshot for 34 ms.

/**
 * @param {import('hdr-histogram-js').Histogram} histogram
 * @param {readonly number[]} ratios ascending, 0..1
 * @returns {number[]} recorded units; 0 where nothing was recorded
 */
function quantilesOf(histogram, ratios) {
  const total = histogram.totalCount
  if (total === 0) return ratios.map(() => 0)
  const found = []
  let seen = 0
  for (let slot = 0; found.length < ratios.length; slot++) {
    seen += histogram.getCountAtIndex(slot)
    while (found.length < ratios.length && seen >= Math.max(1, Math.ceil(ratios[found.length] * total))) {
      const value = histogram.highestEquivalentValue(histogram.valueFromIndex(slot))
      found.push(Math.min(value, histogram.maxValue))
    }
  }
  return found
}

module.exports = { quantilesOf }
