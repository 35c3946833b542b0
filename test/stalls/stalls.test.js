'use strict'
// When a stall is recorded, told and watched for: with a clock moved by hand and a watcher that sees what the
// test says.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Stalls } = require('../../src/features/stalls/stalls')

const PLACE = { name: 'hash', url: 'file:///app/auth.js', line: 41, column: 2, begin: 40 }

function setUp({ hasRequests = true, canWatch = true, add = () => {} } = {}) {
  const told = {
    lines: /** @type {any[]} */ ([]),
    events: /** @type {any[]} */ ([]),
    internalErrors: /** @type {any[]} */ ([]),
    beats: 0,
    intended: /** @type {boolean[]} */ ([]),
  }
  let nowMs = 1000
  let waitedMs = 0
  let ranMs = 0
  let collectedMs = 0
  let on = 0
  /** @type {any} */
  let subscriber
  const watcher = {
    add(given) {
      add()
      subscriber = given
    },
    remove() {
      subscriber = undefined
    },
    beat: () => told.beats++,
    markIntended: (isIntended) => told.intended.push(isIntended),
  }
  const context = {
    reference: /** @type {any} */ (undefined),
    turnOn: () => on++,
    turnOff: () => on--,
  }
  const requests = Object.assign(hasRequests ? [{ startedMs: 0 }] : [], {
    ended: 0,
    size: hasRequests ? 1 : 0,
  })
  /** @type {any} */
  const deps = {
    clock: { now: () => nowMs, wallMs: () => 0, isFrozen: false },
    context,
    events: { emitWithoutLine: (_event, details) => told.events.push(details) },
    internalErrors: { report: (place) => told.internalErrors.push(place) },
    options: { insight: { stallThreshold: 100 }, routes: { unmatched: '(unmatched)' } },
    recorder: { requests, routes: { series: [] } },
    runtime: { collections: { recordPending: () => collectedMs } },
    startedFeatures: {},
  }
  const warn = (fields, message) => told.lines.push({ ...fields, message })
  const readScheduler = () => ({ ranMs, waitedMs })
  const stalls = new Stalls({ deps, info: warn, warn }, { watcher, readScheduler, canWatch })
  /** A turn of so many milliseconds, in which the watcher sees what is given. */
  const turn = (busyMs, seen = undefined, { afterMs = 0, isAsleep = false, excusedMs = 0 } = {}) => {
    nowMs += afterMs + busyMs / 2
    if (!isAsleep) ranMs += busyMs
    if (seen !== undefined) {
      context.reference = seen.reference
      subscriber?.onRead({ delayMs: seen.delayMs ?? 1, frames: seen.frames ?? [PLACE] })
    }
    if (excusedMs > 0) stalls.excuse(excusedMs)
    nowMs += busyMs / 2
    stalls.onEachTurn(busyMs, nowMs)
  }
  return {
    now: () => nowMs,
    requests,
    ...told,
    stalls,
    turn,
    beat: (ms) => {
      nowMs += ms
      subscriber.onBeat(nowMs)
    },
    endWatcher: (error) => subscriber.onEnd(error),
    wait: (ms) => (waitedMs += ms),
    collect: (ms) => (collectedMs = ms),
    beats: () => told.beats,
    isWatching: () => subscriber !== undefined && on === 1,
  }
}
const request = { request: {}, method: 'POST', route: '/login' }

test('a turn below the threshold is no stall', () => {
  const { stalls, turn, isWatching, events } = setUp()
  turn(99)
  assert.deepEqual(stalls.sample().sites, [])
  assert.deepEqual([isWatching(), events.length], [false, 0])
  turn(100)
  assert.deepEqual([stalls.sample().sites.length, events.length], [1, 1])
})

test('a turn in which the thread slept may have idled until a signal: it starts the watcher, and only then such a turn is a stall', () => {
  const { turn, isWatching, events, lines } = setUp()
  turn(5000, undefined, { isAsleep: true })
  assert.deepEqual([events.length, lines.length, isWatching()], [0, 0, true])
  turn(150, undefined, { isAsleep: true })
  assert.deepEqual([events.length, lines.length], [1, 1])
})

test('a watcher that such a turn starts in an old process is not stopped at its first beat', () => {
  const { turn, isWatching, beat } = setUp()
  turn(5000, undefined, { isAsleep: true, afterMs: 3_600_000 })
  beat(70)
  assert.ok(isWatching())
  beat(600_000)
  assert.ok(!isWatching())
})

test('each turn beats while the watcher runs, so that a busy loop needs no timer to differ from a blocked one', () => {
  const { turn, beats } = setUp()
  turn(1)
  assert.equal(beats(), 0)
  turn(150)
  turn(1)
  turn(1)
  assert.equal(beats(), 2)
})

test('the first stall starts the watcher, which names the next', () => {
  const { stalls, turn, isWatching, lines, events } = setUp()
  turn(150)
  assert.ok(isWatching())
  assert.equal(
    lines[0].message,
    'spillway: event loop blocked for 150 ms; from now on a stall names its function'
  )
  turn(212, { reference: request, delayMs: 90 }, { afterMs: 1000 })
  assert.equal(
    lines[1].message,
    'spillway: event loop blocked for 212 ms by hash (/app/auth.js:41) in POST /login'
  )
  const { event, cause, origin, method, route } = lines[1]
  assert.deepEqual(
    { event, cause, origin, method, route },
    { event: 'stall', cause: 'native', origin: 'request', method: 'POST', route: '/login' }
  )
  assert.equal(events[1].durationMs, 212)
  assert.deepEqual(
    stalls.sample().causes.filter(({ count }) => count > 0),
    [
      { cause: 'native', count: 1, totalMs: 212 },
      { cause: 'unknown', count: 1, totalMs: 150 },
    ]
  )
})

test('code of no request, or of one that has ended, runs in the background', () => {
  const { turn, events } = setUp()
  turn(150)
  turn(150, { reference: undefined })
  turn(150, { reference: { request: undefined, method: 'GET', route: '/begun-by' } })
  for (const { origin, route, method } of events.slice(1))
    assert.deepEqual([origin, route, method], ['background', null, null])
})

test('what the watcher saw in an earlier turn is not of this one', () => {
  const { turn, events } = setUp()
  turn(150)
  turn(90, { reference: request })
  turn(150)
  assert.equal(events[1].cause, 'unknown')
  assert.equal(events[1].function, null)
})

test('a collection and a starved host have no function, and start no watcher', () => {
  const { turn, wait, collect, events, isWatching, lines } = setUp()
  wait(150)
  turn(160)
  collect(150)
  turn(200, { reference: request }, { afterMs: 1000 })
  assert.deepEqual(
    events.map(({ cause, function: name, origin }) => [cause, name, origin]),
    [
      ['host', null, null],
      ['garbage-collection', null, null],
    ]
  )
  assert.deepEqual(
    lines.map(({ message }) => message),
    [
      'spillway: event loop blocked for 160 ms: it waited for a CPU that other processes used',
      'spillway: event loop blocked for 200 ms by garbage collection',
    ]
  )
  assert.equal(isWatching(), false)
})

test("what was waited for a CPU before the turn is not the turn's, to a second", () => {
  const { turn, wait, events } = setUp()
  wait(10_000)
  turn(1, undefined, { afterMs: 1000 })
  turn(150)
  assert.equal(events[0].cause, 'unknown')
})

test('a timer that runs in the middle of a stall hides no wait for a CPU', () => {
  const { stalls, turn, beat, wait, now, events } = setUp()
  turn(150)
  turn(1, undefined, { afterMs: 100 })
  wait(150)
  beat(170)
  stalls.onEachTurn(170, now())
  assert.deepEqual([events[1].cause, events[1].function], ['host', null])
})

test("while the watcher runs, what was waited for a CPU before the turn is not the turn's, to a tenth of a second", () => {
  const { turn, wait, events } = setUp()
  turn(150)
  wait(10_000)
  turn(1, undefined, { afterMs: 100 })
  turn(150, { reference: request })
  assert.equal(events[1].cause, 'javascript')
})

test('before the first request a stall is counted as startup, and neither told nor watched for', () => {
  const { stalls, turn, events, lines, isWatching } = setUp({ hasRequests: false })
  turn(400)
  assert.deepEqual(
    stalls.sample().sites.map(({ origin, count }) => [origin, count]),
    [['startup', 1]]
  )
  assert.deepEqual([events.length, lines.length, isWatching()], [0, 0, false])
  turn(400, undefined, { afterMs: 60_000 })
  assert.deepEqual([events.length, lines.length, isWatching()], [1, 1, true])
})

test('a request that is read in the turn in which the application starts is not what blocked it', () => {
  const { stalls, turn, events, requests, now } = setUp({ hasRequests: false })
  requests.push({ startedMs: now() + 3000 })
  turn(3100)
  assert.deepEqual(
    stalls.sample().sites.map(({ origin, route }) => [origin, route]),
    [['startup', null]]
  )
  assert.deepEqual(events, [])
  turn(400)
  assert.equal(events.length, 1)
})

test('there is a line a second, which says how many it stands for, and an event for each', () => {
  const { turn, events, lines } = setUp()
  for (let i = 0; i < 5; i++) turn(200)
  turn(200, undefined, { afterMs: 1000 })
  assert.equal(events.length, 6)
  assert.deepEqual(
    lines.map(({ unlogged }) => unlogged),
    [undefined, 4]
  )
})

test('ten minutes without a stall stop the watcher, and the next stall starts it anew', () => {
  const { turn, beat, isWatching } = setUp()
  turn(150)
  beat(599_999)
  assert.ok(isWatching())
  beat(1)
  assert.equal(isWatching(), false)
  turn(150)
  assert.ok(isWatching())
})

test('close() stops the watcher', () => {
  const { stalls, turn, isWatching } = setUp()
  turn(150)
  stalls.close()
  assert.equal(isWatching(), false)
  stalls.close()
})

for (const [what, error, reported] of /** @type {const} */ ([
  ['that fails is reported', new Error('out of memory'), ['insight.stalls']],
  ['that other code has ended is no failure', undefined, []],
]))
  test(`a watcher ${what}, and is not started again`, () => {
    const { turn, endWatcher, internalErrors, isWatching } = setUp()
    turn(150)
    assert.ok(isWatching())
    endWatcher(error)
    turn(150)
    assert.deepEqual([isWatching(), internalErrors], [false, reported])
  })

test('where no thread may be started, stalls are counted all the same', () => {
  const { stalls, turn, internalErrors, isWatching } = setUp({
    add() {
      throw new Error('not permitted')
    },
  })
  turn(150)
  turn(150)
  assert.equal(stalls.sample().sites[0].count, 2)
  assert.deepEqual([isWatching(), internalErrors], [false, ['insight.stalls']])
})

test('what a profiler blocks is no stall, and the rest of the turn is', () => {
  const { stalls, turn, events, intended } = setUp()
  stalls.excuse(undefined)
  turn(340, undefined, { excusedMs: 250 })
  assert.deepEqual(intended, [true, false])
  assert.equal(events.length, 0)
  turn(360, undefined, { excusedMs: 250 })
  assert.deepEqual(
    events.map(({ durationMs }) => durationMs),
    [110]
  )
  turn(120)
  assert.deepEqual(
    events.map(({ durationMs }) => durationMs),
    [110, 120]
  )
})
