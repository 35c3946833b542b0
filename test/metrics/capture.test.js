'use strict'
// An instant is what was at that moment: nothing that happens after changes it, nor is shown with it.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { FAMILIES } = require('../../src/metrics/families')
const { takeInstant } = require('../../src/metrics/capture')
const { renderFamilies } = require('../../src/metrics/formats/prometheus-text')
const { ADVISED_BOUNDS } = require('../../src/histograms/buckets')
const { ErrorTable } = require('../../src/failures/error-table')
const { Faults } = require('../../src/requests/internal-errors')
const { Recorder } = require('../../src/requests/recorder')
const { LoopDelay } = require('../../src/signals/loop-delay')
const { Utilization } = require('../../src/signals/utilization')
const { resolveOptions } = require('../../src/options/options')
const { FakeClock } = require('../support/fake-clock')

function partsFor() {
  const clock = new FakeClock()
  const faults = new Faults({ error() {} })
  const recorder = new Recorder(resolveOptions(), clock, faults)
  const signals = {
    loopDelay: new LoopDelay(clock.now()),
    utilization: new Utilization(clock),
    // What V8 does on its own is no part of this.
    collections: { sample: () => ({ kinds: [], buckets: new Float64Array(), bounds: ADVISED_BOUNDS }) },
    memory: { sample: () => ({ spaces: [] }) },
    heapTrend: { sample: () => ({ verdict: 'unknown' }) },
  }
  const admission = {
    sample: () => ({ shed: [], wouldShed: [], queueDelays: new Float64Array(ADVISED_BOUNDS.width) }),
  }
  const failures = { table: new ErrorTable('(other)') }
  const processErrors = { counts: {} }
  const releases = { current: { version: '1.2.3', revision: '' } }
  return {
    admission,
    clock,
    failures,
    processErrors,
    recorder,
    faults,
    releases,
    signals,
    startedAtWallMs: clock.wallMs(),
  }
}

const GET = 0
const ENDED = { outcome: 0, requestBytes: 10, responseBytes: 20, firstByteMs: 1, durationMs: 30, status: 200 }

function record(recorder, route, how = {}) {
  recorder.routes.find(route, GET).record({ ...ENDED, ...how }, 0)
}

const textOf = (instant) => [...renderFamilies(FAMILIES, instant)].join('')

test('nothing that happens after changes what is shown: numbers, statuses, streams, series, faults', () => {
  const parts = partsFor()
  const { recorder, faults } = parts
  record(recorder, '/a')
  recorder.active.counts[0] = 3
  faults.report('here', new Error('first'))
  const instant = takeInstant(parts)
  const before = textOf(instant)
  assert.match(
    before,
    /spillway_requests_total\{http_request_method="GET",http_route="\/a",outcome="completed"\} 1\n/
  )

  record(recorder, '/a')
  record(recorder, '/a', { status: 500, outcome: 1 })
  record(recorder, '/a', { isStream: true })
  for (let i = 0; i < 100; i++) record(recorder, `/b/${i}`, { isStream: i % 2 === 0 })
  recorder.active.counts[0] = 5
  recorder.routes.folded = 7
  faults.report('here', new Error('second'))
  faults.report('there', new Error('third'))

  assert.equal(textOf(instant), before)
  const after = textOf(takeInstant(parts))
  assert.match(after, /http_route="\/b\/99"/)
  assert.match(after, /http_route="\/a",http_response_status_code="500"/)
  assert.match(
    after,
    /spillway_stream_duration_seconds_count\{http_request_method="GET",http_route="\/a"\} 1\n/
  )
})

test('a status that came after is not shown even where the first scrape of its series is the later one', () => {
  const parts = partsFor()
  record(parts.recorder, '/a')
  const instant = takeInstant(parts)
  record(parts.recorder, '/a', { status: 404 })
  textOf(takeInstant(parts))
  assert.doesNotMatch(textOf(instant), /404/)
})

test('the tables of an instant no longer shown are used again, unless series have come since', () => {
  const parts = partsFor()
  record(parts.recorder, '/a')
  const first = takeInstant(parts)
  record(parts.recorder, '/a')
  const second = takeInstant(parts, first)
  assert.equal(second.durations, first.durations)
  assert.equal(second.counters, first.counters)
  assert.equal(textOf(second), textOf(takeInstant(parts)))
  record(parts.recorder, '/b')
  const third = takeInstant(parts, second)
  assert.notEqual(third.durations, second.durations)
  assert.equal(textOf(third), textOf(takeInstant(parts)))
})
