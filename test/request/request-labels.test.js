'use strict'
// Labels of the user's on the series of requests: their values bounded, whatever the functions return, and in
// every format.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const express = require('express')
const Koa = require('koa')
const client = require('prom-client')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { LabelledTable } = require('../../src/core/request/labelled-series')
const { RouteTable } = require('../../src/core/request/route-table')
const { leapingClock } = require('../support/leaping-clock')
const { parseProtobuf } = require('../support/metrics-protobuf')
const { parse, oneValue } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { collected, startMetrics } = require('../support/telemetry')

const OTHER = '(other)'
const PROTOBUF =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
const ENDED = {
  outcome: 0,
  status: 200,
  durationMs: 1,
  firstByteMs: 1,
  requestBytes: 1,
  responseBytes: 1,
  isStream: false,
  scheme: 0,
  res: {},
}

function tableOf(labels, { most = 3, max = 1000 } = {}) {
  const reported = []
  const internalErrors = new InternalErrors({
    error: ({ place, err }) => reported.push([place, err.message]),
  })
  const routes = new RouteTable({ max, overflow: OTHER, unmatched: '(unmatched)' })
  const metrics = { labels, maxLabelValues: most }
  const table = new LabelledTable(metrics, { max, overflow: OTHER }, routes.tables, internalErrors)
  const record = (req, route = '/a') => {
    const series = routes.find(route, 0)
    const request = { ...ENDED, req }
    series.record(request, 0)
    table.record(series, request)
  }
  const listed = () => table.series.map(({ route, labels: values }) => [route, ...Object.values(values)])
  return { table, record, listed, reported, internalErrors }
}

const tenant = (req) => req.tenant

test('each value has its own series, and equal values share a series', () => {
  const { record, listed, table } = tableOf({ tenant })
  for (const name of ['a', 'b', 'a']) record({ tenant: name })
  assert.deepEqual(listed(), [
    ['/a', 'a'],
    ['/a', 'b'],
  ])
  assert.deepEqual(table.folded, [['tenant', 0]])
})

test('beyond the limit, later values of a label are folded into one, and each such request is counted', () => {
  const { record, listed, table } = tableOf({ tenant, kind: (req) => req.kind }, { most: 2 })
  for (const name of ['a', 'b', 'c', 'd', 'a', 'c']) record({ tenant: name, kind: 'x' })
  assert.deepEqual(listed(), [
    ['/a', 'a', 'x'],
    ['/a', 'b', 'x'],
    ['/a', OTHER, 'x'],
  ])
  assert.deepEqual(table.folded, [
    ['tenant', 3],
    ['kind', 0],
  ])
})

test('at most routes.max combinations of route and values exist; beyond that all labels are folded', () => {
  const { record, listed, table } = tableOf({ tenant, kind: (req) => req.kind }, { most: 10, max: 2 })
  record({ tenant: 'a', kind: 'x' })
  record({ tenant: 'b', kind: 'x' })
  record({ tenant: 'b', kind: 'y' })
  record({ tenant: 'a', kind: 'x' })
  record({ tenant: 'a', kind: 'x' }, '/b')
  assert.deepEqual(listed(), [
    ['/a', 'a', 'x'],
    ['/a', 'b', 'x'],
    ['/a', OTHER, OTHER],
    ['/b', OTHER, OTHER],
  ])
  assert.deepEqual(table.folded, [
    ['tenant', 2],
    ['kind', 2],
  ])
})

for (const [given, value] of [
  [7, '7'],
  [2n ** 64n, '18446744073709551616'],
  [true, 'true'],
  ['', ''],
  [undefined, ''],
  [null, ''],
]) {
  test(`what returns ${String(given)} gives the value '${value}', and is no mistake`, () => {
    const { record, listed, reported } = tableOf({ tenant: () => given })
    record({})
    assert.deepEqual([listed(), reported], [[['/a', value]], []])
  })
}

for (const [what, ask, message] of [
  ['throws', () => assert.fail('as it should'), /as it should/],
  ['returns an object', () => ({ name: 'a' }), /'tenant' returned object instead of a string/],
  ['returns a symbol', () => Symbol('a'), /returned symbol/],
  ['is asynchronous', async () => 'a', /returned object/],
  ['rejects', () => Promise.reject(new Error('as it should')), /returned object/],
]) {
  test(`what ${what} gives no value, is counted and logged once`, async () => {
    const { record, listed, reported, internalErrors } = tableOf({ tenant: ask })
    record({})
    record({})
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(listed(), [['/a', '']])
    assert.equal(reported.length, 1)
    assert.equal(reported[0][0], 'metrics.labels')
    assert.match(reported[0][1], message)
    assert.ok(new Map(internalErrors.list()).get('metrics.labels') >= 2)
  })
}

test('a long value is cut, and does not keep the original text alive', () => {
  const { record, listed } = tableOf({ tenant })
  record({ tenant: 'é'.repeat(1000) })
  assert.equal(listed()[0][1], 'é'.repeat(256))
})

test('no values make more series than the limits allow', () => {
  const values = fc.record({
    tenant: fc.oneof(
      fc.string({ unit: 'binary', maxLength: 2 }),
      fc.string({ minLength: 250, maxLength: 260 })
    ),
    kind: fc.oneof(fc.integer(), fc.constant(OTHER), fc.constant('')),
    route: fc.constantFrom('/a', '/b', '/c'),
  })
  const limits = fc.record({ most: fc.integer({ min: 1, max: 4 }), max: fc.integer({ min: 3, max: 6 }) })
  fc.assert(
    fc.property(limits, fc.array(values, { maxLength: 200 }), ({ most, max }, requests) => {
      const { record, listed, reported } = tableOf({ tenant, kind: (req) => req.kind }, { most, max })
      for (const { route, ...req } of requests) record(req, route)
      const all = listed()
      for (const at of [1, 2]) {
        const known = new Set(all.map((each) => each[at]))
        known.delete(OTHER)
        known.delete('')
        assert.ok(known.size <= most, `${known.size} values`)
      }
      assert.ok(all.filter(([, ...labels]) => labels.some((label) => label !== OTHER)).length <= max)
      assert.equal(new Set(all.map((each) => Buffer.from(JSON.stringify(each)).toString())).size, all.length)
      assert.deepEqual(reported, [])
    })
  )
})

const ODD = 'a "quoted"\\\nvalue, größe'

const APPS = {
  'Express 5': (spillway) =>
    express()
      .use(spillway.express())
      .get('/users/:id', (_req, res) => res.end()),
  'plain http': (spillway) => spillway.wrap((_req, res) => res.end()),
  'Koa 3': (spillway) =>
    new Koa()
      .use(spillway.koa())
      .use((ctx) => {
        ctx.body = 'ok'
      })
      .callback(),
}

for (const [name, appOf] of Object.entries(APPS)) {
  test(`${name}: each function is asked once a request, with its request and response`, async (t) => {
    const asked = []
    const spillway = spillwayFor(t, {
      metrics: {
        labels: {
          tenant: (req, res) => {
            asked.push(res.statusCode)
            return req.headers['x-tenant']
          },
        },
      },
    })
    const { get } = await serve(t, appOf(spillway))
    await get('/users/1', { headers: { 'x-tenant': 'a' } })
    await ended(spillway, 1)
    assert.deepEqual(asked, [200])
    const families = parse((await get('/metrics')).body)
    assert.equal(oneValue(families, 'spillway_requests_total', { tenant: 'a', outcome: 'completed' }), 1)
    assert.deepEqual(asked, [200])
  })
}

async function serveLabelled(t, options) {
  const clock = leapingClock()
  const labels = { tenant: (req) => req.headers['x-tenant'] && ODD }
  const spillway = spillwayFor(
    t,
    { metrics: { labels }, latency: { nativeHistograms: true }, ...options },
    clock
  )
  const { get, port } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  for (const tenants of [{ 'x-tenant': '1' }, { 'x-tenant': '1' }, {}]) await get('/', { headers: tenants })
  await ended(spillway, 3)
  return { spillway, get, port, clock }
}

test('labels are on the durations and outcomes, escaped, in the text, OpenMetrics and protobuf', async (t) => {
  const { get, port, clock } = await serveLabelled(t)
  const families = parse((await get('/metrics')).body)
  for (const [tenantOf, count] of [
    [ODD, 2],
    ['', 1],
  ]) {
    for (const name of ['spillway_requests_total', 'http_server_request_duration_seconds_count'])
      assert.equal(oneValue(families, name, { tenant: tenantOf }), count, name)
  }
  assert.equal(oneValue(families, 'spillway_labels_folded_total', { label: 'tenant' }), 0)
  clock.leap()
  const { body } = await get('/metrics', { headers: { accept: 'application/openmetrics-text' } })
  assert.ok(
    body.includes(
      'spillway_requests_total{http_request_method="GET",http_route="(unmatched)",' +
        'tenant="a \\"quoted\\"\\\\\\nvalue, größe",outcome="completed"} 2\n'
    )
  )
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { accept: PROTOBUF } })
  const read = parseProtobuf(Buffer.from(await response.arrayBuffer()))
  for (const name of ['http_server_request_duration_seconds', 'spillway_request_duration_seconds']) {
    assert.deepEqual(
      read.get(name).metric.map(({ labels, histogram }) => [labels.tenant, histogram.sample_count]),
      [
        [ODD, 2],
        ['', 1],
      ],
      name
    )
  }
})

test('labels appear in a registry of the user; the snapshot stays by method and route', async (t) => {
  const registry = new client.Registry()
  const { spillway } = await serveLabelled(t, { registry })
  const own = parse(await registry.metrics())
  assert.equal(oneValue(own, 'spillway_requests_total', { tenant: ODD }), 2)
  const { routes } = spillway.snapshot()
  assert.deepEqual(
    routes.map(({ route, outcomes }) => [route, outcomes.completed]),
    [['(unmatched)', 3]]
  )
})

test('OpenTelemetry gets labels as attributes, and no attribute for an empty value', async (t) => {
  const labels = { tenant: (req) => req.headers['x-tenant'] && ODD }
  const spillway = spillwayFor(t, { metrics: { labels } })
  const reader = startMetrics(t, { metricProducers: [spillway.metricProducer()] })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  await get('/', { headers: { 'x-tenant': '1' } })
  await get('/')
  await ended(spillway, 2)
  const all = await collected(reader)
  const { dataPoints } = all.find(({ descriptor }) => descriptor.name === 'http.server.request.duration')
  assert.deepEqual(
    dataPoints.map(({ attributes }) => attributes.tenant),
    [ODD, undefined]
  )
})

test('an upgraded connection has no response, and so no label values', async (t) => {
  const spillway = spillwayFor(t, { metrics: { labels: { tenant: (_req, res) => res.statusCode } } })
  const { server, request } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  spillway.attach(server)
  server.on('upgrade', (_req, socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'))
  await request({ path: '/', headers: { connection: 'upgrade', upgrade: 'x' } })
  await ended(spillway, 1)
  const families = parse((await request({ path: '/metrics' })).body)
  assert.equal(oneValue(families, 'spillway_requests_total', { tenant: '', outcome: 'upgraded' }), 1)
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})
