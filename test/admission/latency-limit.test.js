'use strict'
// The in-flight limit before a pool, told nothing but admissions and ends: those of a pool in steps of half a millisecond.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LatencyLimit } = require('../../src/admission/latency-limit')

const STEP_MS = 0.5
const TARGET_MS = 20

/** A pool of so many slots of `takesMs` each, before which as many as the limit allows are let in. */
class LimitedPool {
  limit = new LatencyLimit({ targetMs: TARGET_MS }, 0)
  slots = 10
  takesMs = 20
  inFlight = 0
  ended = 0
  nowMs = 0
  #line = []
  #running = []
  #due = 0
  #admittedMs = 0
  #route = {}

  run(forMs, perMs) {
    this.ended = 0
    for (const endMs = this.nowMs + forMs; this.nowMs < endMs; this.nowMs += STEP_MS) {
      for (const each of this.#running.filter(({ atMs }) => atMs <= this.nowMs)) this.end(this.#route, each)
      this.#running = this.#running.filter(({ atMs }) => atMs > this.nowMs)
      for (this.#due += perMs * STEP_MS; this.#due >= 1; this.#due--) this.admit()
      while (this.#line.length > 0 && this.#running.length < this.slots)
        this.#running.push({ ...this.#line.shift(), atMs: this.nowMs + this.takesMs })
    }
    return this.limit.limit
  }

  admit() {
    // As the gate: one in 100 ms whatever the limit.
    if (this.inFlight >= this.limit.limit && this.nowMs - this.#admittedMs < 100) return
    this.#admittedMs = this.nowMs
    this.hold()
    this.#line.push({ admittedMs: this.nowMs, among: this.inFlight })
  }

  /** One that needs no slot of the pool. */
  hold() {
    this.limit.noteAdmit(++this.inFlight, this.nowMs)
  }

  end(route, { admittedMs, among }) {
    this.ended++
    this.limit.noteEnd(route, this.nowMs - admittedMs, this.nowMs, this.inFlight--, among)
  }
}

test('there is no limit while what comes is what ends, at any rate', () => {
  const pool = new LimitedPool()
  for (const perMs of [0.1, 0.4, 0.1, 0.45]) assert.equal(pool.run(2000, perMs), Number.POSITIVE_INFINITY)
})

test('there is no limit for a step of load to ten times before a pool that is large enough', () => {
  const pool = new LimitedPool()
  pool.slots = 1000
  pool.run(2000, 0.25)
  assert.equal(pool.run(2000, 2.5), Number.POSITIVE_INFINITY)
})

test('a step to ten times is known within three times as long as requests take', () => {
  const pool = new LimitedPool()
  pool.run(2000, 0.25)
  pool.run(60, 5)
  assert.ok(pool.limit.limit < 100, String(pool.limit.limit))
})

for (const perMs of [0.6, 1, 5]) {
  test(`at ${perMs * 2} times its capacity a pool is kept full, and next to nobody stands in line`, () => {
    const pool = new LimitedPool()
    pool.run(2000, 0.25)
    pool.run(1000, perMs)
    const limit = pool.run(4000, perMs)
    assert.ok(limit >= 10 && limit <= 30, String(limit))
    assert.ok(pool.ended >= 0.97 * 2000, String(pool.ended))
  })
}

test('a limit that is not used does not grow, one that is used does', () => {
  const pool = new LimitedPool()
  pool.run(2000, 0.25)
  pool.run(2000, 2)
  pool.slots = 1000
  // The window that is open still knows of those before.
  const limit = pool.run(500, 0.1)
  assert.equal(pool.run(2000, 0.1), limit)
  assert.ok(pool.run(2000, 2) >= 40)
  assert.ok(pool.ended >= 0.9 * 4000, String(pool.ended))
})

test('requests that become slower are no pool: the cut is undone, and that is what they take from now on', () => {
  const pool = new LimitedPool()
  pool.slots = 1000
  pool.run(2000, 1)
  pool.takesMs = 80
  pool.run(1500, 1)
  pool.run(1000, 1)
  assert.ok(pool.ended >= 980, String(pool.ended))
})

test('those that hold their slots whatever ends stand: the others have theirs beside them', () => {
  const pool = new LimitedPool()
  pool.run(2000, 0.25)
  for (let i = 0; i < 200; i++) pool.hold()
  pool.run(1000, 2)
  pool.run(1000, 2)
  assert.ok(pool.limit.limit > 200, String(pool.limit.limit))
  assert.ok(pool.ended >= 450, String(pool.ended))
})

test('a slow route beside a fast one is no overload: each is measured against itself', () => {
  const limit = new LatencyLimit({ targetMs: TARGET_MS }, 0)
  const routes = [{}, {}]
  for (let i = 0; i < 500; i++) {
    limit.noteAdmit(20, i * 10)
    limit.noteEnd(routes[i % 2], i % 2 === 0 ? 5 : 900, i * 10, 20, 20)
  }
  assert.equal(limit.limit, Number.POSITIVE_INFINITY)
})

test('it never falls below four, however slow the pool', () => {
  const pool = new LimitedPool()
  pool.slots = 1
  pool.takesMs = 100
  pool.run(20_000, 0.005)
  pool.run(1000, 2)
  pool.run(20_000, 2)
  assert.ok(pool.limit.limit >= 4 && pool.limit.limit < 10, String(pool.limit.limit))
})

test('behind a loop without time to spare none is begun, and one there is grows until it is not used', () => {
  const pool = new LimitedPool()
  pool.run(2000, 0.25)
  pool.limit.loopHasTime = false
  assert.equal(pool.run(200, 2), Number.POSITIVE_INFINITY)

  const limited = new LimitedPool()
  limited.run(2000, 0.25)
  const before = limited.run(2000, 5)
  limited.limit.loopHasTime = false
  const after = limited.run(1000, 5)
  assert.ok(after > 2 * before, `${before} -> ${after}`)
  limited.limit.loopHasTime = true
  assert.ok(limited.run(3000, 5) < 1.2 * before)
})
