'use strict'
// A recording of a service that is lost for a while, or restarts: what it keeps, and what it says about it. The service is played, because
// no real one restarts to the second.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Recording } = require('../../src/cli/report/recording')
const { diagnosisOf, snapshotOf } = require('./admin-stand-in')

const AT = Date.UTC(2026, 10, 26, 14, 0, 0)
const snapshotAt = (second, uptimeSeconds, more) =>
  snapshotOf({ at: new Date(AT + second * 1000).toISOString(), uptimeSeconds, ...more })
const totalsAt = (second, uptimeSeconds) => ({
  at: AT + second * 1000,
  snapshot: snapshotAt(second, uptimeSeconds),
  latencies: { all: { maxUs: 0, cells: [] }, routes: [] },
})
const stateOf = (snapshot, diagnosis = diagnosisOf()) => ({ state: { snapshot, diagnosis, fleet: null } })
const pointAt = (second) => ({ at: AT + second * 1000, requests: second })
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** A service whose streams and totals the test gives one after the other. */
function playedService(totals) {
  const streams = []
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
        streams.push({ onLine, lose: () => reject(new Error('lost')) })
        signal.addEventListener('abort', () => resolve(undefined))
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
  const { recording, streams } = playedService([totalsAt(0, 100), totalsAt(30, 10)])
  await recording.begin()
  streams[0].onLine(stateOf(snapshotAt(5, 105)))
  streams[0].onLine(stateOf(snapshotAt(25, 5)))
  streams[0].onLine(stateOf(snapshotAt(27, 7)))
  const { start, end, notices } = await recording.end()
  assert.deepEqual([start, end.at], ['process', AT + 30_000])
  assert.equal(notices.length, 1)
  assert.match(notices[0], /^The process started anew at \d\d:\d\d:20: tables count from then on\.$/)
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
    /At the end of the run the service did not answer\. Tables count until \d\d:\d\d:12\. nothing listens/
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
    stateOf(
      snapshotAt(5, 105, { slowest: [slow(-20, 900), slow(4, 500), slow(5, 100)] }),
      diagnosisOf({ at, findings: [finding] })
    )
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
