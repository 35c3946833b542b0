'use strict'
// The last minute forgets what is older, and the sums since the start do not.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { MinuteSums } = require('../../src/core/histogram/minute-sums')

test('a call is in the last minute for 60 to 70 seconds, and in the total for good', () => {
  const sums = new MinuteSums()
  sums.record(100, false, 9_000)
  sums.record(300, true, 9_500)
  const both = { count: 2, errors: 1, totalMs: 400, maxMs: 300 }
  assert.deepEqual(sums.lastMinute(9_500), both)
  assert.deepEqual(sums.lastMinute(69_999), both)
  assert.equal(sums.lastMinute(70_000).count, 0)
  sums.record(5, false, 75_000)
  assert.deepEqual(sums.lastMinute(75_000), { count: 1, errors: 0, totalMs: 5, maxMs: 5 })
  assert.deepEqual(sums.sinceStart(), { count: 3, errors: 1, totalMs: 405, maxMs: 300 })
})
