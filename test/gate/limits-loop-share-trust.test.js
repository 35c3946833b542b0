'use strict'
// How far the measured cost is believed: by the time the loop idles or is full while requests are kept out.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Trust } = require('../../src/core/gate/limits/loop-share')

const WAIT_MS = 40

/** Turns of 10 ms each. */
function after(trust, turns, { idledMs = 0, idleShare = 0.5, isContended = true, waitAndSlackMs = WAIT_MS }) {
  const turn = { idledMs, elapsedMs: 10, idleShare, isContended, waitAndSlackMs }
  for (let i = 0; i < turns; i++) trust.onTurn(turn)
  return trust.factor
}

const isNear = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-9, `${value}, not ${expected}`)

test('trust begins at 1, and never exceeds it', () => {
  const trust = new Trust()
  assert.equal(trust.factor, 1)
  assert.equal(after(trust, 100, { idleShare: 0 }), 1)
})

for (const [waitMs, horizonMs] of [
  // The least: the slack of a share.
  [40, 80],
  [100, 200],
  [250, 500],
  [30_000, 500],
]) {
  test(`where requests wait ${waitMs} ms for others, it shrinks by e in ${horizonMs} ms of idling`, () => {
    isNear(after(new Trust(), horizonMs / 10, { idledMs: 10, waitAndSlackMs: waitMs }), Math.exp(-1))
  })
}

test('it shrinks with the time idled, and not with the time gone by', () => {
  isNear(after(new Trust(), 10, { idledMs: 2 }), Math.exp(-20 / 80))
})

test('while requests are held back, it comes back by e in the same time that the loop is full', () => {
  const trust = new Trust()
  const least = after(trust, 16, { idledMs: 10 })
  isNear(after(trust, 8, { idleShare: 0.03 }), least * Math.E)
})

test('between full and idling, trust does not change', () => {
  const trust = new Trust()
  const before = after(trust, 16, { idledMs: 10 })
  assert.equal(after(trust, 100, { idledMs: 0.5, idleShare: 0.07 }), before)
})

test('while nobody is held back, it comes back by e in half a second, however much the loop idles', () => {
  const trust = new Trust()
  const before = after(trust, 24, { idledMs: 10 })
  isNear(after(trust, 50, { idledMs: 10, isContended: false }), before * Math.E)
})
