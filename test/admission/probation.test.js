'use strict'
// A cut taken back at 1000 ms with 200 in flight, when 0.5 a millisecond ended where 2 had before: what ends from 1400 ms on is
// counted until 2400.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Probation } = require('../../src/admission/probation')
const { UsualTime } = require('../../src/admission/usual-time')

const TAKEN_BACK = { inFlight: 200, throughput: 0.5, before: 2, standing: 3 }

function begun() {
  const probation = new Probation()
  probation.begin(1000, TAKEN_BACK)
  return probation
}

/** @returns {number} the verdict on so many answers a millisecond */
function judged(probation, perMs, untilMs = 2400) {
  for (let atMs = 1000; atMs < untilMs; atMs += 1 / perMs) probation.noteEnd(atMs)
  return probation.end(untilMs)
}

function usualOf(ms) {
  const usual = new UsualTime(0)
  for (let i = 0; i < 20; i++) usual.note(ms, i)
  return usual
}

test('it lasts until those in flight have been answered, and a second', () => {
  const probation = begun()
  assert.equal(probation.isOn, true)
  assert.equal(probation.isOver(2399), false)
  assert.equal(probation.isOver(2400), true)
  probation.end(2400)
  assert.equal(probation.isOn, false)
})

test('it was right if the throughput rises again, or nearly, and wrong if it stays', () => {
  assert.equal(judged(begun(), 2), 0)
  assert.equal(judged(begun(), 1.2), 0, 'the middle, but for chance')
  assert.equal(judged(begun(), 0.5), 0.5)
})

test('what ends before those in flight have been answered says nothing', () => {
  const probation = begun()
  for (let atMs = 1000; atMs < 1400; atMs += 0.1) probation.noteEnd(atMs)
  assert.ok(judged(probation, 0.5) > 0)
})

test('if it was wrong, what has been learnt is forgotten, and if it was right it is not', () => {
  for (const [perMs, ms] of [
    [0.5, 20],
    [2, 80],
  ]) {
    const probation = begun()
    const usual = usualOf(20)
    for (let i = 0; i < 200; i++) {
      probation.keep(usual)
      usual.note(80, 1000 + i, 0.1)
    }
    assert.ok(Math.abs(usual.ms - 80) < 0.1)
    judged(probation, perMs)
    assert.ok(Math.abs(usual.ms - ms) < 0.1, String(usual.ms))
  }
})

test('taken back twice, it goes back to what was before the first', () => {
  const probation = begun()
  const usual = usualOf(20)
  probation.keep(usual)
  usual.note(80, 1000, 0.1)
  probation.begin(1500, { ...TAKEN_BACK, standing: 100 })
  probation.keep(usual)
  usual.note(80, 1500, 0.1)
  assert.equal(judged(probation, 0.5, 2900) > 0, true)
  assert.equal(usual.ms, 20)
  assert.equal(probation.standing, 3)
})

test('a cut that is not taken back has nothing to keep', () => {
  const probation = new Probation()
  const usual = usualOf(20)
  probation.keep(usual)
  usual.note(80, 1000, 0.1)
  probation.end(2000)
  assert.ok(usual.ms > 20)
})
