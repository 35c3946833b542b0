'use strict'
// No slot is lost or given twice, whatever arrives and ends in which order: random worlds with two limits,
// in hand-made time.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const fc = require('fast-check')
const { Cause, PRIORITIES } = require('../../src/core/gate/decision')
const { Bulkheads } = require('../../src/features/bulkheads/bulkheads')
const { FakeClock } = require('../support/fake-clock')
const { requestWith } = require('../support/request')

const NEVER = Number.POSITIVE_INFINITY

class TimedClock extends FakeClock {
  isFrozen = false
  #timers = new Set()

  after = (delayMs, callback) => {
    const timer = { atMs: this.now() + delayMs, callback }
    this.#timers.add(timer)
    return timer
  }

  cancel = (timer) => this.#timers.delete(timer)

  pass(ms) {
    this.advance(ms)
    for (const timer of [...this.#timers])
      if (timer.atMs <= this.now() && this.#timers.delete(timer)) timer.callback()
    this.turn()
  }
}

/** Limits `a` and `b`, and an admission that counts what it is told. */
class World {
  clock = new TimedClock()
  requests = []
  wouldReject = []
  /** How many of those that the gate admits would not run. */
  withdrawn = 0
  /** The requests that wait, as the gate knows them. */
  paused = new Set()
  admission = {
    mode: 'adaptive',
    cause: new Cause(),
    hooks: { classifies: false, keyOf: ({ req }) => req.key },
    measurements: { turns: { stallFreeMs: (nowMs) => nowMs, beganIdle: true, isIdling: () => true } },
    stats: { decided: 0, wouldReject: 0 },
    maxWaitMs: ({ req }) => req.deadlineMs ?? NEVER,
    rejectAdmitted: (request, reason) => {
      assert.equal(request.ticket.rejection, undefined, 'rejected twice')
      request.ticket.onReject(reason, 0, this.admission.cause)
    },
    onWouldReject: (reason) => this.wouldReject.push(reason),
    onWouldWithdraw: () => this.withdrawn++,
    pause: (request) => assert.ok(!this.paused.has(request) && this.paused.add(request)),
    resume: (request) => assert.ok(this.paused.delete(request)),
  }

  constructor(options = {}) {
    const { admission, clock } = this
    const entrance = { enter: (req) => req.request }
    const recorder = {
      find() {},
      get endedMs() {
        return clock.now()
      },
    }
    const timeouts = { leftMs: ({ req }) => req.timeoutMs ?? NEVER }
    this.limits = new Bulkheads(/** @type {any} */ ({ admission, clock, entrance, recorder, timeouts }))
    const given = { maxConcurrent: 2, maxQueue: 3, maxWait: 50, key: undefined, ...options }
    this.a = this.limits.add({ ...given, name: 'a' })
    this.b = this.limits.add({ ...given, name: 'b', maxConcurrent: 1 })
  }

  /** @param {('a' | 'b')[]} way the limits that it passes */
  arrive(
    way,
    { priority = 'normal', key = undefined, deadlineMs = NEVER, timeoutMs = NEVER, isGone = false } = {}
  ) {
    const socket = new EventEmitter()
    const req = { headers: {}, socket, httpVersionMajor: 1, key, deadlineMs, timeoutMs }
    const res = { headersSent: false, destroyed: false, on() {} }
    const request = requestWith({ req, res, way, ran: 0, hasEnded: false, passed: new Set() })
    request.req.request = request
    request.ticket.isDecided = true
    request.ticket.priority = PRIORITIES.indexOf(priority)
    request.markRunning()
    this.requests.push(request)
    if (isGone) this.end(request)
    this.#pass(request, way)
    return request
  }

  #pass(request, [name, ...later]) {
    if (name === undefined) {
      request.ran++
      return
    }
    this[name](request.req, request.res, () => {
      const { running, maxConcurrent } = this.figures(name)
      const isBypass = request.ticket.priority === PRIORITIES.indexOf('bypass')
      if (!isBypass) {
        assert.ok(!request.hasEnded && !request.socket.destroyed && !request.res.headersSent, 'nobody waits')
        if (this.admission.mode !== 'observe') assert.ok(running <= maxConcurrent, `${running} in ${name}`)
        request.passed.add(name)
      }
      this.#pass(request, later)
    })
  }

  end(request) {
    if (request.hasEnded) return
    request.hasEnded = true
    request.markEnded()
    this.limits.onEnd(request)
  }

  figures(name) {
    return this.limits.section().find((each) => each.name === name)
  }
}

const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('arrive'),
      way: fc.constantFrom(['a'], ['b'], ['a', 'b'], ['a', 'a'], ['b', 'a']),
      priority: fc.constantFrom(...PRIORITIES),
      key: fc.constantFrom(undefined, 'x', 'y', ''),
      deadlineMs: fc.constantFrom(NEVER, NEVER, 0, 20),
      isGone: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('end', 'leave', 'reset', 'answer', 'halfClose'),
      which: fc.nat(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.nat({ max: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('observe', 'adaptive') }) }
)

/** @type {Record<string, (world: World, step: any) => void>} */
const STEPS = {
  arrive: (world, { way, ...given }) => void world.arrive(way, given),
  end: (world, { which }) => void withOne(world, which, (request) => world.end(request)),
  leave: (world, { which }) => void withOne(world, which, (request) => world.end(request)),
  // The connection is closed, and its end is reported later.
  reset: (world, { which }) =>
    void withOne(world, which, (request) => {
      request.socket.destroyed = true
    }),
  // Other code answers a request that waits.
  answer: (world, { which }) =>
    void withOne(world, which, (request) => {
      request.res.headersSent = true
      request.markAnswering()
    }),
  halfClose: (world, { which }) => void withOne(world, which, (request) => request.socket.emit('end')),
  turn: ({ clock }) => clock.turn(),
  pass: ({ clock }, { ms }) => clock.pass(ms),
  observe: ({ admission }) => {
    admission.mode = 'observe'
  },
  adaptive: ({ admission }) => {
    admission.mode = 'adaptive'
  },
}

function withOne({ requests }, which, act) {
  const live = requests.filter(({ hasEnded }) => !hasEnded)
  if (live.length > 0) act(live[which % live.length])
}

function check(world) {
  for (const request of world.requests) {
    assert.ok(request.ran <= 1, 'a handler ran twice')
    assert.ok(request.ran === 0 || !request.ticket.isRejected, 'a rejected handler ran')
    assert.ok(request.ran === 0 || !world.paused.has(request), 'the gate takes it to wait')
  }
  for (const name of ['a', 'b']) {
    const { running, queued, maxQueue } = world.figures(name)
    assert.ok(queued <= maxQueue)
    const holders = world.requests.filter(({ hasEnded, passed }) => !hasEnded && passed.has(name))
    assert.equal(running, holders.length, `slots of ${name}`)
  }
}

test('no slot is lost or given twice, whatever arrives, ends, leaves and is answered by others', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 120, size: 'max' }), (steps) => {
      const world = new World()
      for (const step of steps) {
        STEPS[step.kind](world, step)
        check(world)
      }
      // Everything that is due has happened: a free slot and a queue do not go together.
      for (let i = 0; i < 10; i++) world.clock.turn()
      for (const name of ['a', 'b']) {
        const { running, queued, maxConcurrent } = world.figures(name)
        if (world.admission.mode !== 'observe')
          assert.ok(queued === 0 || running >= maxConcurrent, 'a slot is lost')
      }
      world.admission.mode = 'adaptive'
      for (let i = 0; i < 20; i++) world.clock.pass(20)
      for (const request of world.requests) {
        const isSettled =
          request.ran === 1 || request.ticket.isRejected || request.hasEnded || request.res.headersSent
        assert.ok(isSettled || request.socket.destroyed, 'a request waits for ever')
      }
      for (const request of world.requests) world.end(request)
      for (const name of ['a', 'b']) assert.deepEqual(pick(world.figures(name)), { running: 0, queued: 0 })
      // All slots are there again.
      const again = [world.arrive(['a']), world.arrive(['a']), world.arrive(['b'])]
      assert.deepEqual(
        again.map(({ ran }) => ran),
        [1, 1, 1]
      )
      assert.equal(world.arrive(['a']).ran, 0)
    }),
    { numRuns: 500 }
  )
})

const pick = ({ running, queued }) => ({ running, queued })

test('mode observe counts what does not fit the slots, the queue and the wait', () => {
  const world = new World({ maxConcurrent: 2, maxQueue: 2, maxWait: 1000 })
  world.admission.mode = 'observe'
  // A slot is held for 100 ms.
  const first = world.arrive(['a'])
  world.clock.pass(100)
  world.end(first)
  const all = Array.from({ length: 10 }, () => world.arrive(['a']))
  assert.deepEqual(
    all.map(({ ran }) => ran),
    Array(10).fill(1)
  )
  // Two run and two wait.
  assert.deepEqual(world.wouldReject, Array(6).fill('limit:a'))
  assert.deepEqual([world.figures('a').wouldReject, world.figures('a').rejected], [6, 0])
})

test('mode observe counts a request that would wait longer than maxWait, and none while a slot is free', () => {
  const world = new World({ maxQueue: 100, maxWait: 150 })
  world.admission.mode = 'observe'
  const first = world.arrive(['a'])
  world.clock.pass(100)
  world.end(first)
  for (let i = 0; i < 8; i++) world.arrive(['a'])
  // Two run, two wait for 100 ms, and the others would wait for 200 ms. They count when they would give up.
  assert.deepEqual([world.withdrawn, world.wouldReject.length], [4, 0])
  world.clock.pass(149)
  assert.equal(world.wouldReject.length, 0)
  world.clock.pass(1)
  assert.equal(world.wouldReject.length, 4)
  for (const request of world.requests) world.end(request)
  world.clock.pass(1)
  for (let i = 0; i < 100; i++) world.end(world.arrive(['a']))
  assert.equal(world.wouldReject.length, 4)
})

/** A limit of one slot in mode observe, whose last request held it for ten milliseconds. */
function observing(options) {
  const world = new World({ maxConcurrent: 1, ...options })
  world.admission.mode = 'observe'
  const first = world.arrive(['a'])
  world.clock.pass(10)
  world.end(first)
  world.clock.pass(1000)
  return world
}

const arriveTen = (world) => Array.from({ length: 10 }, () => world.arrive(['a']))

for (const [isFull, count] of /** @type {[boolean, number][]} */ ([
  [true, 0],
  [false, 8],
])) {
  test(`mode observe: ten that a ${isFull ? 'full' : 'idling'} loop reads in one turn of 100 ms: ${count} are counted`, () => {
    const world = observing({ maxQueue: 100, maxWait: 15 })
    const { turns } = world.admission.measurements
    Object.assign(turns, { beganIdle: !isFull, mostReadyDelayMs: () => 100 })
    arriveTen(world)
    world.clock.pass(100)
    world.clock.turn()
    assert.equal(world.withdrawn, count)
    world.clock.pass(15)
    assert.equal(world.wouldReject.length, count)
  })
}

test('mode observe: those that wait in vain fill the queue until they give up', () => {
  const world = observing({ maxQueue: 4, maxWait: 5 })
  arriveTen(world)
  // One runs, four wait in vain, and the queue is full for the others.
  assert.deepEqual([world.withdrawn, world.wouldReject.length], [9, 5])
  world.clock.pass(10)
  assert.equal(world.wouldReject.length, 9)
})

test('those that wait in vain in mode observe are not counted after it has ended', () => {
  const world = observing({ maxQueue: 100, maxWait: 5 })
  arriveTen(world)
  world.admission.mode = 'adaptive'
  world.limits.onUpdate()
  world.clock.pass(10)
  assert.deepEqual([world.withdrawn, world.wouldReject.length], [9, 0])
})

test('mode observe: a limit does not count again what the gate counts', () => {
  const world = observing({ maxQueue: 0 })
  const { stats } = world.admission
  Object.assign(stats, { decided: 1000, wouldReject: 500 })
  world.limits.onInterval()
  arriveTen(world)
  // A mean over 1200 requests: four of ten are the gate's. One runs.
  assert.equal(world.wouldReject.length, 5)
  assert.equal(world.figures('a').wouldReject, 5)
  // What the limits count is not the gate's.
  for (let i = 0; i < 20; i++) {
    stats.decided += 1000
    stats.wouldReject += i === 0 ? 5 : 0
    world.limits.onInterval()
  }
  for (const request of world.requests) world.end(request)
  world.clock.pass(1000)
  arriveTen(world)
  assert.equal(world.wouldReject.length, 14)
})

test('mode observe: a slot that a full loop held says nothing of how long one is held', () => {
  const world = observing({ maxQueue: 0 })
  world.admission.measurements.turns.isIdling = () => false
  const [first] = arriveTen(world)
  world.clock.pass(2000)
  world.end(first)
  assert.equal(world.figures('a').heldMs, 10)
  world.admission.mode = 'adaptive'
  world.end(world.requests.at(-1))
  assert.ok(world.figures('a').heldMs > 10)
})

test('mode observe: while more run than there are slots, a wait for the loop says nothing of how long one is held', () => {
  const world = observing({ maxQueue: 0 })
  const [first, second, ...others] = arriveTen(world)
  world.clock.advance(30)
  world.end(first)
  assert.equal(world.figures('a').heldMs, 10)
  // The request awaits something else: the loop idles.
  world.clock.idle(70)
  world.end(second)
  const { heldMs } = world.figures('a')
  assert.ok(heldMs > 10)
  // The last one had a slot of its own.
  const last = others.pop()
  for (const request of others) world.end(request)
  const before = world.figures('a').heldMs
  world.clock.advance(10_000)
  world.end(last)
  assert.ok(world.figures('a').heldMs > before)
})

test('a request waits no longer than maxWait, in the loop time that others leave', () => {
  const world = new World({ maxWait: 50 })
  world.arrive(['b'])
  const waits = world.arrive(['b'])
  world.clock.pass(49)
  world.clock.turn()
  assert.equal(waits.ticket.isRejected, false)
  // A stall of the loop does not count as a wait for a slot.
  world.admission.measurements.turns.stallFreeMs = (nowMs) => nowMs - 500
  world.clock.pass(500)
  world.clock.turn()
  assert.equal(waits.ticket.isRejected, false)
  world.clock.pass(20)
  world.clock.turn()
  assert.equal(waits.ticket.rejection?.reason, 'limit:b')
})

test('a slot that becomes free in the turn in which maxWait ends is taken', () => {
  const world = new World({ maxWait: 50 })
  const first = world.arrive(['b'])
  const waits = world.arrive(['b'])
  world.clock.advance(50)
  world.end(first)
  world.clock.pass(0)
  world.clock.turn()
  assert.equal(waits.ran, 1)
})

test('a newcomer does not overtake those that wait, though a slot is free', () => {
  const world = new World()
  const first = world.arrive(['b'])
  const waits = world.arrive(['b'])
  world.end(first)
  const newcomer = world.arrive(['b'])
  assert.equal(newcomer.ran, 0)
  world.clock.turn()
  assert.deepEqual([waits.ran, newcomer.ran], [1, 0])
})

test('a deadline that is nearer than maxWait ends the wait', () => {
  const world = new World({ maxWait: 1000 })
  world.arrive(['b'])
  const waits = world.arrive(['b'], { deadlineMs: 20 })
  world.clock.pass(20)
  world.clock.turn()
  assert.equal(waits.ticket.rejection?.reason, 'limit:b')
})

test('errors.timeout, if it is nearer than maxWait, ends the wait', () => {
  const world = new World({ maxWait: 1000 })
  world.arrive(['b'])
  const waits = world.arrive(['b'], { timeoutMs: 20 })
  world.clock.pass(20)
  world.clock.turn()
  assert.equal(waits.ticket.rejection?.reason, 'limit:b')
})

test('a slot that is free before the timer looks goes to nobody whose deadline has passed', () => {
  const world = new World({ maxWait: 1000 })
  const first = world.arrive(['b'])
  const late = world.arrive(['b'], { timeoutMs: 20 })
  const next = world.arrive(['b'])
  world.clock.advance(20)
  world.end(first)
  world.clock.turn()
  assert.deepEqual([late.ran, late.ticket.rejection?.reason], [0, 'limit:b'])
  assert.equal(next.ran, 1)
})

test('a request that errors.timeout has answered is not let in', () => {
  const world = new World()
  const request = world.arrive([])
  request.isTimedOut = true
  request.res.headersSent = true
  world.a(request.req, request.res, () => assert.fail('nobody waits for it'))
})
