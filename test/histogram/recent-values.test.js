'use strict'
// The quantiles of what was recorded since the last reading, over the half minutes of a rolling histogram.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { RecentValues } = require('../../src/core/histogram/recent-values')
const { RollingHistogram } = require('../../src/core/histogram/rolling')

const near = (actual, expected) =>
  assert.ok(Math.abs(actual - expected) <= expected / 100, `${actual}, not ${expected}`)

test('each reading has only what was recorded since the one before', () => {
  const rolling = new RollingHistogram(0)
  rolling.record(5000, 10, false)
  const recent = new RecentValues(rolling)
  assert.equal(recent.take([0.5]), undefined)
  for (let i = 0; i < 99; i++) rolling.record(10, 20, false)
  rolling.record(400, 20, false)
  const [p50, p99, highest] = recent.take([0.5, 0.99, 1]) ?? []
  near(p50, 10_000)
  near(p99, 10_000)
  near(highest, 400_000)
  assert.equal(recent.take([0.5]), undefined)
})

test('values on both sides of a half minute count once', () => {
  const rolling = new RollingHistogram(0)
  const recent = new RecentValues(rolling)
  rolling.record(10, 29_000, false)
  near((recent.take([1]) ?? [])[0], 10_000)
  rolling.record(20, 29_900, false)
  rolling.record(30, 30_100, false)
  const [lowest, highest] = recent.take([0.01, 1]) ?? []
  near(lowest, 20_000)
  near(highest, 30_000)
  assert.equal(recent.take([1]), undefined)
})

test('after a pause of minutes it has what was recorded last', () => {
  const rolling = new RollingHistogram(0)
  const recent = new RecentValues(rolling)
  rolling.record(10, 1000, false)
  recent.take([1])
  rolling.record(40, 400_000, false)
  near((recent.take([1]) ?? [])[0], 40_000)
})
