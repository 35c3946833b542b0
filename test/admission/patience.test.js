'use strict'
// The time of those who wait, told in turns.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { Patience } = require('../../src/admission/patience')

function patienceFrom(nowMs, mostMs = 150) {
  const patience = new Patience(nowMs)
  patience.mostMs = mostMs
  return patience
}

test('turns of up to so long count in full', () => {
  const patience = patienceFrom(1000)
  for (const turnedMs of [1010, 1011, 1161]) patience.noteTurn(turnedMs)
  assert.equal(patience.at(1200) - 1000, 200)
})

test('of a longer one only so much counts, while it lasts and ever after', () => {
  const patience = patienceFrom(0)
  assert.equal(patience.at(2000), 150)
  patience.noteTurn(2000)
  assert.equal(patience.at(2000), 150)
  assert.equal(patience.at(2010), 160)
})

test('who came in the middle of a long turn is as old as who came before it, less what had passed', () => {
  const patience = patienceFrom(0)
  const since = [patience.at(0), patience.at(100), patience.at(900)]
  patience.noteTurn(1000)
  assert.deepEqual(
    since.map((sinceMs) => patience.at(1000) - sinceMs),
    [150, 50, 0]
  )
})

test('it never runs back, nor faster than the clock', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.boolean()), { maxLength: 50 })
  fc.assert(
    fc.property(steps, (passed) => {
      const patience = patienceFrom(0)
      let nowMs = 0
      let before = 0
      for (const [ms, isTurn] of passed) {
        nowMs += ms
        if (isTurn) patience.noteTurn(nowMs)
        const at = patience.at(nowMs)
        assert.ok(at >= before && at <= before + ms, `${before} to ${at} in ${ms}`)
        before = at
      }
    })
  )
})
