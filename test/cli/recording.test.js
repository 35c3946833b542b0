'use strict'
// A recording of a service that is lost for a while, or restarts: what it keeps, and what it says about it.
// The service is played, because no real one restarts to the second.

const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const { test } = require('node:test')
const { Recording } = require('../../src/cli/report/recording')
const { diagnosisOf, snapshotOf } = require('./admin-stand-in')

const AT = Date.UTC(2026, 10, 26, 14, 0, 0)
const snapshotAt = (second, uptimeSeconds, more) =>
  snapshotOf({ at: new Date(AT + second * 1000).toISOString(), uptimeSeconds, ...more })
const totalsAt = (second, uptimeSeconds, instance = 'first') => ({
  at: AT + second * 1000,
  process: { instance },
  snapshot: snapshotAt(second, uptimeSeconds),
  latencies: { all: { maxUs: 0, cells: [] }, routes: [] },
})
const stateOf = (snapshot, { diagnosis = diagnosisOf(), instance = 'first' } = {}) => ({
  state: { instance, snapshot, diagnosis, fleet: null },
})
const pointAt = (second) => ({ at: AT + second * 1000, requests: second })
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** A service whose streams and totals the test gives one after the other. */
function playedService(totals) {
  const streams = []
  const signals = new Set()
  const timers = []
  let nowMs = 0
  const client = {
    getJson: async (path) => {
      if (path === '/config') return { shed: {} }
      if (path === '/doctor') return diagnosisOf()
      const next = totals.shift()
      if (next instanceof Error) throw next
      return next
    },
    followLines: (_path, onLine, signal) =>
      new Promise((resolve, reject) => {
        signals.add(signal)
        streams.push({ onLine, lose: () => reject(new Error('lost')) })
        signal.addEventListener('abort', () => resolve(undefined), { once: true })
      }),
  }
  const clock = {
    now: () => nowMs,
    wallMs: () => AT + nowMs,
    wait: (_delayMs, callback) => timers.push(callback),
    cancel: () => {},
  }
  const recording = new Recording(/** @type {any} */ ({ client, clock }))
  return {
    recording,
    streams,
    signals,
    advance: (ms) => {
      nowMs += ms
    },
    reconnect: async () => {
      await nextTurn()
      timers.pop()()
      await nextTurn()
    },
  }
}

test('a loss is told with its time, and the history fills it', async () => {
  const { recording, streams, advance, reconnect } = playedService([totalsAt(0, 100), totalsAt(6, 106)])
  await recording.begin()
  streams[0].onLine({ history: [pointAt(-3), pointAt(0)] })
  streams[0].onLine({ point: pointAt(1) })
  advance(2000)
  streams[0].lose()
  await reconnect()
  advance(3000)
  streams[1].onLine({ history: [pointAt(-3), pointAt(1), pointAt(2), pointAt(3), pointAt(4)] })
  streams[1].onLine({ point: pointAt(5) })
  const { points, notices, asked, start } = await recording.end()
  assert.deepEqual(
    points.map(({ at }) => (at - AT) / 1000),
    [1, 2, 3, 4, 5]
  )
  assert.equal(notices.length, 1)
  assert.match(notices[0], /^From \d\d:\d\d:02 to \d\d:\d\d:05 the service did not answer\.$/)
  assert.deepEqual([asked, start.at], [{ from: AT, to: AT + 6000 }, AT])
})

test('after a restart, tables count from then on, as the report says', async () => {
  const totals = [totalsAt(0, 100), totalsAt(25, 5, 'second'), totalsAt(30, 10, 'second')]
  const { recording, streams, advance } = playedService(totals)
  await recording.begin()
  streams[0].onLine(stateOf(snapshotAt(5, 105)))
  advance(25_000)
  streams[0].onLine(stateOf(snapshotAt(25, 5), { instance: 'second' }))
  advance(5000)
  streams[0].onLine(stateOf(snapshotAt(27, 7), { instance: 'second' }))
  const { start, end, seconds, notices } = await recording.end()
  assert.deepEqual([start, end.at, seconds], ['process', AT + 30_000, 30])
  assert.equal(notices.length, 1)
  assert.match(
    notices[0],
    /^The process started anew at \d\d:\d\d:20\. The tables contain only what happened after that\.$/
  )
})

test('of a service that has ended, the counters of ten seconds ago at most are known', async () => {
  const gone = new Error('nothing listens')
  const { recording, streams, advance } = playedService([totalsAt(0, 100), totalsAt(12, 112), gone])
  await recording.begin()
  advance(12_000)
  streams[0].onLine(stateOf(snapshotAt(12, 112)))
  await nextTurn()
  advance(3000)
  streams[0].lose()
  await nextTurn()
  const { end, asked, notices } = await recording.end()
  assert.deepEqual([end.at, asked.to], [AT + 12_000, AT + 15_000])
  assert.match(
    notices[0],
    /At the end of the run the service did not answer\. The tables end at \d\d:\d\d:12\. nothing listens/
  )
})

test('findings and slow requests of the whole run are kept, not only those of its end', async () => {
  const { recording, streams } = playedService([totalsAt(0, 100), totalsAt(300, 400)])
  await recording.begin()
  const slow = (second, durationMs) => ({
    at: new Date(AT + second * 1000).toISOString(),
    route: '/x',
    durationMs,
  })
  const finding = { problem: 'errors', route: 'GET /x', severity: 'high', share: 1 }
  const at = new Date(AT + 5000).toISOString()
  streams[0].onLine(
    stateOf(snapshotAt(5, 105, { slowest: [slow(-20, 900), slow(4, 500), slow(5, 100)] }), {
      diagnosis: diagnosisOf({ at, findings: [finding] }),
    })
  )
  streams[0].onLine(stateOf(snapshotAt(200, 300, { slowest: [slow(199, 300)] })))
  const { findings, slowest } = await recording.end()
  assert.deepEqual(
    slowest.map(({ durationMs }) => durationMs),
    [500, 300, 100]
  )
  assert.deepEqual(
    findings.map(({ problem, firstAt }) => [problem, firstAt]),
    [['errors', at]]
  )
})

test('a restart is seen however soon after the start of the process before', async () => {
  const { recording, streams, advance } = playedService([
    totalsAt(0, 1),
    totalsAt(3, 1, 'second'),
    totalsAt(4, 2, 'second'),
  ])
  await recording.begin()
  advance(4000)
  streams[0].onLine(stateOf(snapshotAt(3, 1), { instance: 'second' }))
  const { start, end, notices } = await recording.end()
  assert.deepEqual([start, end.process.instance], ['process', 'second'])
  assert.match(
    notices[0],
    /^The process started anew at \d\d:\d\d:02\. The tables contain only what happened after that\.$/
  )
  assert.equal(notices.length, 1)
})

test('of a process that is older than the run, and took the port over, tables count from its first answer', async () => {
  const taken = totalsAt(7, 500, 'other worker')
  const { recording, streams, advance } = playedService([
    totalsAt(0, 100),
    taken,
    totalsAt(20, 513, 'other worker'),
  ])
  await recording.begin()
  advance(7000)
  streams[0].onLine(stateOf(snapshotAt(6, 499), { instance: 'other worker' }))
  await nextTurn()
  advance(13_000)
  const { start, seconds, notices } = await recording.end()
  assert.equal(start, taken)
  assert.equal(seconds, 20)
  assert.match(
    notices[0],
    /^Another process answers since \d\d:\d\d:06\. The tables contain only what happened after that\.$/
  )
})

for (const jump of [-30, 30])
  test(`a wall clock that jumps by ${jump} s is no restart, and lengthens no run`, async () => {
    const totals = [totalsAt(0, 100), totalsAt(8 + jump, 108)]
    const { recording, streams, advance } = playedService(totals)
    await recording.begin()
    streams[0].onLine({ point: pointAt(1) })
    advance(8000)
    streams[0].onLine({ point: pointAt(3 + jump) })
    streams[0].onLine(
      stateOf(
        snapshotAt(4 + jump, 104, {
          slowest: [{ at: new Date(AT + (3 + jump) * 1000).toISOString(), durationMs: 5 }],
        })
      )
    )
    const { asked, points, seconds, slowest, start, notices } = await recording.end()
    assert.deepEqual([start.at, seconds, slowest.length], [AT, 8, 1])
    assert.ok(points.every(({ at }) => at > asked.from && at <= asked.to))
    assert.equal(points.length, 2)
    assert.equal(notices.length, 1)
    assert.match(
      notices[0],
      /^The wall clock of the service jumped 30 s (back|ahead), at \d\d:\d\d:34 or shortly before\./
    )
  })

test('totals that are late are awaited, and replace none of the end', async () => {
  let answer = (_totals) => {}
  const late = new Promise((resolve) => {
    answer = resolve
  })
  const totals = [totalsAt(0, 100), late, totalsAt(15, 115)]
  const { recording, streams, advance } = playedService(totals)
  await recording.begin()
  advance(12_000)
  streams[0].onLine(stateOf(snapshotAt(12, 112)))
  const recorded = recording.end()
  // A state that comes now asks for nothing more.
  streams[0].onLine(stateOf(snapshotAt(13, 113)))
  await nextTurn()
  assert.equal(totals.length, 1, 'those of the end are not asked for yet')
  answer(totalsAt(12, 112))
  assert.equal((await recorded).end.at, AT + 15_000)
})

test('a service that is lost for long leaves no listener behind', async () => {
  const { recording, streams, signals, reconnect } = playedService([totalsAt(0, 100), totalsAt(30, 130)])
  await recording.begin()
  for (let lost = 0; lost < 20; lost++) {
    streams[lost].lose()
    await reconnect()
  }
  const [signal] = signals
  const listeners = getEventListeners(signal, 'abort').length
  await recording.end()
  // Those of the streams, which the test itself has made.
  assert.equal(listeners, streams.length)
})

test('a stream that never comes back is told, although the counters are known', async () => {
  const { recording, streams, advance } = playedService([totalsAt(0, 100), totalsAt(8, 108)])
  await recording.begin()
  advance(3000)
  streams[0].lose()
  await nextTurn()
  advance(5000)
  const { notices, asked } = await recording.end()
  assert.equal(notices.length, 1)
  assert.match(notices[0], /^The service sent no figures from \d\d:\d\d:03 on: curves end there\.$/)
  assert.deepEqual(asked, { from: AT, to: AT + 8000 })
})
