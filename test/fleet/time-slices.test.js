'use strict'
// How work in steps gives the loop its turn: by a fake clock that a step sets forward.

const assert = require('node:assert/strict')
const { beforeEach, describe, it } = require('node:test')
const { Slices } = require('../../src/fleet/time-slices')

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

  it('gives the loop its turn after a millisecond', async () => {
    await new Slices(clock).run(steps(10, 0.25))
    assert.deepEqual(turns, [1, 2])
  })

  it('counts what the parts of a job take together', async () => {
    const slices = new Slices(clock)
    for (let part = 0; part < 4; part++) await slices.run(steps(2, 0.25))
    assert.deepEqual(turns, [1, 2])
  })

  it('counts what was done before its first step', async () => {
    const slices = new Slices(clock)
    nowMs = 0.75
    await slices.run(steps(2, 0.25))
    assert.deepEqual(turns, [1])
  })

  it('gives it no turn for less', async () => {
    await new Slices(clock).run(steps(3, 0.25))
    assert.deepEqual(turns, [])
  })
})
