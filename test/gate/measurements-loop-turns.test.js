'use strict'
// What is measured of the loop's turns: the share of its time that it idles, and the stall-free clock.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LoopTurns, IDLE_SHARE } = require('../../src/core/gate/measurements/loop-turns')
const { FakeClock } = require('../support/fake-clock')

function driven() {
  const clock = new FakeClock()
  const turns = new LoopTurns(clock)
  /** A loop turn that idles first and works then, on requests that are known to cost `workMs`. */
  const turn = (busyMs, idledMs = 0, workMs = 0) => {
    clock.idle(idledMs)
    clock.advance(busyMs)
    turns.onTurn(busyMs, clock.now(), clock.idleMs(), workMs)
  }
  return { clock, turns, turn }
}

const isNear = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-9, `${value}, not ${expected}`)

test('the idle share has a horizon of 50 ms, and is that of the time up to now', () => {
  const { clock, turns, turn } = driven()
  assert.equal(turns.idleShare(clock.now()), 1)
  turn(50)
  isNear(turns.idleShare(clock.now()), Math.exp(-1))
  turn(0, 50)
  isNear(turns.idleShare(clock.now()), 1 - (1 - Math.exp(-1)) * Math.exp(-1))
  const before = turns.idleShare(clock.now())
  clock.advance(25)
  isNear(turns.idleShare(clock.now()), before * Math.exp(-0.5))
})

test('a loop that idles a tenth of its time is idling', () => {
  const { clock, turns, turn } = driven()
  for (let i = 0; i < 100; i++) turn(8.5, 1.5)
  assert.ok(turns.idleShare(clock.now()) >= IDLE_SHARE)
  assert.equal(turns.isIdling(clock.now()), true)
  for (let i = 0; i < 100; i++) turn(9.5, 0.5)
  assert.equal(turns.isIdling(clock.now()), false)
})

test('after a single long turn the loop is full until it has idled again', () => {
  const { clock, turns, turn } = driven()
  turn(1000)
  assert.equal(turns.isIdling(clock.now()), false)
  turn(0, 10)
  assert.equal(turns.isIdling(clock.now()), true)
})

for (const [what, busyMs, workMs, countsMs] of [
  ['a blocking handler counts for its work and 20 ms', 700, 2, 22],
  ['a stopped machine counts for 20 ms', 5000, 0, 20],
  ['a turn of many requests counts in full', 60, 60, 60],
  ['a turn of 20 ms counts in full, whatever is known of its work', 20, 0, 20],
]) {
  test(`on the stall-free clock ${what}`, () => {
    const { clock, turns, turn } = driven()
    const beforeMs = turns.stallFreeMs(clock.now())
    turn(busyMs, 0, workMs)
    assert.equal(turns.stallFreeMs(clock.now()) - beforeMs, countsMs)
  })
}

test('idling counts in full on the stall-free clock', () => {
  const { clock, turns, turn } = driven()
  const beforeMs = turns.stallFreeMs(clock.now())
  turn(1, 300)
  assert.equal(turns.stallFreeMs(clock.now()) - beforeMs, 301)
})

test('a sleep while requests are queued is no idling, and the next idling counts', () => {
  const { clock, turns, turn } = driven()
  turn(500)
  turns.onSleep()
  clock.idle(20)
  assert.equal(turns.isIdling(clock.now()), false)
  turn(0)
  assert.equal(turns.isIdling(clock.now()), false)
  turn(0, 20)
  assert.equal(turns.isIdling(clock.now()), true)
})

test('a ready callback has waited for the busy time of this turn and half of the previous one', () => {
  const { clock, turns, turn } = driven()
  turn(30, 100)
  clock.idle(40)
  clock.advance(5)
  assert.equal(turns.meanReadyDelayMs(clock.now(), clock.idleMs()), 20)
  clock.advance(7)
  turns.onTurn(12, clock.now(), clock.idleMs())
  assert.equal(turns.meanReadyDelayMs(clock.now(), clock.idleMs()), 6)
})
