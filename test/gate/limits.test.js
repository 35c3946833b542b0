'use strict'
// The limits together: what limits now, and why a request that finds no room is rejected. Questions change
// nothing.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Limits } = require('../../src/core/gate/limits/limits')
const { LoopTurns } = require('../../src/core/gate/measurements/loop-turns')
const { CRITICAL, Cause, NORMAL } = require('../../src/core/gate/decision')
const { Ticket } = require('../../src/core/request/request-record')
const { FakeClock } = require('../support/fake-clock')

const OPTIONS = { maxDelay: 200, targetDelay: 100 }

/**
 * @param {{ maxConcurrent?: number, costMs?: number, maxOutstanding?: number }} [given] `maxOutstanding`: how
 *   many can be outstanding
 */
function driven({ maxConcurrent, costMs = 2, maxOutstanding = Number.POSITIVE_INFINITY } = {}) {
  const clock = new FakeClock()
  const turns = new LoopTurns(clock)
  const cost = { ms: costMs, meanMs: costMs, isKnown: true, rejectionMs: 0.03, rejectedShare: 0 }
  const clients = { maxOutstanding, areGateways: false, cpuShare: 1 }
  const limits = new Limits({ cause: new Cause(), clock, cost, turns, clients })
  limits.update({ ...OPTIONS, maxConcurrent })
  /** `arrived`: of a queue that grows, how many came in the turn. */
  const turn = (busyMs, idledMs = 0, arrived = 0) => {
    clock.idle(idledMs)
    clock.advance(busyMs)
    turns.onTurn(busyMs, clock.now(), clock.idleMs(), busyMs)
    const ended = Math.min(arrived, Math.floor(busyMs / costMs))
    limits.onTurn(clock.now(), clock.idleMs(), arrived, ended, arrived > 0)
  }
  const admit = () => {
    const ticket = new Ticket()
    limits.onAdmit(ticket, clock.now(), clock.idleMs())
    return ticket
  }
  /** Ended, after so long. */
  const serve = (count, tookMs) => {
    for (let i = 0; i < count; i++) {
      const ticket = admit()
      clock.idle(tookMs)
      limits.onEnd(ticket, clock.now(), clock.idleMs())
    }
  }
  /** Turns of 10 ms with twice as many requests as the loop serves. */
  const overload = (ms) => {
    for (let i = 0; i < ms; i += 10) turn(10, 0, 20 / costMs)
  }
  const current = () => limits.current(clock.now())
  /** How many may be in flight, by which limit, and how long a request may be queued. */
  const figures = () => [current().limit, current().by, limits.toleratedMs(NORMAL, clock.now())]
  return { admit, clock, cost, current, figures, limits, overload, serve, turn, turns }
}

test('a loop that idles limits nothing', () => {
  const { figures, turn } = driven()
  turn(1, 100)
  assert.deepEqual(figures(), [Number.POSITIVE_INFINITY, undefined, 200])
})

test('a full loop limits, and in an overload a request may wait for targetDelay only', () => {
  const { figures, overload, turn } = driven()
  turn(10, 100)
  overload(200)
  assert.deepEqual(figures(), [20, 'loop', 200])
  overload(300)
  assert.deepEqual(figures(), [20, 'loop', 100])
  turn(10, 100)
  assert.deepEqual(figures(), [Number.POSITIVE_INFINITY, undefined, 200])
})

test('a loop that sleeps because the gate awaits more connections has no room: the overload goes on', () => {
  const { clock, limits, turn, turns } = driven()
  for (const sleeps of [false, true]) {
    turn(10, 1000)
    for (let i = 0; i < 50; i++) {
      if (sleeps) turns.onSleep()
      turn(4, 6, 10)
    }
    assert.equal(limits.isOverload(clock.now()), sleeps)
  }
})

test('clients that bound the queue to 450 ms make no overload, by what each of their requests takes', () => {
  for (const [maxOutstanding, isOverload] of /** @type {const} */ ([
    [225, false],
    [226, true],
  ])) {
    const { clock, limits, overload } = driven({ maxOutstanding })
    overload(1000)
    assert.equal(limits.isOverload(clock.now()), isOverload)
  }
})

test('a queue that begins in the turn that ends an idling does not stand, in that turn and after it', () => {
  const { clock, limits, overload } = driven()
  overload(500)
  clock.idle(600)
  clock.advance(100)
  limits.onFirstQueued(clock.now())
  assert.equal(limits.isOverload(clock.now()), false)
  overload(290)
  assert.equal(limits.isOverload(clock.now()), false)
  overload(200)
  assert.equal(limits.isOverload(clock.now()), true)
})

test('a queue that begins anew beside a full loop, such as after rejections, still stands', () => {
  const { clock, limits, overload } = driven()
  overload(500)
  limits.onFirstQueued(clock.now())
  assert.equal(limits.isOverload(clock.now()), true)
})

test('an empty queue beside a full loop still stands', () => {
  const { clock, limits, overload, turn } = driven()
  overload(500)
  turn(10)
  assert.equal(limits.isOverload(clock.now()), true)
})

test('cheap requests that ended while the queue stood say nothing about the load of today', () => {
  const { clock, limits, overload } = driven({ maxOutstanding: 300 })
  // Ten turns with 200 each, as a service that warms up or answers health checks.
  for (let i = 0; i < 10; i++) {
    clock.advance(10)
    limits.onTurn(clock.now(), clock.idleMs(), 200, 200, true)
  }
  overload(500)
  assert.equal(limits.isOverload(clock.now()), true)
})

test('with all slots in use, a request takes what a slot takes: that tells an overload', () => {
  const { admit, clock, limits, serve, turn } = driven({ maxConcurrent: 1, costMs: 0.1 })
  serve(500, 50)
  admit()
  // A fifth of a request each turn is as much as the slot serves, and next to nothing for the loop.
  for (let i = 0; i < 300; i++) turn(10, 0, i % 5 === 0 ? 1 : 0)
  assert.equal(limits.isOverload(clock.now()), true)
})

for (const [maxConcurrent, isFull, expected] of /** @type {const} */ ([
  [5, false, { limit: 5, by: 'concurrency' }],
  [5, true, { limit: 5, by: 'concurrency' }],
  [30, true, { limit: 20, by: 'loop' }],
])) {
  test(`with maxConcurrent ${maxConcurrent} a ${isFull ? 'full' : 'idling'} loop is limited by ${expected.by}`, () => {
    const { current, turn } = driven({ maxConcurrent })
    if (isFull) turn(200)
    const { limit, by } = current()
    assert.deepEqual({ limit, by }, expected)
  })
}

test('with maxConcurrent in flight no slot is free, whatever the loop does', () => {
  const { admit, clock, limits } = driven({ maxConcurrent: 2, costMs: 0 })
  admit()
  assert.deepEqual([limits.hasFreeSlot(clock.now()), limits.shortResource], [true, 'loop'])
  admit()
  assert.deepEqual([limits.hasFreeSlot(clock.now()), limits.isAtMaxConcurrent], [false, true])
  assert.deepEqual([limits.shortResource, limits.inFlight], ['concurrency', 2])
})

test('if slots are short, the expected wait follows from durations; else from costs', () => {
  const { admit, limits, serve } = driven({ maxConcurrent: 4 })
  serve(1000, 100)
  assert.equal(limits.expectedWaitMs(10), 20)
  for (let i = 0; i < 4; i++) admit()
  assert.ok(Math.abs(limits.expectedWaitMs(10) - 250) < 1e-6, String(limits.expectedWaitMs(10)))
})

test('a request that would wait longer for a slot than is tolerated is rejected for concurrency', () => {
  const { admit, clock, limits } = driven({ maxConcurrent: 1 })
  admit()
  const reasonFor = (expectedWaitMs) => limits.reasonFor(expectedWaitMs, 1, NORMAL, clock.now())
  assert.deepEqual([reasonFor(200), reasonFor(201)], [undefined, 'concurrency'])
})

test('a request that would wait longer for the loop than is tolerated is rejected for the loop in an overload', () => {
  const { clock, limits, overload } = driven()
  const reasonFor = (expectedWaitMs, priority = NORMAL) =>
    limits.reasonFor(expectedWaitMs, 50, priority, clock.now())
  assert.equal(reasonFor(1000), undefined)
  overload(500)
  assert.deepEqual([reasonFor(100), reasonFor(101), reasonFor(101, CRITICAL)], [undefined, 'loop', undefined])
})

test('while the cost of a request is unknown, none is rejected for the loop', () => {
  const { clock, cost, limits, overload } = driven()
  overload(500)
  const reason = () => limits.reasonFor(101, 50, NORMAL, clock.now())
  assert.deepEqual([limits.isLoopShort(clock.now()), reason()], [true, 'loop'])
  cost.isKnown = false
  assert.deepEqual([limits.isLoopShort(clock.now()), reason()], [false, undefined])
})

test('a request that was held back reduces trust at the end of an idling turn, and at no later one', () => {
  const { admit, limits, turn } = driven({ costMs: 100 })
  for (let i = 0; i < 8; i++) admit()
  const eachAfter = (isHeldBack) => {
    if (isHeldBack) limits.onHeldBack('loop')
    turn(1, 10)
    return limits.loop.expectedCostMs
  }
  assert.equal(eachAfter(false), 100)
  const doubted = eachAfter(true)
  assert.ok(doubted < 95, String(doubted))
  assert.ok(eachAfter(false) > doubted)
})

test('a request that was held back for another resource does not reduce trust', () => {
  const { admit, limits, turn } = driven({ costMs: 100 })
  for (let i = 0; i < 8; i++) admit()
  for (const reason of ['memory', 'concurrency', 'shortage']) {
    limits.onHeldBack(reason)
    turn(1, 10)
    assert.equal(limits.loop.expectedCostMs, 100)
  }
})

test('a stream of ten minutes that ends hardly changes the expected wait for a slot', () => {
  const { admit, clock, limits, serve } = driven({ maxConcurrent: 4 })
  const stream = admit()
  serve(500, 100)
  clock.advance(600_000)
  limits.onEnd(stream, clock.now(), clock.idleMs())
  for (let i = 0; i < 4; i++) admit()
  assert.ok(limits.expectedWaitMs(10) < 400, String(limits.expectedWaitMs(10)))
})

test('queries change nothing', () => {
  const asked = driven({ maxConcurrent: 30 })
  const other = driven({ maxConcurrent: 30 })
  const askAll = ({ clock, limits }) => {
    const nowMs = clock.now()
    limits.current(nowMs)
    limits.hasFreeSlot(nowMs)
    limits.expectedWaitMs(10)
    limits.reasonFor(1000, 10, NORMAL, nowMs)
    limits.isOverload(nowMs)
    return [limits.shortResource, limits.isAtMaxConcurrent, limits.loop.limit]
  }
  for (let i = 0; i < 50; i++) {
    for (const each of [asked, other]) {
      each.turn(20, i % 3, i % 20)
      each.admit()
      if (i % 2 === 0) each.limits.onHeldBack('loop')
    }
    for (let times = 0; times < 100; times++) askAll(asked)
  }
  assert.deepEqual([asked.current(), askAll(asked)], [other.current(), askAll(other)])
})
