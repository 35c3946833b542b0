'use strict'
// How many lines of a kind a log takes.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LogRateLimit } = require('../../src/core/log/log-rate-limit')

const takeAll = (rateLimit, count, nowMs) => Array.from({ length: count }, () => rateLimit.take(nowMs))
const lines = (spent) => spent.filter((unlogged) => unlogged >= 0)

test('ten lines at once, then one a second with the count of those left out', () => {
  const rateLimit = new LogRateLimit(0)
  assert.deepEqual(lines(takeAll(rateLimit, 100, 0)), Array(10).fill(0))
  assert.deepEqual(takeAll(rateLimit, 2, 999), [-1, -1])
  assert.deepEqual(takeAll(rateLimit, 2, 1000), [92, -1])
  assert.deepEqual(takeAll(rateLimit, 1, 2000), [1])
})

test('after an hour of silence, ten lines again and no more', () => {
  const rateLimit = new LogRateLimit(0)
  takeAll(rateLimit, 100, 0)
  assert.equal(lines(takeAll(rateLimit, 100, 3_600_000)).length, 10)
})

test('a clock that stands still or goes back allows no more lines', () => {
  const rateLimit = new LogRateLimit(5000)
  assert.equal(lines(takeAll(rateLimit, 20, 5000)).length, 10)
  assert.deepEqual(takeAll(rateLimit, 2, 0), [-1, -1])
})
