'use strict'
// What a turn of the loop may still take on, with time told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Turn } = require('../../src/admission/turn')
const { FakeClock } = require('../support/fake-clock')

test('a turn is young for 5 ms from its first request on', () => {
  const turn = new Turn(new FakeClock())
  turn.open(1000)
  turn.open(1004)
  assert.equal(turn.isYoung(1004.9), true)
  assert.equal(turn.isYoung(1005), false)
  turn.close(1006, 0)
  turn.open(1007)
  assert.equal(turn.isYoung(1008), true)
  assert.equal(turn.ageMs(1008), 1)
})

test('the queue has a budget of 5 ms a turn, anew in each', () => {
  const turn = new Turn(new FakeClock())
  turn.serve(1000)
  turn.noteRun(4.9)
  assert.equal(turn.hasBudget, true)
  turn.noteRun(0.1)
  assert.equal(turn.hasBudget, false)
  turn.serve(1006)
  assert.equal(turn.hasBudget, true)
})

test('a turn is old 10 ms after the last one, without what the loop slept', () => {
  const clock = new FakeClock()
  const turn = new Turn(clock)
  turn.close(clock.now(), clock.idleMs())
  clock.idle(60_000)
  clock.advance(9)
  assert.equal(turn.isOld(clock.now()), false)
  clock.advance(1)
  assert.equal(turn.isOld(clock.now()), true)
  turn.close(clock.now(), clock.idleMs())
  assert.equal(turn.isOld(clock.now()), false)
})
