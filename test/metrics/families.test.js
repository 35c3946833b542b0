'use strict'
// The families by name, type and labels, as a dashboard relies on them.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const client = require('prom-client')
const { LAG_FAMILIES, NATIVE_FAMILIES } = require('../../src/core/metrics/families')
const { FAMILIES } = require('../support/families')
const { leapingClock } = require('../support/leaping-clock')
const { parse, oneValue } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { Pool } = require('pg')
const { withoutDatabase } = require('../pools/fake-client')
const { ended, spillwayFor } = require('../support/spillway')

const SERIES = ['http_request_method', 'http_route']
const NAMES = {
  http_server_request_duration_seconds: [
    'histogram',
    [...SERIES, 'http_response_status_code', 'url_scheme', 'le'],
  ],
  http_server_request_body_size_bytes: [
    'histogram',
    [...SERIES, 'http_response_status_code', 'url_scheme', 'le'],
  ],
  http_server_response_body_size_bytes: [
    'histogram',
    [...SERIES, 'http_response_status_code', 'url_scheme', 'le'],
  ],
  http_server_active_requests: ['gauge', ['http_request_method', 'url_scheme']],
  spillway_requests_total: ['counter', [...SERIES, 'outcome']],
  spillway_response_first_byte_seconds: ['summary', ['http_request_method']],
  spillway_request_part_seconds_total: ['counter', ['http_route', 'part']],
  spillway_route_loop_seconds_total: ['counter', ['http_route']],
  spillway_request_bytes_total: ['counter', ['http_request_method']],
  spillway_response_bytes_total: ['counter', ['http_request_method']],
  spillway_stream_duration_seconds: ['histogram', [...SERIES, 'le']],
  http_client_request_duration_seconds: [
    'histogram',
    ['http_request_method', 'http_response_status_code', 'le', 'server_address', 'server_port'],
  ],
  spillway_outgoing_part_seconds_total: ['counter', ['part', 'server_address', 'server_port']],
  spillway_outgoing_connections_total: ['counter', ['server_address', 'server_port']],
  spillway_errors_total: ['counter', ['error_type', 'http_response_status_code', 'http_route']],
  spillway_shed_requests_total: ['counter', ['priority', 'reason']],
  spillway_would_shed_requests_total: ['counter', ['priority', 'reason']],
  spillway_wasted_seconds_total: ['counter', ['http_route', 'resource']],
  spillway_admitted_requests_total: ['counter', []],
  spillway_abandoned_requests_total: ['counter', []],
  spillway_queue_length: ['gauge', []],
  spillway_queue_delay_seconds: ['histogram', ['le']],
  spillway_concurrency_limit: ['gauge', []],
  spillway_proxy_wait_seconds: ['histogram', ['le']],
  spillway_proxy_seconds_total: ['counter', []],
  spillway_implausible_request_starts_total: ['counter', []],
  spillway_requests_with_deadline_total: ['counter', []],
  spillway_forwarded_deadlines_total: ['counter', []],
  spillway_overload: ['gauge', ['resource']],
  spillway_pressure_ratio: ['gauge', []],
  spillway_degraded_requests_total: ['counter', ['priority']],
  spillway_overloads_total: ['counter', []],
  spillway_overloaded_seconds_total: ['counter', []],
  spillway_stalls_total: ['counter', ['cause']],
  spillway_stall_seconds_total: ['counter', ['cause']],
  spillway_routes_folded_total: ['counter', []],
  spillway_labels_folded_total: ['counter', ['label']],
  spillway_client_errors_total: ['counter', ['code']],
  spillway_internal_errors_total: ['counter', ['place']],
  spillway_limit_requests: ['gauge', ['limit', 'state']],
  spillway_limit_slots: ['gauge', ['limit']],
  spillway_limit_wait_seconds: ['histogram', ['le', 'limit']],
  spillway_socket_connections: ['gauge', ['transport']],
  spillway_socket_connections_opened_total: ['counter', ['transport']],
  spillway_socket_connections_closed_total: ['counter', ['reason']],
  spillway_socket_connections_refused_total: ['counter', ['reason']],
  spillway_socket_messages_total: ['counter', ['direction']],
  spillway_socket_message_bytes_total: ['counter', ['direction']],
  spillway_socket_events_total: ['counter', ['event', 'outcome']],
  spillway_socket_event_duration_seconds: ['histogram', ['event', 'le']],
  spillway_socket_event_ack_seconds: ['histogram', ['event', 'le']],
  db_client_connection_count: ['gauge', ['db_client_connection_pool_name', 'db_client_connection_state']],
  db_client_connection_limit: ['gauge', ['db_client_connection_pool_name']],
  db_client_connection_pending_requests: ['gauge', ['db_client_connection_pool_name']],
  db_client_connection_timeouts_total: ['counter', ['db_client_connection_pool_name']],
  db_client_connection_wait_time_seconds: ['histogram', ['db_client_connection_pool_name', 'le']],
  db_client_connection_use_time_seconds: ['histogram', ['db_client_connection_pool_name', 'le']],
  db_client_operation_duration_seconds: [
    'histogram',
    ['db_client_connection_pool_name', 'db_collection_name', 'db_operation_name', 'db_system_name', 'le'],
  ],
  spillway_process_errors_total: ['counter', ['event']],
  spillway_process_warnings_total: ['counter', ['name']],
  spillway_build_info: ['gauge', ['revision', 'version']],
  spillway_start_time_seconds: ['gauge', []],
  spillway_findings: ['gauge', ['problem', 'severity']],
  nodejs_eventloop_delay_max_seconds: ['gauge', []],
  nodejs_eventloop_delay_min_seconds: ['gauge', []],
  nodejs_eventloop_delay_mean_seconds: ['gauge', []],
  nodejs_eventloop_delay_stddev_seconds: ['gauge', []],
  nodejs_eventloop_delay_p50_seconds: ['gauge', []],
  nodejs_eventloop_delay_p90_seconds: ['gauge', []],
  nodejs_eventloop_delay_p99_seconds: ['gauge', []],
  nodejs_eventloop_utilization_ratio: ['gauge', []],
  nodejs_eventloop_time_seconds_total: ['counter', ['nodejs_eventloop_state']],
  v8js_gc_duration_seconds: ['histogram', ['le', 'v8js_gc_type']],
  v8js_resource_active: ['gauge', ['v8js_resource_type']],
  v8js_memory_heap_used_bytes: ['gauge', ['v8js_heap_space_name']],
  spillway_heap_limit_bytes: ['gauge', []],
  spillway_heap_after_gc_bytes: ['gauge', []],
  spillway_heap_growing: ['gauge', []],
  spillway_heap_growth_bytes_per_second: ['gauge', []],
  spillway_heap_time_to_limit_seconds: ['gauge', []],
  spillway_external_memory_bytes: ['gauge', []],
  spillway_memory_limit_bytes: ['gauge', []],
}
/** What nothing has happened to yet has no value, and so no labels. */
const MAY_BE_EMPTY = [
  'spillway_findings',
  'spillway_process_warnings_total',
  'spillway_stalls_total',
  'spillway_stall_seconds_total',
  'spillway_routes_folded_total',
  'spillway_labels_folded_total',
  'spillway_request_part_seconds_total',
  'spillway_route_loop_seconds_total',
  'spillway_abandoned_requests_total',
  'spillway_proxy_wait_seconds',
  'spillway_proxy_seconds_total',
  'spillway_implausible_request_starts_total',
  'spillway_requests_with_deadline_total',
  'spillway_forwarded_deadlines_total',
  'spillway_queue_delay_seconds',
  'v8js_gc_duration_seconds',
  'spillway_heap_after_gc_bytes',
  'spillway_errors_total',
  'spillway_heap_growing',
  'spillway_heap_growth_bytes_per_second',
  'spillway_heap_time_to_limit_seconds',
  'spillway_limit_wait_seconds',
  'spillway_wasted_seconds_total',
  'spillway_would_shed_requests_total',
  'spillway_concurrency_limit',
  'spillway_degraded_requests_total',
  'spillway_client_errors_total',
]

test('the list of families', () => {
  assert.deepEqual(FAMILIES.map(({ name }) => name).sort(), Object.keys(NAMES).sort())
})

test('the growth of memory outside the heap is shown if it reaches its limit first', () => {
  const valuesOf = (captured) =>
    ['growing', 'growth_bytes_per_second', 'time_to_limit_seconds'].map((end) => {
      const { points } = FAMILIES.find(({ name }) => name === `spillway_heap_${end}`)
      return [...points(captured)][0]?.value
    })
  const unknown = { verdict: 'unknown' }
  const slow = { verdict: 'growing', bytesPerSecond: 10, secondsToLimit: 900 }
  const quick = { verdict: 'growing', bytesPerSecond: 20, secondsToLimit: 300 }
  assert.deepEqual(valuesOf({ heapTrend: unknown, externalTrend: slow }), [1, 10, 900])
  assert.deepEqual(valuesOf({ heapTrend: slow, externalTrend: quick }), [1, 20, 300])
  assert.deepEqual(valuesOf({ heapTrend: quick, externalTrend: slow }), [1, 20, 300])
  assert.deepEqual(valuesOf({ heapTrend: quick, externalTrend: unknown }), [1, 20, 300])
})

test('each family has its type, labels and help in the text', async (t) => {
  const spillway = spillwayFor(t, {
    endpoints: { allow: () => true },
    routes: {
      label: (req) => {
        if (req.url === '/fault') throw new Error('as it should')
      },
    },
    latency: { streamAfter: 1 },
    metrics: { bodySizes: true },
  })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => {
      res.write('begun')
      setTimeout(() => res.end(), 15)
    })
  )
  spillway.limit({ name: 'report', maxConcurrent: 1 })
  const pool = new Pool(withoutDatabase())
  spillway.pool('orders', pool, { queries: true })
  await pool.query('select 1 from items')
  await pool.end()
  await get('/fault')
  await get('/')
  await ended(spillway, 2)
  const families = parse((await get('/metrics')).body)
  for (const [name, [type, labels]] of Object.entries(NAMES)) {
    const family = families.get(name)
    assert.equal(family.type, type, name)
    assert.match(family.help, /^[A-Z][ -~]+\.$/, name)
    if (family.samples.length === 0 && (MAY_BE_EMPTY.includes(name) || name.includes('_socket_'))) continue
    // The durations of streams are in a family of their own.
    if (name === 'http_server_request_duration_seconds') continue
    const seen = new Set(family.samples.flatMap((sample) => Object.keys(sample.labels)))
    assert.deepEqual([...seen].sort(), [...labels].sort(), name)
  }
})

test('rejections that any process may have are counted from 0, because rate() misses the first value of a series', async (t) => {
  for (const [shed, reasons] of [
    [{}, ['loop', 'memory']],
    [{ maxConcurrent: 10 }, ['loop', 'concurrency', 'memory']],
  ]) {
    const spillway = spillwayFor(t, { shed })
    const { get } = await serve(
      t,
      spillway.wrap(() => {})
    )
    const families = parse((await get('/metrics')).body)
    assert.deepEqual(
      families
        .get('spillway_shed_requests_total')
        .samples.map(({ labels, value }) => [labels.reason, labels.priority, value]),
      reasons.map((reason) => [reason, 'normal', 0])
    )
    assert.deepEqual(
      families.get('spillway_overload').samples.map(({ labels }) => labels.resource),
      reasons
    )
  }
})

test('the seconds of stalls are counted from 0 by cause, because an alert reads their rate', async (t) => {
  const spillway = spillwayFor(t, { insight: {} })
  const { get } = await serve(
    t,
    spillway.wrap(() => {})
  )
  const { samples } = parse((await get('/metrics')).body).get('spillway_stall_seconds_total')
  assert.deepEqual(
    samples.map(({ labels }) => labels.cause),
    ['javascript', 'native', 'garbage-collection', 'host', 'unknown']
  )
})

test('durations have method, route, status and scheme; without a response the status is empty and the error has a type', async (t) => {
  const spillway = spillwayFor(t)
  const { get, server } = await serve(
    t,
    spillway.wrap((req, res) => (req.url === '/cut' ? res.destroy() : res.writeHead(404).end()))
  )
  server.on('clientError', () => {})
  await get('/x')
  await get('/cut').catch(() => {})
  await ended(spillway, 2)
  const { samples } = parse((await get('/metrics')).body).get('http_server_request_duration_seconds')
  const labels = samples.filter(({ name }) => name.endsWith('_count')).map((sample) => sample.labels)
  assert.deepEqual(
    labels.map((each) => Object.keys(each)),
    [
      ['http_request_method', 'http_route', 'http_response_status_code', 'url_scheme'],
      ['http_request_method', 'http_route', 'http_response_status_code', 'url_scheme', 'error_type'],
    ]
  )
  assert.deepEqual(
    labels.map((each) => each.http_response_status_code),
    ['404', '']
  )
})

test('a method is listed from its first request on, and falls to 0 afterwards', async (t) => {
  const clock = leapingClock()
  const spillway = spillwayFor(t, {}, clock)
  const during = Promise.withResolvers?.() ?? withResolvers()
  const { get } = await serve(
    t,
    spillway.wrap(async (_req, res) => {
      await during.promise
      res.end()
    })
  )
  const scrape = async () => {
    clock.leap()
    return parse((await get('/metrics')).body)
  }
  const inFlight = async (method) =>
    oneValue(await scrape(), 'http_server_active_requests', {
      http_request_method: method,
      url_scheme: 'http',
    })
  assert.deepEqual((await scrape()).get('http_server_active_requests').samples, [])
  const answers = [get('/'), get('/')]
  while (spillway.snapshot().requests.inFlight < 2) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await inFlight('GET'), 2)
  during.resolve()
  await Promise.all(answers)
  await ended(spillway, 2)
  assert.equal(await inFlight('GET'), 0)
  await assert.rejects(inFlight('POST'), /0 values/)
})

function withResolvers() {
  let resolve
  const promise = new Promise((done) => (resolve = done))
  return { promise, resolve }
}

test('the lag families have the names of prom-client', () => {
  const defaults = new client.Registry()
  client.collectDefaultMetrics({ register: defaults, eventLoopMonitoringPrecision: 2 ** 31 - 1 })
  const lag = defaults.getMetricsAsArray().filter(({ name }) => name.startsWith('nodejs_eventloop_lag'))
  assert.deepEqual(LAG_FAMILIES.map(({ name }) => name).sort(), lag.map(({ name }) => name).sort())
})

test("no family of ours has the name of one of prom-client's default metrics", () => {
  const defaults = new client.Registry()
  client.collectDefaultMetrics({ register: defaults, eventLoopMonitoringPrecision: 2 ** 31 - 1 })
  assert.deepEqual(
    [...FAMILIES, ...NATIVE_FAMILIES].filter(({ name }) => defaults.getSingleMetric(name) !== undefined),
    []
  )
})
