'use strict'
// A real Prometheus (Debian package `prometheus`) scrapes a real Express server under a little load, and
// answers what a dashboard asks.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const express = require('express')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { startPrometheus } = require('../support/prometheus')

const P99 =
  'histogram_quantile(0.99, sum by (le, http_route) (rate(http_server_request_duration_seconds_bucket[5m])))'

test('Prometheus scrapes the server and answers the p99 of each route', async (t) => {
  const spillway = spillwayFor(t)
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
  app.get('/fail', () => {
    throw new Error('as it should')
  })
  app.use((error, req, res, next) => res.status(500).end(error.message))
  const { port, get } = await serve(t, app)
  // A rate needs a first value to rise from.
  await Promise.all([get('/users/0'), get('/fail'), get('/nowhere')])
  const prometheus = await startPrometheus(t, port)
  await prometheus.scraped(1)
  for (let i = 1; i <= 20; i++) await Promise.all([get(`/users/${i}`), get('/fail'), get('/nowhere')])
  await prometheus.scraped(4)

  const byRoute = new Map(
    (await prometheus.answer(P99)).map(({ metric, value }) => [metric.http_route, Number(value[1])])
  )
  assert.deepEqual([...byRoute.keys()].sort(), ['(unmatched)', '/fail', '/users/:id'])
  for (const [route, seconds] of byRoute) assert.ok(seconds > 0 && seconds <= 10, `${route}: ${seconds}`)

  for (const expression of [
    'sum by (http_route) (rate(spillway_requests_total{outcome="errored"}[5m]))',
    'nodejs_eventloop_delay_p99_seconds',
    'nodejs_eventloop_utilization_ratio',
    'rate(nodejs_eventloop_time_seconds_total{nodejs_eventloop_state="active"}[5m])',
    'v8js_memory_heap_used_bytes{v8js_heap_space_name="old_space"} / on() group_left spillway_heap_limit_bytes',
    'process_resident_memory_bytes / spillway_memory_limit_bytes',
    'process_cpu_seconds_total',
  ]) {
    assert.ok((await prometheus.answer(expression)).length > 0, `no answer to ${expression}`)
  }
})
