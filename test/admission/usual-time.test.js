'use strict'
// What requests of a route usually take, learnt from made-up durations.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { UsualTime } = require('../../src/admission/usual-time')
const { randomFrom } = require('./simulated-gate')

/** Half of it fixed, half exponential. */
const uneven = (random, meanMs) => meanMs * (0.5 - 0.5 * Math.log(1 - random()))

function learnt(durations, { usual = new UsualTime(0), fromMs = 0, everyMs = 5 } = {}) {
  let nowMs = fromMs
  for (const durationMs of durations) usual.note(durationMs, (nowMs += everyMs))
  return usual
}

const times = (count, of) => Array.from({ length: count }, of)

test('the usual time is the mean, and how much the durations vary is known', () => {
  const random = randomFrom(1)
  const usual = learnt(times(20_000, () => uneven(random, 200)))
  assert.ok(Math.abs(usual.ms - 200) < 10, String(usual.ms))
  assert.ok(Math.abs(Math.sqrt(usual.variance) - 100) < 10, String(usual.variance))
})

test('a second of slower ones is not usual yet, a few minutes of them are', () => {
  const usual = learnt(times(2000, () => 20))
  learnt(
    times(200, () => 100),
    { usual, fromMs: 10_000 }
  )
  assert.ok(usual.ms < 25, String(usual.ms))
  learnt(
    times(36_000, () => 100),
    { usual, fromMs: 11_000 }
  )
  assert.ok(usual.ms > 95, String(usual.ms))
})

test('the slow first ones of a process are forgotten at once, by faster ones that cannot be chance', () => {
  const usual = learnt(times(60, () => 300))
  learnt(
    times(400, () => 20),
    { usual, fromMs: 300 }
  )
  assert.ok(usual.ms < 30, String(usual.ms))
})

test('chance does not make the usual time less', () => {
  const random = randomFrom(2)
  const usual = learnt(times(2000, () => uneven(random, 200)))
  let least = usual.ms
  for (let i = 0; i < 100; i++) {
    learnt(
      times(400, () => uneven(random, 200)),
      { usual, fromMs: 10_000 + i * 2000 }
    )
    least = Math.min(least, usual.ms)
  }
  assert.ok(least > 180, String(least))
})

test('what is not to be learnt is not', () => {
  const usual = learnt(times(2000, () => 20))
  for (let i = 0; i < 1000; i++) usual.note(200, 10_000 + i, 0)
  assert.equal(Math.round(usual.ms), 20)
})
