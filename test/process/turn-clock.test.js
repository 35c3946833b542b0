'use strict'
// The loop's clock, by times told by hand; and once in a real process, that it lets an idle loop sleep.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { INTERVAL_MS, LONG_MS, TurnClock } = require('../../src/core/process/turn-clock')
const { FakeClock } = require('../support/fake-clock')
const { runNode } = require('../support/run-node')

const TIMEOUT_MS = 20_000

function started() {
  const clock = new FakeClock()
  const turnClock = new TurnClock(clock)
  const busy = []
  turnClock.onEachTurn((busyMs) => busy.push(busyMs))
  const handedOver = []
  turnClock.onTurns((...turns) => handedOver.push(turns))
  const intervals = []
  turnClock.onInterval((nowMs, idleMs) => intervals.push([nowMs, idleMs]))
  turnClock.start()
  const turn = (busyMs, idledMs = 0) => {
    clock.idle(idledMs)
    clock.advance(busyMs)
    clock.turn()
  }
  /** The first turn of all ends an interval, and is no part of what a test looks at. */
  const quiet = () => {
    turn(0)
    handedOver.length = intervals.length = 0
  }
  return { clock, turnClock, busy, handedOver, intervals, turn, quiet }
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

const SHORT_MS = LONG_MS / 4

test('short turns are summed, and handed over once an interval', () => {
  const { clock, busy, handedOver, intervals, turn, quiet } = started()
  quiet()
  turn(SHORT_MS, 1)
  turn(2 * SHORT_MS, 2)
  turn(SHORT_MS, 3)
  assert.deepEqual(handedOver, [])
  turn(SHORT_MS, INTERVAL_MS)
  assert.deepEqual(handedOver, [[5 * SHORT_MS, clock.now(), clock.idleMs(), 2 * SHORT_MS]])
  assert.deepEqual(intervals, [[clock.now(), clock.idleMs()]])
  assert.deepEqual(busy.slice(1), [SHORT_MS, 2 * SHORT_MS, SHORT_MS, SHORT_MS])
})

test('a long turn is handed over alone, and the sum before it as of the turn before', () => {
  const { clock, handedOver, intervals, turn, quiet } = started()
  quiet()
  turn(SHORT_MS, 1)
  turn(SHORT_MS, 1)
  const before = [2 * SHORT_MS, clock.now(), clock.idleMs(), SHORT_MS]
  turn(LONG_MS, 1)
  assert.deepEqual(handedOver, [before, [LONG_MS, clock.now(), clock.idleMs(), LONG_MS]])
  assert.deepEqual(intervals, [])
})

test('a turn measured alone is handed over alone, and the sum before it at once', () => {
  const { clock, handedOver, turn, turnClock, quiet } = started()
  quiet()
  turn(SHORT_MS, 1)
  const before = [SHORT_MS, clock.now(), clock.idleMs(), SHORT_MS]
  clock.advance(SHORT_MS)
  turnClock.measureTurnAlone()
  assert.deepEqual(handedOver, [before])
  turnClock.measureTurnAlone()
  turn(SHORT_MS)
  assert.deepEqual(handedOver, [before, [2 * SHORT_MS, clock.now(), clock.idleMs(), 2 * SHORT_MS]])
  turn(SHORT_MS)
  assert.equal(handedOver.length, 2, 'the next turn is not measured alone')
})

test('a listener that calls measureTurnAlone() gets the next turn alone', () => {
  const { handedOver, turn, turnClock, quiet } = started()
  quiet()
  turnClock.onTurns(() => turnClock.measureTurnAlone())
  turn(LONG_MS)
  turn(SHORT_MS)
  turn(SHORT_MS)
  assert.deepEqual(
    handedOver.map(([busyMs]) => busyMs),
    [LONG_MS, SHORT_MS, SHORT_MS]
  )
})

test('there is one callback a turn, however many turns have gone by', () => {
  const { clock } = started()
  for (let i = 0; i < 10; i++) clock.turn()
  assert.equal(clock.scheduled, 1)
})

test('close() leaves nothing scheduled, also when a listener calls it', () => {
  const { clock, turnClock, busy } = started()
  turnClock.onEachTurn(() => turnClock.close())
  clock.turn()
  assert.equal(clock.scheduled, 0)
  clock.turn()
  assert.deepEqual(busy, [0])
  turnClock.close()
  assert.equal(clock.scheduled, 0)
})

// While the timer runs nothing else happens: a loop that spun would turn thousands of times, a sampler of 10
// ms ten.
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
