'use strict'
// Mean and standard deviation in one pass are those the library walks its iterators for.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { momentsOf } = require('../../src/core/histogram/quantiles')
const { RollingHistogram } = require('../../src/core/histogram/rolling')

function histogramOf(durationsMs) {
  const rolling = new RollingHistogram(0)
  for (const ms of durationsMs) rolling.record(ms, 0, false)
  return rolling.lastMinute(0).histogram
}

test("mean and standard deviation are the library's", () => {
  const durations = fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), {
    minLength: 1,
    maxLength: 300,
  })
  fc.assert(
    fc.property(durations, (durationsMs) => {
      const histogram = histogramOf(durationsMs)
      const { mean, stddev } = momentsOf(histogram)
      assert.ok(Math.abs(mean - histogram.mean) <= 1e-9 * histogram.mean, `${mean} for ${histogram.mean}`)
      // A difference of squares: exact to the digits that are left of the mean.
      assert.ok(Math.abs(stddev - histogram.stdDeviation) <= 1e-6 * (histogram.mean + 1), `${stddev}`)
    }),
    { numRuns: 50 }
  )
})

test('equal values have no deviation, and nothing has neither', () => {
  assert.equal(momentsOf(histogramOf([7, 7, 7])).stddev, 0)
  assert.deepEqual(momentsOf(histogramOf([])), { mean: 0, stddev: 0 })
})
