'use strict'
// The last ten minutes, a point a second: what a point says, when it is taken, and how little is kept.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { RollingHistogram } = require('../../src/core/histogram/rolling')
const { COLUMNS, History, MAX_POINTS } = require('../../src/features/admin/history')
const { LoopDelay } = require('../../src/core/process/loop-delay')
const { FakeClock } = require('../support/fake-clock.js')

function historyFor({ mode = 'adaptive', hasStalls = true } = {}) {
  const stalls = { totalMs: 0 }
  const clock = new FakeClock(0)
  const all = new RollingHistogram(0)
  const loopDelay = new LoopDelay(0)
  const gate = { inFlight: 3, limit: 12.7, queued: 2, mode }
  const deps = {
    clock,
    admission: { stats: { rejected: 0 }, sample: () => gate },
    recorder: { all, requests: { size: 9 }, routes: { series: [] } },
    runtime: { loopDelay, collections: { heapAfterBytes: undefined } },
    startedFeatures: { stalls: hasStalls ? stalls : undefined },
    internalErrors: { guard: (_place, run) => run() },
  }
  const history = new History(/** @type {any} */ (deps))
  const turn = () => history.onInterval(clock.now(), clock.idleMs())
  return { all, clock, gate, history, loopDelay, deps, stalls, turn }
}

test('a point has the rates and quantiles of its second, and the state at its end', () => {
  const { all, clock, history, loopDelay, deps, stalls, turn } = historyFor()
  history.start()
  for (let i = 0; i < 10; i++) all.record(20, clock.now(), i === 0)
  loopDelay.record(150, clock.now())
  stalls.totalMs = 150
  deps.admission.stats.rejected = 4
  clock.idle(750)
  clock.advance(250)
  turn()
  const [point, ...others] = history.points()
  assert.equal(others.length, 0)
  assert.deepEqual(Object.keys(point), [...COLUMNS])
  const { at, requests, errors, shed, inFlight, limit, queued, utilization, stallMs, heapAfterGc } = point
  assert.deepEqual(
    { at, requests, errors, shed, inFlight, limit, queued, utilization, stallMs, heapAfterGc },
    {
      at: clock.wallMs(),
      requests: 10,
      errors: 1,
      shed: 4,
      inFlight: 3,
      limit: 12,
      queued: 2,
      utilization: 0.25,
      stallMs: 150,
      heapAfterGc: null,
    }
  )
  assert.ok(Math.abs(Number(point.p99) - 20) < 0.5 && Math.abs(Number(point.loopDelayP99) - 150) < 2)
  clock.advance(1000)
  turn()
  const second = history.points()[1]
  assert.deepEqual([second.requests, second.p50, second.p99, second.stallMs], [0, null, null, 0])
})

test('a point is taken in the first turn after its second, and a late one covers its whole time', () => {
  const { all, clock, history, turn } = historyFor()
  history.start()
  clock.advance(999)
  turn()
  assert.equal(history.points().length, 0)
  for (let i = 0; i < 50; i++) all.record(1, clock.now(), false)
  clock.advance(4001)
  turn()
  turn()
  assert.deepEqual(
    history.points().map(({ requests }) => requests),
    [10]
  )
  // The seconds do not drift: a point that came late by less than a second does not delay the next.
  clock.advance(1300)
  turn()
  clock.advance(700)
  turn()
  assert.equal(history.points().length, 3)
})

test('it keeps ten minutes, whatever came before, and nothing that is older', () => {
  const { clock, history, turn } = historyFor()
  history.start()
  for (let i = 0; i < MAX_POINTS + 50; i++) {
    clock.advance(1000)
    turn()
  }
  const points = history.points()
  assert.equal(points.length, MAX_POINTS)
  assert.equal(points[MAX_POINTS - 1].at, clock.wallMs())
  assert.ok(points.every(({ at }, i) => i === 0 || at > points[i - 1].at))
  assert.ok(JSON.stringify(points).length < 1_000_000)
  clock.idle(590_000)
  assert.equal(history.points().length, 11)
})

test('before start() and after close() it takes no point', () => {
  const { clock, history, turn } = historyFor()
  clock.advance(5000)
  turn()
  history.start()
  history.close()
  clock.advance(5000)
  turn()
  assert.deepEqual(history.points(), [])
})

test('what is not measured is null: stalls that are off, a limit that is none; with shedding off all requests are in flight', () => {
  const { clock, gate, history, turn } = historyFor({ mode: 'off', hasStalls: false })
  gate.limit = Number.POSITIVE_INFINITY
  history.start()
  clock.advance(1000)
  turn()
  const [{ stallMs, limit, inFlight }] = history.points()
  assert.deepEqual([stallMs, limit, inFlight], [null, null, 9])
})
