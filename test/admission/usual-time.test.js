'use strict'
// What requests of a route usually take, how far they are from it, and which of them have lasted for so long that they wait for
// something else: by table.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Excess } = require('../../src/admission/excess')
const { Lasting } = require('../../src/admission/lasting')
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

test('it is the mean, and knows how much they vary', () => {
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

test('chance does not make it less', () => {
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

test('one that takes very long counts for no more than the bound, all that are late for what they are', () => {
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

test('those that have lasted for one to two generations are told from the others, and all are gone in the end', () => {
  const lasting = new Lasting(0)
  for (let i = 0; i < 10; i++) lasting.noteAdmit()
  lasting.noteTurn(999, 0)
  assert.equal(lasting.count, 0)
  lasting.noteTurn(1000, 0)
  lasting.noteAdmit()
  assert.equal(lasting.count, 0)
  lasting.noteTurn(2000, 0)
  assert.equal(lasting.count, 10)
  lasting.noteEnd(0)
  lasting.noteEnd(1000.5)
  assert.equal(lasting.count, 9)
  for (let i = 0; i < 9; i++) lasting.noteEnd(0)
  for (const nowMs of [3000, 4000, 5000]) lasting.noteTurn(nowMs, 0)
  assert.equal(lasting.count, 0)
})

test('a generation is as long as it is told', () => {
  const lasting = new Lasting(0)
  lasting.noteAdmit()
  for (let nowMs = 0; nowMs < 10_000; nowMs += 100) lasting.noteTurn(nowMs, 5000)
  assert.equal(lasting.count, 0)
  lasting.noteTurn(10_000, 5000)
  assert.equal(lasting.count, 1)
})
