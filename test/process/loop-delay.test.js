'use strict'
// Loop delay as a snapshot shows it, with time told by hand, and the longest turn since a moment.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { LongestTurns } = require('../../src/core/process/loop-delay')
const { Spillway } = require('../../src/spillway')
const { FakeClock } = require('../support/fake-clock')

const NOTHING = { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 }

function started(t) {
  const clock = new FakeClock()
  const spillway = new Spillway({ logger: false }, clock)
  t.after(() => spillway.close())
  return { clock, delayMs: () => spillway.snapshot().runtime.loop.delayMs }
}

function turns(clock, ...busyMs) {
  for (const ms of busyMs) {
    clock.advance(ms)
    clock.turn()
  }
}

const isNear = (value, exact) => assert.ok(Math.abs(value - exact) <= exact * 0.01, `${value} for ${exact}`)

test('before the first turn there is no delay', (t) => {
  assert.deepEqual(started(t).delayMs(), NOTHING)
})

test('a stall of half a second among many short turns is not lost', (t) => {
  const { clock, delayMs } = started(t)
  turns(clock, ...new Array(500).fill(1), 500, ...new Array(499).fill(1))
  const { min, max, p50, p99 } = delayMs()
  isNear(max, 500)
  for (const each of [min, p50, p99]) isNear(each, 1)
})

test('a turn longer than a minute is shown as a minute', (t) => {
  const { clock, delayMs } = started(t)
  turns(clock, 300_000)
  isNear(delayMs().max, 60_000)
})

test('sleep adds nothing', (t) => {
  const { clock, delayMs } = started(t)
  turns(clock, 2)
  for (let i = 0; i < 10; i++) {
    clock.idle(1000)
    turns(clock, 2)
  }
  isNear(delayMs().max, 2)
  isNear(delayMs().mean, 2)
})

test('reading resets nothing: two readers see the same', (t) => {
  const { clock, delayMs } = started(t)
  turns(clock, 1, 20, 300)
  const first = delayMs()
  assert.deepEqual(delayMs(), first)
  isNear(first.max, 300)
})

test('a stall is forgotten after a minute', (t) => {
  const { clock, delayMs } = started(t)
  turns(clock, 400)
  for (let second = 0; second < 61; second++) {
    clock.idle(999)
    turns(clock, 1)
  }
  isNear(delayMs().max, 1)
  clock.idle(3_600_000)
  assert.deepEqual(delayMs(), NOTHING)
})

test('the longest turn is the same as by a search through all turns of a millisecond or more', () => {
  const turn = fc.integer({ min: 0, max: 50 })
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 100 }), fc.nat(3000), (turns, sinceMs) => {
      const longest = new LongestTurns()
      let nowMs = 0
      const ended = turns.map((busyMs) => {
        nowMs += busyMs + 10
        longest.record(busyMs, nowMs)
        return { busyMs, endMs: nowMs }
      })
      const expected = Math.max(
        0,
        ...ended.filter(({ endMs }) => endMs >= sinceMs).map(({ busyMs }) => busyMs)
      )
      assert.equal(longest.since(sinceMs), expected)
    })
  )
})

test('turns that keep getting shorter take bounded memory: the oldest are forgotten', () => {
  const longest = new LongestTurns()
  for (let i = 0; i < 1000; i++) longest.record(2000 - i, i)
  assert.equal(longest.since(0), 2000 - (1000 - 128))
  assert.equal(longest.since(999), 1001)
})
