'use strict'
// How long a request may be queued: in a burst, in a queue that stands, and by class. Turns of a full loop, told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { QueueDelay } = require('../../src/admission/limits/queue-delay')
const { LoopTurns } = require('../../src/admission/measurements/loop-turns')
const { CRITICAL, NORMAL, PRIORITIES } = require('../../src/admission/verdict')
const { FakeClock } = require('../support/fake-clock')

const OPTIONS = { maxDelay: 200, targetDelay: 100, interval: 500 }

function driven(options) {
  const clock = new FakeClock()
  const turns = new LoopTurns(clock)
  const delay = new QueueDelay(turns, clock.now())
  delay.update({ ...OPTIONS, ...options })
  const turn = (busyMs, { idledMs = 0, workMs = busyMs, isQueueing = true } = {}) => {
    clock.idle(idledMs)
    clock.advance(busyMs)
    turns.onTurn(busyMs, clock.now(), clock.idleMs(), workMs)
    delay.onTurn(clock.now(), isQueueing)
  }
  /** Turns of a full loop, with a queue at the end of each. */
  const fill = (ms) => {
    for (let i = 0; i < ms; i += 10) turn(10)
  }
  /** So that it has drained. */
  const drain = () => turn(1, { idledMs: 100, isQueueing: false })
  const queuedNow = (priority = NORMAL) => ({
    priority,
    queuedMs: clock.now(),
    queuedStallFreeMs: turns.stallFreeMs(clock.now()),
  })
  const tolerated = (priority = NORMAL) => delay.toleratedMs(priority, clock.now())
  return { clock, delay, drain, fill, queuedNow, tolerated, turn }
}

test('a burst may wait for maxDelay, a queue that has stood for an interval for targetDelay', () => {
  const { drain, fill, tolerated } = driven()
  assert.equal(tolerated(), 200)
  drain()
  fill(490)
  assert.equal(tolerated(), 200)
  fill(20)
  assert.equal(tolerated(), 100)
  drain()
  assert.equal(tolerated(), 200)
})

test('an empty queue at a full loop still stands, and so does a filled queue at an idling loop', () => {
  for (const turnGiven of [{ isQueueing: false }, { idledMs: 50 }]) {
    const { fill, tolerated, turn } = driven()
    fill(600)
    turn(10, turnGiven)
    assert.equal(tolerated(), 100)
  }
})

test('a queue that begins in the turn that ends an idling does not stand, in that turn and after it', () => {
  const { clock, delay, drain, fill, tolerated, turn } = driven()
  drain()
  clock.idle(600)
  clock.advance(100)
  delay.onFirstQueued(clock.now())
  assert.equal(tolerated(), 200)
  turn(200)
  assert.equal(tolerated(), 200)
  fill(600)
  assert.equal(tolerated(), 100)
})

test('a queue that begins anew beside a full loop, such as after rejections, still stands', () => {
  const { clock, delay, drain, fill, tolerated } = driven()
  drain()
  fill(600)
  delay.onFirstQueued(clock.now())
  assert.equal(tolerated(), 100)
})

test('for critical every queue is a burst, and for no other class', () => {
  const { fill, tolerated } = driven()
  fill(600)
  assert.deepEqual(
    PRIORITIES.slice(0, 4).map((_, priority) => tolerated(priority)),
    [200, 100, 100, 100]
  )
})

test('a targetDelay above maxDelay is maxDelay', () => {
  const { fill, tolerated } = driven({ maxDelay: 50, targetDelay: 100 })
  fill(600)
  assert.equal(tolerated(), 50)
})

for (const [waitMs, ahead, priority, isStanding, isRejected] of /** @type {const} */ ([
  [101, 10, NORMAL, true, true],
  [100, 10, NORMAL, true, false],
  [1000, 9, NORMAL, true, false],
  [1000, 10, NORMAL, false, false],
  [1000, 10, CRITICAL, true, false],
])) {
  const what = `${waitMs} ms behind ${ahead} of class ${PRIORITIES[priority]}`
  test(`${what} in a ${isStanding ? 'standing queue' : 'burst'} is ${isRejected ? '' : 'not '}rejected on arrival`, () => {
    const { clock, delay, fill } = driven()
    if (isStanding) fill(600)
    assert.equal(delay.rejects(waitMs, ahead, priority, clock.now()), isRejected)
  })
}

test('in a burst a request is too old after maxDelay on the stall-free clock, and 5 ms', () => {
  const { clock, delay, queuedNow, turn } = driven()
  const request = queuedNow()
  // A blocking handler: it ages nobody by more than 20 ms.
  turn(1000, { workMs: 0 })
  for (let i = 0; i < 18; i++) turn(10)
  turn(5)
  assert.equal(delay.isOverdue(request, clock.now()), false)
  turn(1)
  assert.equal(delay.isOverdue(request, clock.now()), true)
})

test('in a standing queue it is too old after targetDelay by any clock, and 5 ms', () => {
  const { clock, delay, fill, queuedNow, turn } = driven()
  fill(600)
  const request = queuedNow()
  const critical = queuedNow(CRITICAL)
  turn(105, { workMs: 0 })
  assert.equal(delay.isOverdue(request, clock.now()), false)
  turn(1)
  assert.equal(delay.isOverdue(request, clock.now()), true)
  assert.equal(delay.isOverdue(critical, clock.now()), false)
})

test('new options hold from the next question on', () => {
  const { delay, tolerated } = driven()
  delay.update({ ...OPTIONS, maxDelay: 1000 })
  assert.equal(tolerated(), 1000)
})
