'use strict'
// How work in steps gives the loop its turn: by a fake clock that a step sets forward.

const assert = require('node:assert/strict')
const { beforeEach, describe, it } = require('node:test')
const { TimeSlices } = require('../../src/features/fleet/time-slices')

describe('work in slices', () => {
  let nowMs
  let turns
  const clock = {
    now: () => nowMs,
    afterTurn(callback) {
      turns.push(nowMs)
      callback()
    },
  }

  function* steps(count, stepMs) {
    for (let i = 0; i < count; i++) {
      nowMs += stepMs
      yield
    }
  }

  beforeEach(() => {
    nowMs = 0
    turns = []
  })

  it('yields to the event loop after a millisecond', async () => {
    await new TimeSlices(clock).run(steps(10, 0.25))
    assert.deepEqual(turns, [1, 2])
  })

  it('counts the time of all parts of a job together', async () => {
    const slices = new TimeSlices(clock)
    for (let part = 0; part < 4; part++) await slices.run(steps(2, 0.25))
    assert.deepEqual(turns, [1, 2])
  })

  it('counts the time before the first step', async () => {
    const slices = new TimeSlices(clock)
    nowMs = 0.75
    await slices.run(steps(2, 0.25))
    assert.deepEqual(turns, [1])
  })

  it('does not yield for less', async () => {
    await new TimeSlices(clock).run(steps(3, 0.25))
    assert.deepEqual(turns, [])
  })
})
