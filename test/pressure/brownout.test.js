'use strict'
// Cheaper answers in simulated time, with the real gate (test/simulation/brownout.js).

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { brownout } = require('../simulation/brownout')

test('below the bound every answer is whole', () => {
  const { degradedShare, shedShare } = brownout(0.65)
  assert.equal(degradedShare, 0)
  assert.equal(shedShare, 0)
})

test('at twice the capacity everybody is in time, and nobody is rejected', () => {
  const { degradedShare, mostMs, p99Ms, shedShare } = brownout(2)
  assert.equal(shedShare, 0)
  assert.ok(mostMs <= 250 && p99Ms <= 40, `p99 ${p99Ms} ms, at most ${mostMs} ms`)
  // 2 x (1 - 0.75 x share) of the capacity would be all of it at two thirds.
  assert.ok(degradedShare > 0.66 && degradedShare < 0.85, `${degradedShare} are degraded`)
})

test('the gate alone rejects half of them', () => {
  const { shedShare } = brownout(2, false)
  assert.ok(shedShare > 0.45, `${shedShare}`)
})

test('at six times the capacity all answers are cheap, and the gate rejects the rest', () => {
  const { degradedShare, p99Ms, shedShare } = brownout(6)
  assert.ok(degradedShare > 0.97, `${degradedShare} are degraded`)
  assert.ok(shedShare > 0.25 && shedShare < 0.5, `${shedShare} are rejected`)
  assert.ok(p99Ms <= 60, `p99 ${p99Ms} ms`)
})
