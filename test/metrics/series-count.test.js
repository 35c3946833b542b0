'use strict'
// How many series a usual application has: each costs whoever stores it.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const express = require('express')
const { PARTS } = require('../../src/requests/request-parts')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const MOST = 300
const ROUTES = 10

async function scraped(t, options) {
  const spillway = spillwayFor(t, options)
  const app = express().use(spillway.express())
  for (let i = 0; i < ROUTES; i++) app.get(`/resource-${i}/:id`, (_req, res) => res.json({}))
  const { get } = await serve(t, app.use(spillway.errorHandler()))
  for (let i = 0; i < ROUTES; i++) await get(`/resource-${i}/7`)
  await ended(spillway, ROUTES)
  const { body } = await get('/metrics')
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

test(`an Express application of ${ROUTES} routes has at most ${MOST} series after one request to each`, async (t) => {
  const lines = await scraped(t, { insight: false })
  const byFamily = Object.groupBy?.(lines, (line) =>
    line.split(/[{ ]/)[0].replace(/_(bucket|sum|count)$/, '')
  )
  const counts = Object.entries(byFamily ?? {}).map(([name, { length }]) => `${name} ${length}`)
  assert.ok(lines.length <= MOST, `${lines.length} series:\n${counts.join('\n')}`)
  assert.ok(lines.length > 2 * ROUTES)
})

test('each further route adds its durations by status, its outcomes and its parts, and nothing else', async (t) => {
  const lines = await scraped(t, { metrics: { buckets: [0.1, 1] } })
  const ofRoute = lines.filter((line) => line.includes('http_route="/resource-3/:id"'))
  // A part that took no time has no series.
  const names = ofRoute.map((line) => line.split('{')[0])
  const parts = ofRoute.filter((line) => line.startsWith('spillway_request_part_seconds_total'))
  assert.ok(parts.length >= 1 && parts.length <= PARTS.length, String(parts))
  assert.deepEqual(
    names.filter((name) => name !== 'spillway_request_part_seconds_total'),
    [
      ...Array.from({ length: 3 }, () => 'http_server_request_duration_seconds_bucket'),
      'http_server_request_duration_seconds_sum',
      'http_server_request_duration_seconds_count',
      'spillway_requests_total',
      'spillway_route_loop_seconds_total',
    ]
  )
})
