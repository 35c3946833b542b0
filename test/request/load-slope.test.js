'use strict'
// Simulated requests with Poisson arrivals, behind a pool and behind a dependency of any capacity.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LoadSlope } = require('../../src/core/request/load-slope')
const { randomFrom } = require('../../bench/support/random')

const SLICE_MS = 10_000

/**
 * A request whose client leaves waits for its place all the same, and then occupies it.
 *
 * @param {(nowMs: number) => number} serviceMs @param {number} size of the pool
 * @param {(nowMs: number) => number} ratePerSecond
 */
function simulate({ ratePerSecond, serviceMs, size, slices = 6, seed = 1, giveUpMs = Infinity }) {
  const random = randomFrom(seed)
  const exponential = () => -Math.log(1 - random())
  const slope = new LoadSlope()
  const freeAt = Array.from({ length: Math.min(size, 10_000) }, () => 0)
  /** The ends of those in flight. */
  let inFlight = []
  const records = []
  for (let nowMs = 0; nowMs < slices * SLICE_MS; nowMs += (exponential() * 1000) / ratePerSecond(nowMs)) {
    inFlight = inFlight.filter((endMs) => endMs > nowMs)
    const free = freeAt.indexOf(Math.min(...freeAt))
    const startMs = Math.max(nowMs, freeAt[free])
    const endMs = startMs + serviceMs(nowMs) * (0.5 + random())
    freeAt[free] = endMs
    const durationMs = Math.min(endMs - nowMs, giveUpMs)
    const isAnswered = endMs - nowMs < giveUpMs
    records.push({ endMs: nowMs + durationMs, others: inFlight.length, durationMs, isAnswered })
    inFlight.push(nowMs + durationMs)
  }
  records.sort((a, b) => a.endMs - b.endMs)
  let sliceEndMs = SLICE_MS
  for (const { endMs, others, durationMs, isAnswered } of records) {
    for (; endMs >= sliceEndMs; sliceEndMs += SLICE_MS) slope.endSlice()
    if (isAnswered) slope.record(others, durationMs)
    else slope.recordUnanswered(durationMs)
  }
  slope.endSlice()
  return slope.sample()
}

const isPool = ({ elasticity, correlation }) => elasticity >= 0.4 && correlation >= 0.5

test('behind a full pool the duration grows in proportion to the requests in flight', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    for (const load of [1, 1.1, 1.5]) {
      const sample = simulate({
        ratePerSecond: () => (load * 5 * 1000) / 50,
        serviceMs: () => 50,
        size: 5,
        seed,
      })
      assert.ok(isPool(sample), JSON.stringify({ seed, load, sample }))
    }
  }
})

test('behind a slow dependency it does not', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    for (const ms of [50, 500, 2000]) {
      const sample = simulate({ ratePerSecond: () => 40, serviceMs: () => ms, size: 1000, seed })
      assert.ok(!isPool(sample), JSON.stringify({ seed, ms, sample }))
    }
  }
})

test('a dependency that becomes slow, and fills the process with requests, is no pool', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const serviceMs = (nowMs) => (nowMs < 2.5 * SLICE_MS ? 20 : 900)
    const sample = simulate({ ratePerSecond: () => 40, serviceMs, size: 1000, seed })
    assert.ok(!isPool(sample), JSON.stringify({ seed, sample }))
  }
})

test('a lock whose clients all leave in the end is still known from those that were answered', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    for (const slices of [12, 20, 60]) {
      const ratePerSecond = (nowMs) => (nowMs < 6 * SLICE_MS ? 5 : 28)
      const sample = simulate({ ratePerSecond, serviceMs: () => 42, size: 1, giveUpMs: 8000, slices, seed })
      assert.ok(isPool(sample) && sample.count >= 50, JSON.stringify({ seed, slices, sample }))
    }
  }
})

test('a dependency that becomes so slow that clients leave is no pool', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    for (const ms of [900, 2000, 4000, 9000]) {
      const serviceMs = (nowMs) => (nowMs < 2.5 * SLICE_MS ? 20 : ms)
      const given = { ratePerSecond: () => 40, serviceMs, size: 1000, giveUpMs: 2000, slices: 12, seed }
      const sample = simulate(given)
      assert.ok(!isPool(sample), JSON.stringify({ seed, ms, sample }))
    }
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

test('requests that their clients cancel early do not keep earlier slices', () => {
  const countAfter = (durationMs) => {
    const slope = new LoadSlope()
    for (let i = 0; i < 100; i++) slope.record(i, 1000)
    slope.endSlice()
    for (let i = 0; i < 20; i++) {
      for (let j = 0; j < 100; j++) slope.recordUnanswered(durationMs)
      slope.endSlice()
    }
    return slope.sample().count
  }
  assert.deepEqual([countAfter(999), countAfter(1000)], [0, 100])
})

test('earlier slices age by the share of the requests that were answered', () => {
  const slope = new LoadSlope()
  for (let i = 0; i < 1000; i++) slope.record(i, 1000)
  slope.endSlice()
  for (let i = 0; i < 50; i++) slope.record(i, 1000)
  for (let i = 0; i < 50; i++) slope.recordUnanswered(1000)
  slope.endSlice()
  assert.equal(slope.sample().count, 1000 * 0.7 ** 0.5 + 50)
})
