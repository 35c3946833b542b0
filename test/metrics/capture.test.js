'use strict'
// A capture shows one moment: nothing that happens later changes it.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { FAMILIES } = require('../support/families')
const { capture } = require('../../src/core/metrics/capture')
const { renderFamilies } = require('../../src/core/metrics/formats/prometheus-text')
const { ADVISED_BOUNDS } = require('../../src/core/histogram/buckets')
const { ClientErrors, ErrorTable } = require('../../src/core/errors/error-table')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { Recorder } = require('../../src/core/request/recorder')
const { LoopDelay } = require('../../src/core/process/loop-delay')
const { Utilization } = require('../../src/core/process/utilization')
const { resolveOptions } = require('../../src/core/options/options')
const { FakeClock } = require('../support/fake-clock')

function depsFor() {
  const clock = new FakeClock()
  const internalErrors = new InternalErrors({ error() {} })
  const recorder = new Recorder(resolveOptions(), clock, internalErrors)
  const runtime = {
    loopDelay: new LoopDelay(clock.now()),
    utilization: new Utilization(clock),
    // What V8 does on its own is no part of this.
    collections: { sample: () => ({ kinds: [], buckets: new Float64Array(), bounds: ADVISED_BOUNDS }) },
    memory: { sample: () => ({ spaces: [] }) },
    heapTrend: { sample: () => ({ verdict: 'unknown' }) },
    externalTrend: { sample: () => ({ verdict: 'unknown' }) },
  }
  const admission = {
    sample: () => ({ shed: [], wouldShed: [], queueDelays: new Float64Array(ADVISED_BOUNDS.width) }),
  }
  const failures = { table: new ErrorTable('(other)', clock) }
  const processErrors = { counts: {} }
  return {
    admission,
    clock,
    entrance: { connectionEvents: { clientErrors: new ClientErrors() } },
    failures,
    features: { sample: () => ({ releases: { version: '1.2.3', revision: '' } }) },
    warnings: { sample: () => [] },
    processErrors,
    recorder,
    internalErrors,
    runtime,
    startedAtWallMs: clock.wallMs(),
  }
}

const GET = 0
const ENDED = {
  outcome: 0,
  requestBytes: 10,
  responseBytes: 20,
  firstByteMs: 1,
  durationMs: 30,
  status: 200,
  scheme: 0,
}

function record(recorder, route, how = {}) {
  recorder.routes.find(route, GET).record({ ...ENDED, ...how }, 0)
}

const textOf = (captured) => [...renderFamilies(FAMILIES, captured)].join('')

test('a capture does not change afterwards: numbers, statuses, streams, series, internal errors', () => {
  const deps = depsFor()
  const { recorder, internalErrors } = deps
  record(recorder, '/a')
  recorder.requests.counts[0] = 3
  internalErrors.report('here', new Error('first'))
  const captured = capture(deps)
  const before = textOf(captured)
  assert.match(
    before,
    /spillway_requests_total\{http_request_method="GET",http_route="\/a",outcome="completed"\} 1\n/
  )

  record(recorder, '/a')
  record(recorder, '/a', { status: 500, outcome: 1 })
  record(recorder, '/a', { isStream: true })
  for (let i = 0; i < 100; i++) record(recorder, `/b/${i}`, { isStream: i % 2 === 0 })
  recorder.requests.counts[0] = 5
  recorder.routes.folded = 7
  internalErrors.report('here', new Error('second'))
  internalErrors.report('there', new Error('third'))

  assert.equal(textOf(captured), before)
  const after = textOf(capture(deps))
  assert.match(after, /http_route="\/b\/99"/)
  assert.match(after, /http_route="\/a",http_response_status_code="500"/)
  assert.match(
    after,
    /spillway_stream_duration_seconds_count\{http_request_method="GET",http_route="\/a"\} 1\n/
  )
})

test('a capture does not show a status that came later, even if a later scrape was the first of its series', () => {
  const deps = depsFor()
  record(deps.recorder, '/a')
  const captured = capture(deps)
  record(deps.recorder, '/a', { status: 404 })
  textOf(capture(deps))
  assert.doesNotMatch(textOf(captured), /404/)
})

test('the tables of a spare capture are reused unless series were added since', () => {
  const deps = depsFor()
  record(deps.recorder, '/a')
  const first = capture(deps)
  record(deps.recorder, '/a')
  const second = capture(deps, first)
  assert.equal(second.durations, first.durations)
  assert.equal(second.counters, first.counters)
  assert.equal(textOf(second), textOf(capture(deps)))
  record(deps.recorder, '/b')
  const third = capture(deps, second)
  assert.notEqual(third.durations, second.durations)
  assert.equal(textOf(third), textOf(capture(deps)))
})
