'use strict'
// The loop's clock, by times told by hand; and once in a real process, that it lets an idle loop sleep.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { TurnClock } = require('../../src/signals/turn-clock')
const { FakeClock } = require('../support/fake-clock')
const { runNode } = require('../support/run-node')

const TIMEOUT_MS = 20_000

function started() {
  const clock = new FakeClock()
  const turnClock = new TurnClock(clock)
  const busy = []
  turnClock.onTurn((busyMs) => busy.push(busyMs))
  turnClock.start()
  return { clock, turnClock, busy }
}

for (const stallMs of [0, 0.25, 5, 500, 3_600_000]) {
  test(`a turn of ${stallMs} ms is one value of ${stallMs} ms`, () => {
    const { clock, busy } = started()
    clock.advance(stallMs)
    clock.turn()
    assert.deepEqual(busy, [stallMs])
  })
}

test('idle time is no part of a turn, before its work or after', () => {
  const { clock, busy } = started()
  clock.idle(10_000)
  clock.advance(3)
  clock.idle(50)
  clock.turn()
  clock.idle(60_000)
  clock.turn()
  assert.deepEqual(busy, [3, 0])
})

test('time passes from turn to turn: none is lost, none counted twice', () => {
  const { clock, busy } = started()
  for (const ms of [1, 2, 3]) {
    clock.advance(ms)
    clock.turn()
  }
  assert.deepEqual(busy, [1, 2, 3])
})

test('every listener is called at every turn', () => {
  const { clock, turnClock, busy } = started()
  const heard = []
  turnClock.onTurn((busyMs, nowMs, idleMs) => heard.push([busyMs, nowMs, idleMs]))
  clock.idle(10)
  clock.advance(5)
  clock.turn()
  assert.deepEqual(busy, [5])
  assert.deepEqual(heard, [[5, clock.now(), clock.idleMs()]])
})

test('there is one callback a turn, however many turns have gone by', () => {
  const { clock } = started()
  for (let i = 0; i < 10; i++) clock.turn()
  assert.equal(clock.scheduled, 1)
})

test('close() leaves nothing scheduled, also when a listener calls it', () => {
  const { clock, turnClock, busy } = started()
  turnClock.onTurn(() => turnClock.close())
  clock.turn()
  assert.equal(clock.scheduled, 0)
  clock.turn()
  assert.deepEqual(busy, [0])
  turnClock.close()
  assert.equal(clock.scheduled, 0)
})

// While the timer runs nothing else happens: a loop that spun would turn thousands of times, a sampler of 10 ms ten.
test('an idle loop sleeps with a spillway open', { timeout: TIMEOUT_MS }, async (t) => {
  const { output } = await runNode(
    `require('./src/index.js').createSpillway()
    const { performance } = require('node:perf_hooks')
    const turns = () => performance.nodeTiming.uvMetricsInfo.loopCount
    setTimeout(() => {
      const before = turns()
      setTimeout(() => console.log(JSON.stringify({ turns: turns() - before })), 100)
    }, 50)`,
    { t }
  )
  assert.ok(output.turns <= 3, `${output.turns} turns`)
})
