'use strict'
// How many series a usual application has: each costs whoever stores it.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const express = require('express')
const { PARTS } = require('../../src/core/request/request-parts')
const { stillClock } = require('../support/still-clock')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const MOST = 320
const ROUTES = 10
/** What a part and the loop time of a route must have taken before they have a series. */
const MIN_MS = 100

/** Each handler takes as long as told, by a clock that stands still otherwise. */
async function scraped(t, { handlerMs = 5, ...options } = {}) {
  const clock = stillClock()
  const spillway = spillwayFor(t, options, clock)
  const app = express().use(spillway.express())
  for (let i = 0; i < ROUTES; i++) {
    app.get(`/resource-${i}/:id`, (_req, res) => {
      clock.advance(handlerMs)
      res.json({})
    })
  }
  const { get } = await serve(t, app.use(spillway.errorHandler()))
  for (let i = 0; i < ROUTES; i++) await get(`/resource-${i}/7`)
  await ended(spillway, ROUTES)
  const { body } = await get('/metrics')
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

const familyOf = (line) => line.split(/[{ ]/)[0]

test(`an Express application of ${ROUTES} routes has at most ${MOST} series after one request to each`, async (t) => {
  // The requests of this test are outgoing calls of the process.
  const lines = await scraped(t, { insight: { outgoing: false } })
  const byFamily = Object.groupBy?.(lines, (line) => familyOf(line).replace(/_(bucket|sum|count)$/, ''))
  const counts = Object.entries(byFamily ?? {}).map(([name, { length }]) => `${name} ${length}`)
  assert.ok(lines.length <= MOST, `${lines.length} series:\n${counts.join('\n')}`)
  assert.ok(lines.length > 2 * ROUTES)
})

const OF_A_ROUTE = [
  ...Array.from({ length: 3 }, () => 'http_server_request_duration_seconds_bucket'),
  'http_server_request_duration_seconds_sum',
  'http_server_request_duration_seconds_count',
  'spillway_requests_total',
]

async function ofRoute(t, options) {
  const lines = await scraped(t, { metrics: { buckets: [0.1, 1] }, ...options })
  return lines.filter((line) => line.includes('http_route="/resource-3/:id"'))
}

test('each further route adds its durations by status and its outcomes, and nothing else', async (t) => {
  assert.deepEqual((await ofRoute(t, { handlerMs: MIN_MS - 1 })).map(familyOf), OF_A_ROUTE)
})

test('a route adds its loop time, and each part, once it has taken a tenth of a second', async (t) => {
  const lines = await ofRoute(t, { handlerMs: MIN_MS })
  const parts = lines.filter((line) => familyOf(line) === 'spillway_request_part_seconds_total')
  assert.ok(parts.length > 0 && parts.length <= PARTS.length, String(parts))
  assert.ok(
    parts.includes('spillway_request_part_seconds_total{http_route="/resource-3/:id",part="run"} 0.1')
  )
  assert.deepEqual(lines.filter((line) => !parts.includes(line)).map(familyOf), [
    ...OF_A_ROUTE,
    'spillway_route_loop_seconds_total',
  ])
})

test('without `insight.parts` no time has a series', async (t) => {
  for (const insight of [false, { stalls: false, parts: false }])
    assert.deepEqual((await ofRoute(t, { handlerMs: 5000, insight })).map(familyOf), OF_A_ROUTE)
})
