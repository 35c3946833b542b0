'use strict'
// What no single rule decides: that a process which has just started is not judged by its first, slow answers.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Rules } = require('../../src/admission/rules')
const { DEFAULTS } = require('../../src/options')
const { FakeClock } = require('../support/fake-clock')

function startedAt(clock) {
  return new Rules(DEFAULTS.shed, clock, { isHandedOver: false, sampleMemory: () => ({}), faults: {} })
}

test('a process is starting until it has given two hundred answers', () => {
  const clock = new FakeClock()
  const rules = startedAt(clock)
  for (let i = 0; i < 199; i++) rules.noteEnd(undefined, 1, clock.now())
  assert.equal(rules.isStarting(clock.now()), true)
  rules.noteEnd(undefined, 1, clock.now())
  assert.equal(rules.isStarting(clock.now()), false)
})

test('a process that answers seldom is starting for ten seconds at most', () => {
  const clock = new FakeClock()
  const rules = startedAt(clock)
  clock.advance(9999)
  assert.equal(rules.isStarting(clock.now()), true)
  clock.advance(1)
  assert.equal(rules.isStarting(clock.now()), false)
})
