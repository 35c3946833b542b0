'use strict'
// How long jobs wait for a thread of the pool: loop turns and finished jobs by hand, and one job of the real
// pool.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { setImmediate: nextTurn } = require('node:timers/promises')
const { INTERVAL_MS, ThreadPoolWait } = require('../../src/features/doctor/thread-pool-wait')
const { systemClock } = require('../../src/core/clock')

/** A probe whose loop idles, works and ends its turns when told. */
function probe() {
  let nowMs = 10_000
  let idleMs = 0
  let busyMs = 0
  let ended = 0
  /** @type {(() => void)[]} */
  const jobs = []
  const clock = /** @type {any} */ ({ idleMs: () => idleMs })
  const wait = new ThreadPoolWait(clock, (onDone) => jobs.push(onDone))
  return {
    wait,
    jobs,
    idle(ms) {
      nowMs += ms
      idleMs += ms
    },
    work(ms) {
      nowMs += ms
      busyMs += ms
    },
    turn({ inFlight = 1, ends = 0 } = {}) {
      ended += ends
      wait.onTurn(busyMs, nowMs, inFlight, ended)
      busyMs = 0
    },
    finish: () => jobs.shift()?.(),
  }
}

const NONE = { fullMs: 0, waits: 0, waitedMs: 0 }

test('a job is started once a second while requests come, and never a second one beside it', () => {
  const { finish, idle, jobs, turn } = probe()
  turn({ inFlight: 0 })
  assert.equal(jobs.length, 0)
  turn()
  assert.equal(jobs.length, 1)
  idle(INTERVAL_MS)
  turn()
  assert.equal(jobs.length, 1)
  finish()
  turn()
  assert.equal(jobs.length, 1)
  finish()
  idle(INTERVAL_MS - 1)
  turn()
  assert.equal(jobs.length, 0)
  idle(1)
  turn()
  assert.equal(jobs.length, 1)
})

test('no job is started without a request in flight, or one that has ended since', () => {
  const { finish, idle, jobs, turn } = probe()
  turn()
  finish()
  idle(INTERVAL_MS)
  turn({ inFlight: 0 })
  assert.equal(jobs.length, 0)
  turn({ inFlight: 0, ends: 1 })
  assert.equal(jobs.length, 1)
  finish()
  idle(INTERVAL_MS)
  turn({ inFlight: 0 })
  assert.equal(jobs.length, 0)
})

test('a quick job stands for a second, and one that waited for 50 ms counts', () => {
  const { finish, idle, turn, wait } = probe()
  turn()
  idle(49)
  finish()
  assert.deepEqual(wait.sample(), { observedMs: 1000, ...NONE })
  idle(INTERVAL_MS)
  turn()
  idle(50)
  finish()
  assert.deepEqual(wait.sample(), { observedMs: 2000, fullMs: 1000, waits: 1, waitedMs: 50 })
})

test('between any two samples jobs waited for no longer than they were observed', () => {
  const { finish, idle, turn, wait } = probe()
  turn()
  idle(49)
  const before = wait.sample()
  assert.deepEqual(before, { observedMs: 0, ...NONE })
  idle(1051)
  finish()
  assert.deepEqual(wait.sample(), { observedMs: 1100, fullMs: 1100, waits: 1, waitedMs: 1100 })
})

test('a job that is outstanding counts for as long as it has waited, and no more when it is done', () => {
  const { finish, idle, turn, wait } = probe()
  turn()
  idle(12_000)
  const full = { observedMs: 12_000, fullMs: 12_000, waits: 1, waitedMs: 12_000 }
  assert.deepEqual(wait.sample(), full)
  finish()
  assert.deepEqual(wait.sample(), full)
})

test('a blocked loop does not count, before the job was seen to be done or after', () => {
  const { finish, idle, turn, wait, work } = probe()
  turn()
  work(400)
  finish()
  assert.deepEqual(wait.sample(), { observedMs: 1000, ...NONE })
  work(INTERVAL_MS)
  turn()
  // The job is done during this turn, and its callback comes in the next.
  work(400)
  turn()
  finish()
  assert.deepEqual(wait.sample(), { observedMs: 2000, ...NONE })
  idle(INTERVAL_MS)
  turn()
  idle(30)
  work(400)
  turn()
  // The block is left out, though the job was not done in it.
  idle(30)
  finish()
  assert.deepEqual(wait.sample(), { observedMs: 3000, fullMs: 1000, waits: 1, waitedMs: 60 })
})

test('on a loop that never idles a job waits for the turns that ended without it', () => {
  const { finish, turn, wait, work } = probe()
  turn()
  for (let i = 0; i < 100; i++) {
    work(10)
    turn()
  }
  finish()
  assert.equal(wait.sample().waitedMs, 990)
})

test('a job of the real pool is done', async () => {
  const wait = new ThreadPoolWait(systemClock)
  wait.onTurn(0, 0, 1, 0)
  while (wait.sample().observedMs < INTERVAL_MS) await nextTurn()
  assert.equal(wait.sample().observedMs, INTERVAL_MS)
})
