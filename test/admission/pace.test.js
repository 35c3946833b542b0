'use strict'
// How close behind each other requests are let in, by table; that the gate keeps to it, in simulated-gate's await work.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Pace } = require('../../src/admission/pace')

/** Lets in all that it may, and says how many that were. */
function fill(pace, nowMs, { costMs, ranMs = 0 }) {
  let count = 0
  for (; count < 100 && pace.leftMs(nowMs) === 0; count++) {
    pace.noteAdmit(nowMs, costMs)
    pace.noteRun(ranMs)
  }
  return count
}

test('of requests of 2 ms three get in at once, then one every 1.6 ms', () => {
  const pace = new Pace()
  assert.equal(fill(pace, 1000, { costMs: 2 }), 3)
  assert.equal(fill(pace, 1001, { costMs: 2 }), 0)
  assert.equal(fill(pace, 1001.7, { costMs: 2 }), 1)
  for (let at = 1003.3; at < 1100; at += 1.6) assert.equal(fill(pace, at, { costMs: 2 }), 1, String(at))
})

test('an hour of quiet is not saved up', () => {
  const pace = new Pace()
  fill(pace, 1000, { costMs: 2 })
  assert.equal(fill(pace, 1000 + 3_600_000, { costMs: 2 }), 3)
})

test('who burns at once has paid, and is never too soon', () => {
  const pace = new Pace()
  assert.equal(fill(pace, 1000, { costMs: 2, ranMs: 2 }), 100)
  assert.equal(fill(pace, 1000, { costMs: 2, ranMs: 100 }), 100)
  // Nor do those who burnt much pay for others.
  assert.equal(fill(pace, 1001, { costMs: 2 }), 3)
})

test('nothing is too soon while no cost is known', () => {
  assert.equal(fill(new Pace(), 1000, { costMs: 0 }), 100)
})
