'use strict'
// A real Prometheus (2.42) with native histograms and exemplars switched on, which it asks for over protobuf,
// and with exemplars alone, which it asks for as OpenMetrics.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const express = require('express')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { startPrometheus } = require('../support/prometheus')
const { startTracing, traced } = require('../support/tracing')

/** A bucket of schema 3, and what an HDR histogram of two digits is off by itself. */
const TOLERANCE = 2 ** (1 / 8) * 1.01
const REQUESTS = 600
const PROBES = { 0.5: 'p50Ms', 0.9: 'p90Ms', 0.99: 'p99Ms' }

/** An Express server whose answers take 2 to 100 ms, asked 600 times. */
async function serveWaits(t) {
  const spillway = spillwayFor(t, { latency: { nativeHistograms: true }, shed: { mode: 'off' } })
  const app = express()
  app.use(spillway.express())
  app.get('/wait/:ms', (req, res) => setTimeout(() => res.end(), Number(req.params.ms)))
  const { port, get, server } = await serve(t, traced(app))
  // Outside of the span, where a hook on the server is.
  spillway.attach(server)
  const traces = []
  for (let i = 0; i < REQUESTS; i += 50) {
    const answers = Array.from({ length: 50 }, (_, j) => get(`/wait/${2 + ((i + j) * 98) / REQUESTS}`))
    for (const { headers } of await Promise.all(answers)) traces.push(headers['x-trace'])
  }
  await ended(spillway, REQUESTS)
  return { spillway, port, traces }
}

async function exemplarsOf(prometheus) {
  const query = encodeURIComponent('http_server_request_duration_seconds_bucket')
  const hour = `start=${Date.now() / 1000 - 3600}&end=${Date.now() / 1000 + 3600}`
  return (await prometheus.api(`query_exemplars?query=${query}&${hour}`)).flatMap(
    ({ seriesLabels, exemplars }) => exemplars.map((exemplar) => ({ le: seriesLabels.le, ...exemplar }))
  )
}

function assertExemplars(exemplars, traces) {
  assert.ok(exemplars.length >= 4, `${exemplars.length} exemplars`)
  for (const { le, value, labels } of exemplars) {
    assert.ok(traces.includes(`${labels.trace_id} ${labels.span_id}`), JSON.stringify(labels))
    assert.ok(Number(value) <= Number(le), `${value} in ${le}`)
  }
}

test("histogram_quantile of the native histogram agrees with HDR, and exemplars lead to the requests' traces", async (t) => {
  startTracing(t)
  const { spillway, port, traces } = await serveWaits(t)
  const prometheus = await startPrometheus(t, port, { features: 'native-histograms,exemplar-storage' })
  await prometheus.scraped(2)

  const { sinceStart } = spillway.snapshot().routes.find(({ route }) => route.startsWith('/wait'))
  for (const [ratio, key] of Object.entries(PROBES)) {
    const [{ metric, value }] = await prometheus.answer(
      `histogram_quantile(${ratio}, spillway_request_duration_seconds)`
    )
    assert.deepEqual([metric.http_request_method, metric.http_route], ['GET', '/wait/:ms'])
    const off = (Number(value[1]) * 1000) / sinceStart[key]
    assert.ok(off < TOLERANCE && off > 1 / TOLERANCE, `${key}: ${value[1]} s for ${sinceStart[key]} ms`)
  }
  const number = async (expression) => Number((await prometheus.answer(expression))[0].value[1])
  assert.equal(await number('histogram_count(spillway_request_duration_seconds)'), REQUESTS)
  const sums = [
    'histogram_sum(spillway_request_duration_seconds)',
    'http_server_request_duration_seconds_sum',
  ]
  assert.equal(await number(sums[0]), await number(sums[1]))
  // The classic histogram goes on beside it, and everything else is there over protobuf too.
  assert.equal(await number('http_server_request_duration_seconds_bucket{le="+Inf"}'), REQUESTS)
  assert.equal(await number('http_server_request_duration_seconds_bucket{le="10.0"}'), REQUESTS)
  assert.equal(await number('spillway_requests_total{outcome="completed"}'), REQUESTS)
  assert.ok((await number('process_cpu_seconds_total')) > 0)
  assert.ok((await number('nodejs_eventloop_delay_p99_seconds')) > 0)
  assertExemplars(await exemplarsOf(prometheus), traces)
})

test('without native histograms it scrapes OpenMetrics: the same series, with exemplars', async (t) => {
  startTracing(t)
  const { port, traces } = await serveWaits(t)
  const prometheus = await startPrometheus(t, port, { features: 'exemplar-storage' })
  await prometheus.scraped(2)
  const number = async (expression) => Number((await prometheus.answer(expression))[0].value[1])
  assert.equal(await number('http_server_request_duration_seconds_bucket{le="10.0"}'), REQUESTS)
  assert.equal(await number('spillway_requests_total{outcome="completed"}'), REQUESTS)
  assert.ok((await number('process_cpu_seconds_total')) > 0)
  const [{ unit, type }] = await prometheus.api(
    'targets/metadata?metric=http_server_request_duration_seconds'
  )
  assert.deepEqual([unit, type], ['seconds', 'histogram'])
  assert.deepEqual(await prometheus.query('spillway_request_duration_seconds'), [])
  assertExemplars(await exemplarsOf(prometheus), traces)
})
