'use strict'
// A 32-bit cell wraps to 0 at 2^32, silently. To get there within a test, every value recorded here counts
// 2^30 times: the library's own `recordValueWithCount` and `addToTotalCount` do. A file of its own, for that.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const ours = require('../../src/core/histogram/hdr-histogram')

const EACH = 2 ** 30
const HALF_MINUTE_MS = 30_000

const widths = []
function newHistogramCountingMany(bits) {
  widths.push(bits)
  const histogram = ours.newHistogram(bits)
  histogram.incrementCountAtIndex = (index) => histogram.addToCountAtIndex(index, EACH)
  histogram.incrementTotalCount = () => histogram.addToTotalCount(EACH)
  return histogram
}

const file = /** @type {any} */ (require.cache[require.resolve('../../src/core/histogram/hdr-histogram')])
file.exports = { ...ours, newHistogram: newHistogramCountingMany }
const { RollingHistogram } = require('../../src/core/histogram/rolling')

test('a 32-bit histogram of the library wraps, as ours must not', () => {
  const narrow = newHistogramCountingMany(32)
  for (let i = 0; i < 5; i++) narrow.recordValue(1)
  assert.equal(narrow.getCountAtIndex(1), EACH)
})

test('since-start goes on counting past 2^32 of one value', () => {
  const rolling = new RollingHistogram(0)
  for (let i = 1; i <= 12; i++) {
    rolling.record(5, i * HALF_MINUTE_MS, false)
    const { histogram } = rolling.sinceStart(i * HALF_MINUTE_MS)
    assert.equal(histogram.totalCount, i * EACH)
    assert.equal(histogram.getCountAtIndex(histogram.countsArrayIndex(5000)), i * EACH)
  }
})

test('the total moves to wide cells once', () => {
  const rolling = new RollingHistogram(0)
  widths.length = 0
  for (let i = 1; i <= 12; i++) rolling.record(5, i * HALF_MINUTE_MS, false)
  assert.equal(widths.filter((width) => width === 64).length, 1)
})
