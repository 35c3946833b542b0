'use strict'
// The option group `metrics`: bounds, prefix, prom-client's default metrics, as /metrics and registries show
// them.

const assert = require('node:assert/strict')
const { afterEach, test } = require('node:test')
const { setImmediate: turn } = require('node:timers/promises')
const client = require('prom-client')
const prometheusIo = require('@prometheus-io/client')
const { LAG_FAMILIES } = require('../../src/core/metrics/families')
const { FAMILIES } = require('../support/families')
const { leapingClock } = require('../support/leaping-clock')
const { parseProtobuf } = require('../support/metrics-protobuf')
const { parse, oneValue } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { collected, startMetrics } = require('../support/telemetry')

const DURATION = 'http_server_request_duration_seconds'
const PROTOBUF =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
/** What prom-client calls the same as some of ours. */
const DUPLICATES = FAMILIES.filter(({ promClientName }) => promClientName !== undefined)
const NEVER_MS = 2 ** 31 - 1

afterEach(() => client.register.clear())

async function serveMetrics(t, options) {
  const clock = leapingClock()
  const spillway = spillwayFor(t, options, clock)
  const { get, port } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  await get('/')
  await ended(spillway, 1)
  const scrape = async (accept) => {
    clock.leap()
    return (await get('/metrics', { headers: accept === undefined ? {} : { accept } })).body
  }
  return { spillway, port, scrape, families: async () => parse(await scrape()) }
}

async function bytesOf(port, accept) {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { accept } })
  return Buffer.from(await response.arrayBuffer())
}

const boundsIn = (families) =>
  families
    .get(DURATION)
    .samples.filter(({ name }) => name.endsWith('_bucket'))
    .map(({ labels }) => labels.le)

test('custom bounds apply to the request durations only, in text and OpenMetrics', async (t) => {
  const { families, scrape } = await serveMetrics(t, { metrics: { buckets: [0.25, 1, 30] } })
  assert.deepEqual(boundsIn(await families()), ['0.25', '1', '30', '+Inf'])
  const les = [
    ...(await scrape('application/openmetrics-text')).matchAll(/^http_server_\w+\{.*le="(.*)"\}/gm),
  ]
  assert.deepEqual(
    les.map(([, le]) => le),
    ['0.25', '1.0', '30.0', '+Inf']
  )
})

test('custom bounds apply in protobuf, in registries of both clients and in OpenTelemetry', async (t) => {
  const buckets = [0.25, 1, 30]
  for (const { Registry } of [client, prometheusIo]) {
    const registry = new Registry()
    const { port } = await serveMetrics(t, { registry, metrics: { buckets } })
    const [{ histogram }] = parseProtobuf(await bytesOf(port, PROTOBUF)).get(DURATION).metric
    assert.deepEqual(
      histogram.bucket.map(({ upper_bound }) => upper_bound),
      buckets
    )
    assert.equal(histogram.sample_count, 1)
    assert.deepEqual(boundsIn(parse(await registry.metrics())), ['0.25', '1', '30', '+Inf'])
  }
  const spillway = spillwayFor(t, { metrics: { buckets } })
  const reader = startMetrics(t, { metricProducers: [spillway.metricProducer()] })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  await get('/')
  await ended(spillway, 1)
  const { dataPoints } = (await collected(reader)).find(
    ({ descriptor }) => descriptor.name === 'http.server.request.duration'
  )
  assert.deepEqual(dataPoints[0].value.buckets.boundaries, buckets)
  assert.equal(
    dataPoints[0].value.buckets.counts.reduce((a, b) => a + b, 0),
    1
  )
})

test('the prefix replaces spillway_, and names of conventions stay', async (t) => {
  const { families } = await serveMetrics(t, {
    metrics: { prefix: 'shop_' },
    latency: { nativeHistograms: true },
  })
  const names = [...(await families()).keys()]
  assert.deepEqual(
    names.filter((name) => name.startsWith('spillway')),
    []
  )
  assert.ok(names.includes('shop_requests_total') && names.includes(DURATION))
  assert.equal(oneValue(await families(), 'shop_requests_total', { outcome: 'completed' }), 1)
})

test('the prefix applies in a registry too, and a prefix that begins with spillway_ is added once', async (t) => {
  const registry = new client.Registry()
  const { spillway } = await serveMetrics(t, { registry, metrics: { prefix: 'spillway_shop_' } })
  const names = registry.getMetricsAsArray().map(({ name }) => name)
  assert.ok(names.includes('spillway_shop_requests_total'))
  assert.equal(names.length, FAMILIES.length)
  spillway.close()
  assert.deepEqual(registry.getMetricsAsArray(), [])
})

test('by default four process metrics are shown, and no default metrics of prom-client', async (t) => {
  const { families } = await serveMetrics(t)
  const shown = await families()
  const ours = new Set(FAMILIES.map(({ name }) => name))
  assert.deepEqual(
    [...shown.keys()].filter((name) => !ours.has(name)),
    [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'process_cpu_utilization_ratio',
    ]
  )
  assert.ok(oneValue(shown, 'process_resident_memory_bytes') > 1e7)
  assert.ok(oneValue(shown, 'process_cpu_seconds_total') > 0)
  const age = Date.now() / 1000 - oneValue(shown, 'process_start_time_seconds') - process.uptime()
  assert.ok(Math.abs(age) < 2, `${age} s`)
})

const assertOnce = (shown, isTheirs) => {
  for (const { name, promClientName } of DUPLICATES) {
    assert.equal(shown.has(promClientName), isTheirs, promClientName)
    assert.equal(shown.has(name), !isTheirs, name)
  }
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
  ])
    assert.equal(shown.get(name).samples.length, 1, name)
}

test('with `defaults` all default metrics of prom-client are shown under their names, and none again under ours', async (t) => {
  const theirs = new client.Registry()
  client.collectDefaultMetrics({ register: theirs, eventLoopMonitoringPrecision: NEVER_MS })
  const { families, spillway } = await serveMetrics(t, { metrics: { defaults: true } })
  const shown = await families()
  for (const { name } of theirs.getMetricsAsArray()) assert.ok(shown.has(name), name)
  assertOnce(shown, true)
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})

for (const [when, order] of [
  ['before', ['collect', 'create']],
  ['after', ['create', 'collect']],
]) {
  for (const [where, registryOf] of [
    ["prom-client's global register", () => undefined],
    ['a registry that is shared', () => new client.Registry()],
  ]) {
    test(`collectDefaultMetrics() ${when} createSpillway() on ${where} is no error, and nothing is there twice`, async (t) => {
      const registry = registryOf()
      const steps = {
        collect: () =>
          client.collectDefaultMetrics({
            register: registry ?? client.register,
            eventLoopMonitoringPrecision: NEVER_MS,
          }),
        create: async () => serveMetrics(t, { registry }),
      }
      let served
      for (const step of order) served = (await steps[step]()) ?? served
      const shown = await served.families()
      assertOnce(shown, true)
      assert.deepEqual(served.spillway.snapshot().internalErrors, {})
      if (registry === undefined) return
      const own = parse(await registry.metrics())
      for (const { name } of DUPLICATES) assert.deepEqual(own.get(name).samples, [], name)
    })
  }
}

test('default metrics that the application registers with a prefix do not hide ours', async (t) => {
  client.collectDefaultMetrics({ prefix: 'shop_', eventLoopMonitoringPrecision: NEVER_MS })
  const { families } = await serveMetrics(t)
  const shown = await families()
  assertOnce(shown, false)
  assert.ok(shown.has('shop_process_cpu_seconds_total'))
})

test('two instances, one of them with default metrics, do not affect each other', async (t) => {
  const first = await serveMetrics(t, { metrics: { defaults: true } })
  const second = await serveMetrics(t)
  assertOnce(await first.families(), true)
  assertOnce(await second.families(), false)
  await turn()
  assertOnce(await first.families(), true)
})

test('each loop delay family names the prom-client lag family with the same value', () => {
  const lag = LAG_FAMILIES.map(({ name }) => name)
  const names = DUPLICATES.map(({ promClientName }) => promClientName).filter((name) =>
    name.includes('eventloop')
  )
  assert.ok(names.length >= 5)
  for (const name of names) assert.ok(lag.includes(name), name)
})
