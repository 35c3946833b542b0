'use strict'
// How long a request may be queued: in a burst, in an overload, and by class. The turns and the overload are
// told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { CRITICAL, NORMAL, PRIORITIES } = require('../../src/core/gate/decision')
const { QueueDelay } = require('../../src/core/gate/limits/queue-delay')
const { LoopTurns } = require('../../src/core/gate/measurements/loop-turns')
const { FakeClock } = require('../support/fake-clock')

const OPTIONS = { maxDelay: 200, targetDelay: 40 }
const MS_PER_START = 2

function driven(options) {
  const clock = new FakeClock()
  const turns = new LoopTurns(clock)
  const given = { isOverload: false, asked: [], waitMs: 0 }
  const overload = {
    isOn(msPerStart, nowMs) {
      given.asked.push([msPerStart, nowMs])
      return given.isOverload
    },
    waitMs: () => given.waitMs,
  }
  const delay = new QueueDelay({ turns, overload: /** @type {any} */ (overload) })
  delay.update({ ...OPTIONS, ...options })
  const turn = (busyMs, workMs = busyMs) => {
    clock.advance(busyMs)
    turns.onTurn(busyMs, clock.now(), clock.idleMs(), workMs)
  }
  const queuedNow = (priority = NORMAL) => ({
    priority,
    queuedMs: clock.now(),
    queuedStallFreeMs: turns.stallFreeMs(clock.now()),
  })
  const tolerated = (priority = NORMAL) => delay.toleratedMs(priority, MS_PER_START, clock.now())
  const isOverdue = (request) => delay.isOverdue(request, given.isOverload, clock.now())
  const overloaded = () => {
    given.isOverload = true
  }
  return { clock, delay, given, isOverdue, overloaded, queuedNow, tolerated, turn }
}

test('a request may be queued for maxDelay in a burst, and for targetDelay in an overload', () => {
  const { clock, given, overloaded, tolerated } = driven()
  assert.equal(tolerated(), 200)
  overloaded()
  assert.equal(tolerated(), 40)
  assert.deepEqual(given.asked.at(-1), [MS_PER_START, clock.now()])
})

test('critical may wait four times as long in an overload, and never longer than maxDelay', () => {
  const { delay, overloaded, tolerated } = driven()
  overloaded()
  assert.deepEqual(
    PRIORITIES.slice(0, 4).map((_, priority) => tolerated(priority)),
    [160, 40, 40, 40]
  )
  delay.update({ maxDelay: 100, targetDelay: 40 })
  assert.deepEqual([tolerated(CRITICAL), tolerated()], [100, 40])
})

test('a request that would wait longer than maxDelay is rejected on arrival in a burst, if what the last ones took says so too', () => {
  const { clock, delay, given } = driven()
  const rejects = (waitMs, ahead = 100) => delay.rejects(waitMs, ahead, NORMAL, MS_PER_START, clock.now())
  assert.equal(rejects(201), false)
  given.waitMs = 201
  assert.deepEqual([rejects(201), rejects(200), rejects(201, 7)], [true, false, false])
})

test('a targetDelay above maxDelay is maxDelay', () => {
  const { overloaded, tolerated } = driven({ maxDelay: 50, targetDelay: 100 })
  overloaded()
  assert.equal(tolerated(), 50)
})

test('the target is not below 1.5 times the long turn that is usual, which a single one is not', () => {
  const { delay, overloaded, tolerated, turn } = driven()
  overloaded()
  // What the requests of a turn are known to take is no long turn.
  for (let i = 0; i < 5; i++) turn(100)
  turn(100, 0)
  assert.equal(tolerated(), 40)
  turn(100, 0)
  const usualMs = tolerated()
  assert.ok(usualMs > 140 && usualMs <= 150, String(usualMs))
  assert.equal(delay.targetMs, usualMs)
  // Turns of a few seconds ago are not usual.
  for (let i = 0; i < 600; i++) turn(10)
  assert.equal(tolerated(), 40)
})

for (const [waitMs, ahead, priority, isOverload, isRejected] of /** @type {const} */ ([
  [41, 8, NORMAL, true, true],
  [40, 8, NORMAL, true, false],
  [1000, 7, NORMAL, true, false],
  [1000, 10, NORMAL, false, false],
  [160, 10, CRITICAL, true, false],
  [161, 10, CRITICAL, true, true],
])) {
  const what = `${waitMs} ms behind ${ahead} of class ${PRIORITIES[priority]}`
  test(`${what} in ${isOverload ? 'an overload' : 'a burst'} is ${isRejected ? '' : 'not '}rejected on arrival`, () => {
    const { clock, delay, given } = driven()
    given.isOverload = isOverload
    assert.equal(delay.rejects(waitMs, ahead, priority, MS_PER_START, clock.now()), isRejected)
  })
}

test('in a burst a request is too old after maxDelay on the stall-free clock, and 5 ms', () => {
  const { isOverdue, queuedNow, turn } = driven()
  const request = queuedNow()
  // A blocking handler: it ages nobody by more than 20 ms.
  turn(1000, 0)
  for (let i = 0; i < 18; i++) turn(10)
  turn(5)
  assert.equal(isOverdue(request), false)
  turn(1)
  assert.equal(isOverdue(request), true)
})

test('in an overload it is too old after targetDelay by any clock, and 5 ms', () => {
  const { isOverdue, overloaded, queuedNow, turn } = driven()
  overloaded()
  const request = queuedNow()
  const critical = queuedNow(CRITICAL)
  turn(45, 0)
  assert.equal(isOverdue(request), false)
  turn(1)
  assert.equal(isOverdue(request), true)
  for (let i = 0; i < 119; i++) turn(1, 0)
  assert.equal(isOverdue(critical), false)
  turn(1)
  assert.equal(isOverdue(critical), true)
})

test('new options hold from the next question on', () => {
  const { delay, tolerated } = driven()
  delay.update({ ...OPTIONS, maxDelay: 1000 })
  assert.equal(tolerated(), 1000)
})
