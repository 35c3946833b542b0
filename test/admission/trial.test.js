'use strict'
// A cut at 1000 ms, before which 40 were let in that found 41 to 80 in flight: those let in since find fewer, and take less
// before a pool, or as long as ever.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { FAILED, OPEN, Trial, UNCLEAR, WORKED } = require('../../src/admission/trial')
const { UsualTime } = require('../../src/admission/usual-time')

const CUT_MS = 1000

function usualOf(ms) {
  const usual = new UsualTime(0)
  for (let i = 0; i < 40; i++) usual.note(ms, i)
  return usual
}

/** Spread by a fifth to both sides. */
const spread = (ms, i) => ms * (0.8 + (0.4 * ((i * 7) % 11)) / 10)

/** @param {{ usual: any, beforeMs: number, from?: number }} given */
function cut({ usual, beforeMs, from = 0 }) {
  const trial = new Trial()
  trial.begin(CUT_MS, 1)
  for (let i = from; i < 40; i++) {
    const tookMs = spread(beforeMs, i)
    trial.noteEnd(usual, tookMs, CUT_MS - 20 + i / 4 + tookMs, 41 + i)
  }
  return trial
}

/** So many are let in after it, one a millisecond, */
function admit(trial, count, fromMs = CUT_MS + 50) {
  for (let i = 0; i < count; i++) trial.noteAdmit(fromMs + i)
}

/** and some of them end. */
function end(trial, { usual, afterMs, among = 30, from = 0, to, fromMs = CUT_MS + 50 }) {
  for (let i = from; i < to; i++) {
    const tookMs = spread(afterMs, i)
    trial.noteEnd(usual, tookMs, fromMs + i + tookMs, among)
  }
}

function letIn(trial, { count = 32, fromMs, ...given }) {
  admit(trial, count, fromMs)
  end(trial, { ...given, to: count, fromMs })
}

test('it is open until three quarters of the first 32 let in since have ended', () => {
  const usual = usualOf(20)
  const trial = cut({ usual, beforeMs: 100 })
  admit(trial, 40)
  end(trial, { usual, afterMs: 50, to: 23 })
  assert.equal(trial.verdict(0), OPEN)
  assert.equal(trial.count, 23)
  end(trial, { usual, afterMs: 50, from: 23, to: 24 })
  assert.equal(trial.verdict(0), WORKED)
})

for (const [what, given, expected] of [
  ['half as long beside half as many', { afterMs: 50, among: 30 }, WORKED],
  ['a third as long', { afterMs: 33, among: 30 }, WORKED],
  ['as long as before', { afterMs: 100, among: 30 }, FAILED],
  ['even longer', { afterMs: 150, among: 30 }, FAILED],
  ['in between', { afterMs: 71, among: 30 }, UNCLEAR],
  ['as long beside nearly as many, which is too small a cut to fail', { afterMs: 100, among: 55 }, UNCLEAR],
]) {
  test(`those let in since take ${what}`, () => {
    const usual = usualOf(20)
    const trial = cut({ usual, beforeMs: 100 })
    letIn(trial, { usual, ...given })
    assert.equal(trial.verdict(0), expected)
  })
}

test('what stands, whatever ends, is in no line', () => {
  const usual = usualOf(20)
  const trial = cut({ usual, beforeMs: 100 })
  letIn(trial, { usual, afterMs: 100, among: 55 })
  assert.equal(trial.verdict(0), UNCLEAR)
  assert.equal(trial.verdict(40), FAILED)
})

test('a slow route and a fast one are each measured in their own usual time', () => {
  const [slow, fast] = [usualOf(200), usualOf(10)]
  const trial = cut({ usual: slow, beforeMs: 400 })
  letIn(trial, { usual: fast, afterMs: 20, among: 30 })
  assert.equal(trial.verdict(0), FAILED)
})

test('where all let in since overtake all before them, there is no line', () => {
  const usual = usualOf(20)
  const trial = cut({ usual, beforeMs: 100, from: 40 })
  letIn(trial, { usual, afterMs: 30, among: 30 })
  assert.equal(trial.verdict(0), FAILED)
})

test('those of the cohort that end untold are not awaited for ever', () => {
  const usual = usualOf(20)
  const trial = cut({ usual, beforeMs: 100 })
  admit(trial, 80)
  end(trial, { usual, afterMs: 50, to: 10 })
  end(trial, { usual, afterMs: 50, from: 40, to: 71 })
  assert.equal(trial.verdict(0), OPEN)
  end(trial, { usual, afterMs: 50, from: 71, to: 72 })
  assert.equal(trial.verdict(0), WORKED)
})

test('an unclear one that is made deeper keeps what was before the first cut', () => {
  const usual = usualOf(20)
  const trial = cut({ usual, beforeMs: 100 })
  letIn(trial, { usual, afterMs: 100, among: 55 })
  assert.equal(trial.verdict(0), UNCLEAR)
  trial.begin(1500, 1)
  assert.equal(trial.verdict(0), OPEN)
  letIn(trial, { usual, afterMs: 100, among: 40, fromMs: 1550 })
  assert.equal(trial.verdict(0), FAILED)
})

test('if it has failed, what requests take now is usual, until a cut works soon after', () => {
  const usual = usualOf(20)
  const trial = cut({ usual, beforeMs: 100 })
  letIn(trial, { usual, afterMs: 100, among: 30 })
  assert.equal(trial.verdict(0), FAILED)
  assert.ok(Math.abs(trial.learn(2000) - 98) < 5)
  assert.ok(Math.abs(usual.ms - 98) < 5, String(usual.ms))
  trial.end()
  trial.begin(3000, 1)
  trial.unlearn()
  assert.equal(usual.ms, 20)
})

test('what was learnt longer ago stays', () => {
  const usual = usualOf(20)
  const trial = cut({ usual, beforeMs: 100 })
  letIn(trial, { usual, afterMs: 100, among: 30 })
  trial.learn(2000)
  trial.end()
  trial.begin(12_001, 1)
  trial.unlearn()
  assert.ok(usual.ms > 90, String(usual.ms))
})

test('a route that is not late keeps its usual time', () => {
  const [late, usual] = [usualOf(20), usualOf(50)]
  const trial = cut({ usual: late, beforeMs: 100 })
  letIn(trial, { usual: late, afterMs: 100, among: 30, count: 16 })
  letIn(trial, { usual, afterMs: 40, among: 30, count: 16 })
  trial.learn(2000)
  assert.equal(usual.ms, 50)
  assert.ok(late.ms > 90, String(late.ms))
})
