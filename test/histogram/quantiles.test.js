'use strict'
// Quantiles within 1 % of exact, on distributions of very different shape, and equal to what the library
// itself says.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { quantilesOf } = require('../../src/core/histogram/quantiles')
const { RollingHistogram } = require('../../src/core/histogram/rolling')

const RATIOS = [0.5, 0.9, 0.95, 0.99, 0.999]

const SHAPES = {
  uniform: fc.double({ min: 0.1, max: 1000, noNaN: true }),
  lognormal: fc.double({ min: -3, max: 3, noNaN: true }).map((x) => Math.exp(x * 2)),
  bimodal: fc.oneof(fc.constant(1), fc.constant(1), fc.constant(1), fc.constant(100)),
  constant: fc.constant(17.3),
}

for (const [shape, duration] of Object.entries(SHAPES)) {
  test(`quantiles of a ${shape} distribution are within 1 % of exact`, () => {
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 2000 }), (values) => {
        const rolling = new RollingHistogram(0)
        for (const value of values) rolling.record(value, 0, false)
        const { histogram } = rolling.lastMinute(0)
        const sorted = [...values].sort((a, b) => a - b)
        for (const [index, us] of quantilesOf(histogram, RATIOS).entries()) {
          const exact = sorted[Math.max(1, Math.ceil(RATIOS[index] * values.length)) - 1]
          // A microsecond is what a duration is rounded to.
          assert.ok(
            Math.abs(us / 1000 - exact) <= exact * 0.01 + 0.001,
            `${RATIOS[index]}: ${us / 1000} for ${exact}`
          )
        }
      }),
      { numRuns: 30 }
    )
  })
}

test("one pass finds the same as the library's own scans", () => {
  const rolling = new RollingHistogram(0)
  for (let i = 1; i <= 5000; i++) rolling.record(i / 10, 0, false)
  const { histogram } = rolling.lastMinute(0)
  assert.deepEqual(
    quantilesOf(histogram, RATIOS),
    RATIOS.map((ratio) => Math.min(histogram.getValueAtPercentile(ratio * 100), histogram.maxValue))
  )
})

test('a quantile of nothing is 0', () => {
  assert.deepEqual(quantilesOf(new RollingHistogram(0).lastMinute(0).histogram, RATIOS), [0, 0, 0, 0, 0])
})
