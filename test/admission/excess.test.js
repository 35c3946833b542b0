'use strict'
// How much longer than usual a number of requests took, by durations given.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Excess } = require('../../src/admission/excess')

test('one request that takes very long counts for no more than the bound, and all that are late for what they are', () => {
  const excess = new Excess({ boundMs: 40 })
  const usual = { ms: 20, variance: 4 }
  for (const durationMs of [2000, 20, 20, 20]) excess.note(usual, durationMs)
  assert.equal(excess.ms, 10)
  excess.clear()
  for (const durationMs of [35, 30, 35, 40]) excess.note(usual, durationMs)
  assert.equal(excess.ms, 15)
  assert.equal(excess.isAbove(5), true)
  assert.equal(excess.isAbove(20), false)
})

test('an excess that may be chance is none', () => {
  const excess = new Excess({ boundMs: 40 })
  for (const durationMs of [240, 210, 250, 230]) excess.note({ ms: 200, variance: 10_000 }, durationMs)
  assert.equal(excess.isAbove(5), false)
})
