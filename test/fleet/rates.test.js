'use strict'
// The rates of a fleet are those of its workers together, whenever each of them started.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { takeFleetSnapshot } = require('../../src/features/fleet/fleet-snapshot')
const { readBlocks } = require('../../src/features/fleet/reports/report')
const { RouteSums, reportRoutes } = require('../../src/features/fleet/reports/route-report')
const { RollingHistogram } = require('../../src/core/histogram/rolling')
const { handClock } = require('../support/hand-clock')

const EVERY_MS = 10
const SECOND = 1000

/** Of a worker that started at that time, with a request each 10 ms until now. */
function reportOf(startMs, nowMs, wallMs) {
  const all = new RollingHistogram(startMs)
  for (let ms = startMs; ms < nowMs; ms += EVERY_MS) all.record(1, ms, false)
  const instant = { counters: new Float64Array(0), series: [], streams: new Float64Array(0) }
  return [...reportRoutes({ recorder: { all } }, instant, nowMs, wallMs)]
}

test('two workers with 100 a second add up to 200, although the last minute of one is half as long', async () => {
  const clock = { ...handClock(), wallMs: () => Date.UTC(2026, 0, 1) }
  const routes = new RouteSums()
  // Of 59 seconds and of 31.
  for (const startMs of [1 * SECOND, 29 * SECOND]) {
    const blocks = Buffer.concat(reportOf(startMs, 180 * SECOND, clock.wallMs()))
    for (const { body } of readBlocks(blocks, 0)) routes.add(body, true)
  }
  const recorder = { timeParts: { isOn: true } }
  const { requests } = await takeFleetSnapshot({ clock, recorder }, { routes, families: [] }, [], {
    unreadable: 0,
    departed: 0,
  })
  assert.equal(Math.round(requests.lastMinute.ratePerSecond), 200)
  assert.equal(requests.lastMinute.count, 9000)
  assert.equal(requests.sinceStart.count, 33_000)
})
