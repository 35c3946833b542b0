'use strict'
// What one method and route counts of a request that has ended.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ADVISED_BOUNDS, countOf, sumOf } = require('../../src/core/histogram/buckets')
const {
  ABORTED,
  COMPLETED,
  ERRORED,
  OUTCOMES,
  TIMED_OUT,
  UPGRADED,
} = require('../../src/core/request/outcome')
const series = require('../../src/core/request/route-series')
const { RouteTable } = require('../../src/core/request/route-table')

const NOW_MS = 0

const ended = {
  outcome: COMPLETED,
  status: 200,
  durationMs: 20,
  firstByteMs: 15,
  requestBytes: 100,
  responseBytes: 1000,
  isStream: false,
  scheme: 0,
}

function recorded(...requests) {
  const table = new RouteTable({ max: 10, overflow: '(other)', unmatched: '(unmatched)' })
  const one = table.find('/a', 0)
  for (const request of requests) one.record({ ...ended, ...request }, NOW_MS)
  const { counters, durations, streams } = table.tables
  const counted = (column) => counters.values[one.row * series.COUNTERS + column]
  const durationValues = durations.copy()
  return {
    outcomes: OUTCOMES.map((_, outcome) => counted(outcome)),
    bytes: [counted(series.REQUEST_BYTES), counted(series.RESPONSE_BYTES)],
    firstBytes: [counted(series.FIRST_BYTE_COUNT), counted(series.FIRST_BYTE_SUM)],
    statuses: one.statuses.map(({ status, row }) => [
      status,
      countOf(durationValues, row, ADVISED_BOUNDS),
      sumOf(durationValues, row, ADVISED_BOUNDS),
    ]),
    streams: one.streamRow === undefined ? undefined : countOf(streams.copy(), one.streamRow, ADVISED_BOUNDS),
    sinceStart: one.latency.sinceStart(NOW_MS),
  }
}

test('an answer counts its outcome, bytes, first byte and duration', () => {
  const { outcomes, bytes, firstBytes, statuses, streams, sinceStart } = recorded({})
  assert.deepEqual(outcomes, [1, 0, 0, 0, 0])
  assert.deepEqual(bytes, [100, 1000])
  assert.deepEqual(firstBytes, [1, 0.015])
  assert.deepEqual(statuses, [[200, 1, 0.02]])
  assert.equal(streams, undefined)
  assert.deepEqual([sinceStart.count, sinceStart.errors, sinceStart.histogram.totalCount], [1, 0, 1])
})

test('durations are separate by status, in the order the statuses were first seen', () => {
  const { statuses } = recorded({ status: 404 }, {}, { status: 404 }, {}, {})
  assert.deepEqual(
    statuses.map(([status, count]) => [status, count]),
    [
      [404, 2],
      [200, 3],
    ]
  )
})

test('the sum of durations is added up in order of arrival', () => {
  const durations = [0.1, 1e9, 0.1, -0, 3.3333].map((durationMs) => ({ durationMs }))
  let sum = 0
  for (const { durationMs } of durations) sum += durationMs / 1000
  assert.equal(recorded(...durations).statuses[0][2], sum)
})

test('a response cut off before its first byte has no first byte and the status 0', () => {
  const { firstBytes, statuses } = recorded({ outcome: ABORTED, status: 0, firstByteMs: -1 })
  assert.deepEqual(firstBytes, [0, 0])
  assert.deepEqual(
    statuses.map(([status]) => status),
    [0]
  )
})

test('a first byte after 0 ms counts', () => {
  assert.deepEqual(recorded({ firstByteMs: 0 }).firstBytes, [1, 0])
})

for (const [outcome, errors] of [
  [COMPLETED, 0],
  [ABORTED, 0],
  [UPGRADED, 0],
  [ERRORED, 1],
  [TIMED_OUT, 1],
]) {
  test(`${OUTCOMES[outcome]} is ${errors === 0 ? 'no' : 'an'} error of the route`, () => {
    assert.equal(recorded({ outcome }).sinceStart.errors, errors)
  })
}

test('a stream counts for the rate and in its own series, not in the durations', () => {
  const { outcomes, statuses, streams, sinceStart } = recorded({ isStream: true, outcome: ERRORED })
  assert.deepEqual(outcomes, [0, 1, 0, 0, 0])
  assert.deepEqual(statuses, [])
  assert.equal(streams, 1)
  assert.deepEqual([sinceStart.count, sinceStart.errors, sinceStart.histogram.totalCount], [1, 1, 0])
})

test('an upgraded connection has no duration', () => {
  const { outcomes, statuses, streams, sinceStart } = recorded({ outcome: UPGRADED, firstByteMs: -1 })
  assert.deepEqual(outcomes, [0, 0, 0, 1, 0])
  assert.deepEqual([statuses, streams, sinceStart.histogram.totalCount], [[], undefined, 0])
})

test('series stay separate while the tables grow', () => {
  const table = new RouteTable({ max: 500, overflow: '(other)', unmatched: '(unmatched)' })
  for (let i = 0; i < 300; i++) {
    for (let route = 0; route <= i; route += 50) {
      table.find(`/${route}`, 0).record({ ...ended, status: 200 + (i % 7) }, NOW_MS)
    }
  }
  const { values } = table.tables.counters
  const durations = table.tables.durations.copy()
  for (const one of table.series) {
    const count = 300 - Number(one.route.slice(1))
    assert.equal(values[one.row * series.COUNTERS + COMPLETED], count)
    assert.equal(
      one.statuses.reduce((sum, { row }) => sum + countOf(durations, row, ADVISED_BOUNDS), 0),
      count
    )
  }
})
