'use strict'
// The trend test against figures worked out by hand, and against chance.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { median, testTrend } = require('../../src/core/process/heap-shape')

const times = (count) => Array.from({ length: count }, (_, i) => i)
const close = (actual, expected, tolerance) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`)

// By hand: scores of 45 and 35, variances of 125 and, five being equal, 108.3: z of 3.936 and 3.267.
for (const [title, values, confidence] of [
  ['ten that rise', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.99996],
  ['ten of which half stand', [1, 1, 1, 1, 1, 2, 3, 4, 5, 6], 0.99946],
  ['ten equal ones', [3, 3, 3, 3, 3, 3, 3, 3, 3, 3], 0.5],
  ['ten that fall', [10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.5],
]) {
  test(`the confidence of ${title} is ${confidence.toFixed(5)}`, () => {
    close(testTrend(times(values.length), values).confidence, confidence, 2e-4)
  })
}

test('the slope is the median: a quarter of wrong values does not move it', () => {
  const values = times(36).map((time) => 100 + 3 * time)
  for (const wrong of [3, 7, 11, 12, 18, 22, 28, 30, 35]) values[wrong] += 5000
  close(testTrend(times(36), values).slope, 3, 0.2)
})

test('gaps count by their length', () => {
  const at = [0, 1, 2, 50, 51, 52]
  assert.equal(
    testTrend(
      at,
      at.map((time) => 2 * time)
    ).slope,
    2
  )
})

test('neither scale nor offset of the figures matters to the confidence, and both to the slope as they should', () => {
  const figures = fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 24, maxLength: 36 })
  fc.assert(
    fc.property(
      figures,
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 0, max: 1e6 }),
      (values, by, plus) => {
        const before = testTrend(times(values.length), values)
        const after = testTrend(
          times(values.length),
          values.map((value) => value * by + plus)
        )
        assert.equal(after.confidence, before.confidence)
        close(after.slope, before.slope * by, 1e-6 * Math.abs(after.slope))
      }
    )
  )
})

test('chance reaches a confidence of 0.999 about once in a thousand', () => {
  let state = 12345
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  let above = 0
  for (let run = 0; run < 4000; run++) {
    if (testTrend(times(36), times(36).map(next)).confidence >= 0.999) above++
  }
  assert.ok(above <= 12, String(above))
})

test('the median of an even number is the middle of the middle two', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.equal(median([9, 1, 5]), 5)
})
