'use strict'
// What /metrics serves by default: our families, the application's, prom-client's default metrics, each once.

const assert = require('node:assert/strict')
const { afterEach, test } = require('node:test')
const client = require('prom-client')
const { LAG_FAMILIES } = require('../../src/core/metrics/families')
const { FAMILIES } = require('../support/families')
const { leapingClock } = require('../support/leaping-clock')
const { parse, oneValue } = require('../support/metrics-text')
const { runNode } = require('../support/run-node')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const OURS = FAMILIES.map(({ name }) => name)
const LAG = LAG_FAMILIES.map(({ name }) => name)
/** One that only prom-client has. */
const DEFAULT = 'process_cpu_seconds_total'

afterEach(() => {
  client.register.clear()
  client.register.setContentType(client.Registry.PROMETHEUS_CONTENT_TYPE)
})

async function serveMetrics(t, options) {
  const clock = leapingClock()
  const spillway = spillwayFor(t, { endpoints: { allow: () => true }, ...options }, clock)
  const { get, port } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  const scrape = async () => {
    clock.leap()
    return parse((await get('/metrics')).body)
  }
  return { spillway, get, port, scrape }
}

test('our families, what the application has registered, and the default metrics, each exactly once', async (t) => {
  const { scrape } = await serveMetrics(t)
  new client.Counter({ name: 'jobs_total', help: 'Jobs.', labelNames: ['kind'] }).inc(
    { kind: 'größe "1"' },
    3
  )
  new client.Histogram({ name: 'job_seconds', help: 'Time.', buckets: [1, 2] }).observe(1.5)
  const families = await scrape()
  const names = [...families.keys()]
  assert.deepEqual(names.slice(0, OURS.length), OURS)
  assert.deepEqual(names.slice(OURS.length, OURS.length + 2), ['jobs_total', 'job_seconds'])
  assert.equal(oneValue(families, 'jobs_total', { kind: 'größe "1"' }), 3)
  assert.equal(oneValue(families, 'job_seconds_bucket', { le: '2' }), 1)
  assert.ok(names.includes(DEFAULT))
  assert.equal(new Set(names).size, names.length)
})

test('the response is Prometheus text and not cached', async (t) => {
  const { get } = await serveMetrics(t)
  const { status, headers } = await get('/metrics')
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-store')
})

test('labels in any script arrive as UTF-8', async (t) => {
  const { get, scrape, spillway } = await serveMetrics(t, { routes: { label: () => 'größe/路径/🚰' } })
  await get('/')
  await ended(spillway, 1)
  assert.equal(
    oneValue(await scrape(), 'spillway_requests_total', {
      http_route: 'größe/路径/🚰',
      outcome: 'completed',
    }),
    1
  )
})

test('a scrape is not counted as a request, nor in flight', async (t) => {
  const { scrape } = await serveMetrics(t)
  for (let i = 0; i < 3; i++) {
    const families = await scrape()
    assert.deepEqual(families.get('spillway_requests_total').samples, [])
    assert.deepEqual(families.get('http_server_active_requests').samples, [])
  }
})

test('the lag families of the default metrics come from the turn clock', async (t) => {
  const { scrape } = await serveMetrics(t, { metrics: { defaults: true } })
  const until = performance.now() + 30
  while (performance.now() < until);
  await new Promise((resolve) => setImmediate(resolve))
  const families = await scrape()
  assert.equal(
    oneValue(families, 'nodejs_eventloop_lag_seconds'),
    oneValue(families, 'nodejs_eventloop_lag_mean_seconds')
  )
  assert.ok(oneValue(families, 'nodejs_eventloop_lag_max_seconds') >= 0.03)
})

test('a scrape does not reset the loop delay for the next one', async (t) => {
  const { scrape } = await serveMetrics(t)
  const until = performance.now() + 30
  while (performance.now() < until);
  await new Promise((resolve) => setImmediate(resolve))
  for (let i = 0; i < 2; i++) {
    assert.ok(oneValue(await scrape(), 'nodejs_eventloop_delay_max_seconds') >= 0.03)
  }
})

test('default metrics that the application registers itself are shown unchanged, including the lag', async (t) => {
  client.collectDefaultMetrics({ labels: { app: 'mine' }, eventLoopMonitoringPrecision: 2 ** 31 - 1 })
  const { scrape } = await serveMetrics(t)
  const families = await scrape()
  for (const name of [DEFAULT, ...LAG]) {
    assert.ok(
      families.get(name).samples.every(({ labels }) => labels.app === 'mine'),
      name
    )
  }
})

test('two instances show their own numbers and do not affect each other', async (t) => {
  const first = await serveMetrics(t)
  const second = await serveMetrics(t)
  for (let i = 0; i < 3; i++) await first.get('/')
  await second.get('/')
  await ended(first.spillway, 3)
  await ended(second.spillway, 1)
  for (const [{ scrape, spillway }, count] of [
    [first, 3],
    [second, 1],
  ]) {
    const families = await scrape()
    assert.equal(oneValue(families, 'spillway_requests_total', { outcome: 'completed' }), count)
    assert.ok(families.has(DEFAULT))
    assert.deepEqual(spillway.snapshot().internalErrors, {})
  }
})

test('an instance in the global registry does not affect the numbers of another', async (t) => {
  const registered = await serveMetrics(t, { registry: client.register })
  const plain = await serveMetrics(t)
  await plain.get('/')
  await ended(plain.spillway, 1)
  const completed = { outcome: 'completed' }
  assert.equal(oneValue(await plain.scrape(), 'spillway_requests_total', completed), 1)
  assert.deepEqual((await registered.scrape()).get('spillway_requests_total').samples, [])
  assert.deepEqual(plain.spillway.snapshot().internalErrors, {})
})

test('a metric whose collect() throws is left out and counted, and the others are shown', async (t) => {
  const { scrape } = await serveMetrics(t)
  const gauge = (name, collect) => new client.Gauge({ name, help: 'Of the application.', collect })
  gauge('before', function () {
    this.set(1)
  })
  gauge('throws', () => {
    throw new Error('as it should')
  })
  gauge('rejects', () => Promise.reject(new Error('as it should')))
  gauge('after', async function () {
    await new Promise((resolve) => setImmediate(resolve))
    this.set(2)
  })
  const families = await scrape()
  assert.equal(oneValue(families, 'before'), 1)
  assert.equal(oneValue(families, 'after'), 2)
  assert.ok(!families.has('throws') && !families.has('rejects'))
  assert.ok(families.has(DEFAULT))
  assert.equal(oneValue(await scrape(), 'spillway_internal_errors_total', { place: 'metrics' }), 2)
})

test('a property on Object.prototype does not end the process at the next garbage collection', async (t) => {
  const { code, output } = await runNode(
    `const { PerformanceObserver } = require('node:perf_hooks')
    require('./src').createSpillway({ logger: false, metrics: { defaults: true } })
    Object.prototype.extend = () => {}
    const alive = setInterval(() => {}, 1000)
    // After the observer of the default metrics, which came first.
    const seen = () => setImmediate(() => clearInterval(alive) ?? console.log(true))
    new PerformanceObserver((_list, observer) => observer.disconnect() ?? seen()).observe({ entryTypes: ['gc'] })
    gc()`,
    { args: ['--expose-gc'], t }
  )
  assert.deepEqual([code, output], [0, true])
})

test('for a metric of the application with one of our names ours is shown, and the conflict is logged once and counted', async (t) => {
  const told = []
  const logger = { warn() {}, error: ({ err }) => told.push(err.message) }
  const { scrape } = await serveMetrics(t, { logger })
  new client.Gauge({ name: 'spillway_heap_limit_bytes', help: 'Of the application.' }).set(7)
  const families = await scrape()
  assert.ok(oneValue(families, 'spillway_heap_limit_bytes') > 1000)
  assert.match(families.get('spillway_heap_limit_bytes').help, /V8 ends the process/)
  await scrape()
  assert.equal(oneValue(await scrape(), 'spillway_internal_errors_total', { place: 'metrics' }), 2)
  assert.deepEqual(told, [
    "The registry has a metric named 'spillway_heap_limit_bytes' too; only spillway's is shown",
  ])
})

test('an application whose registry is set to OpenMetrics still gets text', async (t) => {
  client.register.setContentType(client.Registry.OPENMETRICS_CONTENT_TYPE)
  client.register.setDefaultLabels({ app: 'mine' })
  t.after(() => client.register.setDefaultLabels({}))
  const { get } = await serveMetrics(t)
  const options = { name: 'job_seconds', help: 'Time.', buckets: [1], enableExemplars: true }
  new client.Histogram(options).observe({ value: 0.5, exemplarLabels: { trace_id: 'abc' } })
  new client.Counter({ name: 'jobs_total', help: 'Jobs.' }).inc(3)
  const { body, headers } = await get('/metrics')
  const families = parse(body)
  assert.match(headers['content-type'], /^text\/plain/)
  assert.equal(oneValue(families, 'jobs_total', { app: 'mine' }), 3)
  assert.equal(oneValue(families, 'job_seconds_bucket', { le: '1' }), 1)
  assert.doesNotMatch(body, /trace_id|# EOF/)
})

test('HEAD gets the head only, and nothing is collected', async (t) => {
  const { get } = await serveMetrics(t)
  let collected = 0
  new client.Gauge({ name: 'counted', help: 'Of the application.', collect: () => void collected++ })
  const { status, headers, body } = await get('/metrics', { method: 'HEAD' })
  assert.equal(status, 200)
  assert.match(headers['content-type'], /^text\/plain; version=0\.0\.4/)
  assert.equal(body, '')
  assert.equal(collected, 0)
})
