'use strict'
// Simulated requests with Poisson arrivals, behind a pool and behind a dependency of any capacity.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LoadSlope } = require('../../src/core/request/load-slope')
const { randomFrom } = require('../../bench/support/random')

const SLICE_MS = 10_000

/** @param {(nowMs: number) => number} serviceMs @param {number} size of the pool */
function simulate({ ratePerSecond, serviceMs, size, slices = 6, seed = 1 }) {
  const random = randomFrom(seed)
  const exponential = () => -Math.log(1 - random())
  const slope = new LoadSlope()
  const freeAt = Array.from({ length: Math.min(size, 10_000) }, () => 0)
  /** The ends of those in flight. */
  let inFlight = []
  const records = []
  for (let nowMs = 0; nowMs < slices * SLICE_MS; nowMs += (exponential() * 1000) / ratePerSecond) {
    inFlight = inFlight.filter((endMs) => endMs > nowMs)
    const free = freeAt.indexOf(Math.min(...freeAt))
    const startMs = Math.max(nowMs, freeAt[free])
    const endMs = startMs + serviceMs(nowMs) * (0.5 + random())
    freeAt[free] = endMs
    records.push({ endMs, others: inFlight.length, durationMs: endMs - nowMs })
    inFlight.push(endMs)
  }
  records.sort((a, b) => a.endMs - b.endMs)
  let sliceEndMs = SLICE_MS
  for (const { endMs, others, durationMs } of records) {
    for (; endMs >= sliceEndMs; sliceEndMs += SLICE_MS) slope.endSlice()
    slope.record(others, durationMs)
  }
  slope.endSlice()
  return slope.sample()
}

const isPool = ({ elasticity, correlation }) => elasticity >= 0.4 && correlation >= 0.5

test('behind a full pool the duration grows in proportion to the requests in flight', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    for (const load of [1, 1.1, 1.5]) {
      const sample = simulate({ ratePerSecond: (load * 5 * 1000) / 50, serviceMs: () => 50, size: 5, seed })
      assert.ok(isPool(sample), JSON.stringify({ seed, load, sample }))
    }
  }
})

test('behind a slow dependency it does not', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    for (const ms of [50, 500, 2000]) {
      const sample = simulate({ ratePerSecond: 40, serviceMs: () => ms, size: 1000, seed })
      assert.ok(!isPool(sample), JSON.stringify({ seed, ms, sample }))
    }
  }
})

test('a dependency that becomes slow, and fills the process with requests, is no pool', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const serviceMs = (nowMs) => (nowMs < 2.5 * SLICE_MS ? 20 : 900)
    const sample = simulate({ ratePerSecond: 40, serviceMs, size: 1000, seed })
    assert.ok(!isPool(sample), JSON.stringify({ seed, sample }))
  }
})

test('without a request there is nothing to say', () => {
  const slope = new LoadSlope()
  slope.endSlice()
  assert.deepEqual(slope.sample(), { count: 0, elasticity: 0, correlation: 0 })
  slope.record(3, 10)
  slope.endSlice()
  assert.deepEqual(slope.sample(), { count: 1, elasticity: 0, correlation: 0 })
})

test('slices that ended long ago are forgotten', () => {
  const slope = new LoadSlope()
  for (let i = 0; i < 100; i++) slope.record(i, i)
  slope.endSlice()
  assert.ok(slope.sample().elasticity > 0.9)
  for (let i = 0; i < 20; i++) slope.endSlice()
  assert.deepEqual(slope.sample(), { count: 0, elasticity: 0, correlation: 0 })
})
