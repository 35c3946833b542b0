'use strict'
// What no single rule decides: that a process which has just started is not judged by its first, slow answers.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Rules } = require('../../src/admission/rules')
const { DEFAULTS } = require('../../src/options')
const { FakeClock } = require('../support/fake-clock')

function startedAt(clock) {
  return new Rules(DEFAULTS.shed, clock, { sampleMemory: () => ({}), faults: {} })
}

test('a process is starting until it has given two hundred answers', () => {
  const clock = new FakeClock()
  const rules = startedAt(clock)
  for (let i = 0; i < 199; i++) rules.noteEnd(undefined, { admittedMs: 1 }, clock.now())
  assert.equal(rules.isStarting, true)
  rules.noteEnd(undefined, { admittedMs: 1 }, clock.now())
  assert.equal(rules.isStarting, false)
})

test('in the start nobody is judged by what the first requests cost', () => {
  const clock = new FakeClock()
  const rules = startedAt(clock)
  rules.cost.noteRun(17)
  assert.equal(rules.expectedMs(31, true), 0)
  for (let i = 0; i < 200; i++) rules.noteEnd(undefined, { admittedMs: 1 }, clock.now())
  assert.equal(rules.expectedMs(31, true), 31 * 17)
})

test('slots are short for an interval after a request found none', () => {
  const clock = new FakeClock()
  const rules = startedAt(clock)
  assert.equal(rules.isShort(clock.now()), false)
  rules.noteShort(clock.now())
  clock.advance(DEFAULTS.shed.interval - 1)
  assert.equal(rules.isShort(clock.now()), true)
  clock.advance(1)
  assert.equal(rules.isShort(clock.now()), false)
})

test('what handlers burn after an await pays for accepting too', () => {
  const clock = new FakeClock()
  const rules = startedAt(clock)
  const { drain } = rules
  const turnsFrom = (nowMs) => {
    let turns = 0
    for (drain.noteAccept(nowMs); drain.shouldTurn(nowMs + turns, 0); turns++) drain.noteAccept(nowMs + turns)
    return turns
  }
  turnsFrom(0)
  assert.equal(turnsFrom(30), 0)
  rules.noteTurn(5, 60, 0)
  assert.ok(turnsFrom(60) > 0)
})

test('a loop that sleeps though jobs wait has not idled: its backlog stays limited', () => {
  const rules = startedAt(new FakeClock())
  rules.cost.noteRun(2)
  rules.noteNap()
  rules.noteTurn(0, 2001, 1)
  assert.equal(rules.limit(2001), 20 / 2)
  rules.noteTurn(0, 2002, 2)
  assert.equal(rules.limit(2002), Number.POSITIVE_INFINITY)
})
