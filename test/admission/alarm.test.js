'use strict'
// The alarm that wakes the gate: one timer, in simulated time.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Alarm } = require('../../src/admission/alarm')
const { SimulatedLoop } = require('../support/simulated-loop')

test('an alarm rings once, at the earliest of the times asked for, and may be set again', () => {
  const loop = new SimulatedLoop()
  const rung = []
  const alarm = new Alarm(loop.clock, () => rung.push(Math.round(loop.nowMs)))
  alarm.set(20, 0)
  alarm.set(5, 0)
  alarm.set(10, 0)
  loop.at(50, () => alarm.set(20, loop.nowMs))
  loop.run([], 100, () => {})
  assert.deepEqual(rung, [5, 70])
})
