'use strict'
// The same families in a registry of the user's, of either client: what it says equals what /metrics says.

const assert = require('node:assert/strict')
const { afterEach, test } = require('node:test')
const promClient = require('prom-client')
const prometheusClient = require('@prometheus-io/client')
const { FAMILIES } = require('../support/families')
const { parse, oneValue, valuesOf } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const CLIENTS = { 'prom-client': promClient, '@prometheus-io/client': prometheusClient }
const OURS = FAMILIES.map(({ name }) => name)
const COMPLETED = { outcome: 'completed', http_route: '/a "quoted" \\ route' }

afterEach(() => promClient.register.clear())

async function serveRegistered(t, registry) {
  const endpoints = { allow: () => true }
  const spillway = spillwayFor(t, { registry, endpoints, routes: { label: () => COMPLETED.http_route } })
  const { get } = await serve(
    t,
    spillway.wrap((req, res) => {
      res.statusCode = req.url === '/fail' ? 500 : 200
      res.end()
    })
  )
  for (const path of ['/', '/', '/fail']) await get(path)
  await ended(spillway, 3)
  return { spillway, get, scrape: async () => parse((await get('/metrics')).body) }
}

/** What only requests change. */
const counted = (families) =>
  valuesOf(
    [...families.values()].filter(({ name }) =>
      /^(http_server|spillway_(requ|resp|stream|routes))/.test(name)
    )
  )

for (const [name, client] of Object.entries(CLIENTS)) {
  const open = () => new client.Registry()

  test(`${name}: the registry's own text has our families exactly once, with the values of /metrics`, async (t) => {
    const registry = open()
    const { scrape } = await serveRegistered(t, registry)
    const own = parse(await registry.metrics())
    assert.deepEqual([...own.keys()], OURS)
    const served = await scrape()
    assert.ok(Object.keys(counted(own)).length > 40)
    assert.deepEqual(counted(own), counted(served))
    for (const family of OURS) {
      assert.equal(own.get(family).type, served.get(family).type, family)
      assert.equal(own.get(family).help, served.get(family).help, family)
    }
  })

  test(`${name}: /metrics has ours, the registry's and the default metrics exactly once`, async (t) => {
    const registry = open()
    new client.Counter({ name: 'jobs_total', help: 'Jobs.', registers: [registry] }).inc(3)
    new promClient.Counter({ name: 'elsewhere_total', help: 'In the global register.' }).inc()
    const { scrape } = await serveRegistered(t, registry)
    const families = await scrape()
    assert.equal(oneValue(families, 'jobs_total'), 3)
    assert.equal(oneValue(families, 'spillway_requests_total', COMPLETED), 2)
    assert.ok(families.has('process_cpu_seconds_total'))
    assert.ok(!families.has('elsewhere_total'), 'the global register was not asked for')
  })

  test(`${name}: JSON has every value with all its labels, and can be sent to another process`, async (t) => {
    const registry = open()
    await serveRegistered(t, registry)
    const json = await registry.getMetricsAsJSON()
    assert.deepEqual(JSON.parse(JSON.stringify(json)), json)
    assert.deepEqual(
      json.map((family) => family.name),
      OURS
    )
    const { values, type, aggregator } = json.find(
      (family) => family.name === 'http_server_request_duration_seconds'
    )
    assert.equal(type, 'histogram')
    assert.equal(aggregator, 'sum')
    const bucket = values.find(({ labels }) => labels.le === 10 && labels.http_response_status_code === '200')
    assert.deepEqual(bucket, {
      metricName: 'http_server_request_duration_seconds_bucket',
      labels: {
        http_request_method: 'GET',
        http_route: COMPLETED.http_route,
        http_response_status_code: '200',
        url_scheme: 'http',
        le: 10,
      },
      value: 2,
    })
    const requests = json.find((family) => family.name === 'spillway_requests_total').values
    assert.deepEqual(requests[0], {
      labels: { http_request_method: 'GET', ...reversed(COMPLETED) },
      value: 2,
    })
  })

  test(`${name}: default labels of the registry are added in its text and its JSON`, async (t) => {
    const registry = open()
    registry.setDefaultLabels({ app: 'mine' })
    await serveRegistered(t, registry)
    assert.equal(
      oneValue(parse(await registry.metrics()), 'spillway_requests_total', { ...COMPLETED, app: 'mine' }),
      2
    )
    const json = await registry.getMetricsAsJSON()
    assert.ok(json.every(({ values }) => values.every(({ labels }) => labels.app === 'mine')))
    assert.equal(
      oneValue(parse(await registry.metrics()), 'http_server_request_duration_seconds_count', {
        app: 'mine',
        http_response_status_code: '500',
      }),
      1
    )
  })

  test(`${name}: resetMetrics() leaves our numbers as they are`, async (t) => {
    const registry = open()
    const jobs = new client.Counter({ name: 'jobs_total', help: 'Jobs.', registers: [registry] })
    jobs.inc(3)
    const { scrape } = await serveRegistered(t, registry)
    registry.resetMetrics()
    const families = await scrape()
    assert.equal(oneValue(families, 'jobs_total'), 0)
    assert.equal(oneValue(families, 'spillway_requests_total', COMPLETED), 2)
  })

  test(`${name}: close() takes ours out, and leaves the others`, async (t) => {
    const registry = open()
    new client.Counter({ name: 'jobs_total', help: 'Jobs.', registers: [registry] })
    const { spillway } = await serveRegistered(t, registry)
    spillway.close()
    assert.deepEqual(
      registry.getMetricsAsArray().map((metric) => metric.name),
      ['jobs_total']
    )
    spillwayFor(t, { registry })
    assert.equal(registry.getMetricsAsArray().length, 1 + OURS.length)
  })

  test(`${name}: a registry that holds another instance is refused in a sentence, and stays as it was`, (t) => {
    const registry = open()
    spillwayFor(t, { registry })
    const before = registry.getMetricsAsArray()
    assert.throws(() => spillwayFor(t, { registry }), {
      code: 'ERR_SPILLWAY_REGISTRY_TAKEN',
      message: /already holds the metrics of another spillway/,
    })
    assert.deepEqual(registry.getMetricsAsArray(), before)
  })

  test(`${name}: a registry that has a metric of that name is refused by the name, and none of ours is in it`, (t) => {
    const registry = open()
    new client.Gauge({ name: 'spillway_memory_limit_bytes', help: 'Theirs.', registers: [registry] })
    assert.throws(() => spillwayFor(t, { registry }), {
      code: 'ERR_SPILLWAY_REGISTRY_TAKEN',
      message: /already has a metric named 'spillway_memory_limit_bytes'/,
    })
    assert.equal(registry.getMetricsAsArray().length, 1)
  })

  test(`${name}: an OpenMetrics registry has each counter with one _total, and /metrics still has ours once`, async (t) => {
    const registry = new client.Registry(client.Registry.OPENMETRICS_CONTENT_TYPE)
    const { scrape } = await serveRegistered(t, registry)
    for (let i = 0; i < 2; i++) {
      const text = await registry.metrics()
      assert.match(text, /^# TYPE spillway_requests counter$/m)
      assert.match(text, /^spillway_requests_total\{.*outcome="completed".*\} 2$/m)
      assert.doesNotMatch(text, /_total_total/)
      assert.ok(text.endsWith('# EOF\n'))
      assert.deepEqual([...(await scrape()).keys()].slice(0, OURS.length), OURS)
    }
    const families = [...(await scrape()).keys()]
    assert.ok(
      !families.includes('spillway_requests'),
      'ours a second time, under the name the registry gave it'
    )
  })

  test(`${name}: all families asked for in one go show one instant`, async (t) => {
    const registry = open()
    const { get, spillway } = await serveRegistered(t, registry)
    const asked = registry.metrics()
    await get('/')
    await ended(spillway, 4)
    const families = parse(await asked)
    assert.equal(oneValue(families, 'spillway_requests_total', COMPLETED), 2)
    assert.equal(oneValue(families, 'spillway_response_first_byte_seconds_count'), 3)
    assert.equal(oneValue(parse(await registry.metrics()), 'spillway_requests_total', COMPLETED), 3)
  })

  test(`${name}: the object of a series' labels is the same at every scrape, for a registry caches by it`, async (t) => {
    const registry = open()
    await serveRegistered(t, registry)
    const metric = registry.getSingleMetric('http_server_request_duration_seconds')
    const labels = () => metric.getForPromString().values.map(({ sharedLabels }) => sharedLabels)
    for (const [i, each] of labels().entries()) assert.equal(each, labels()[i])
  })
}

test('prom-client 14, whose registry writes a metric by another name: /metrics has what it holds', async (t) => {
  const { getMetricsAsString } = promClient.Registry.prototype
  const registry = Object.assign(new promClient.Registry(), {
    getMetricsAsString: undefined,
    getMetricAsPrometheusString: getMetricsAsString,
  })
  new promClient.Counter({ name: 'jobs_total', help: 'Jobs.', registers: [registry] }).inc(3)
  const { scrape, spillway } = await serveRegistered(t, registry)
  const families = await scrape()
  assert.equal(oneValue(families, 'jobs_total'), 3)
  assert.equal(oneValue(families, 'spillway_requests_total', COMPLETED), 2)
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})

test('workers of a cluster add up, where what is a share of one process is averaged', async (t) => {
  const registry = new promClient.Registry()
  await serveRegistered(t, registry)
  const json = await registry.getMetricsAsJSON()
  const all = promClient.AggregatorRegistry.aggregate([json, JSON.parse(JSON.stringify(json))])
  const [one, both] = [parse(await registry.metrics()), parse(await all.metrics())]
  for (const name of ['spillway_requests_total', 'http_server_request_duration_seconds_count']) {
    const sum = (families) =>
      families
        .get(name.replace('_count', ''))
        .samples.filter((sample) => sample.name === name)
        .reduce((total, { value }) => total + value, 0)
    assert.equal(sum(one), 3)
    assert.equal(sum(both), 6)
  }
  const ratio = json.find(({ name }) => name === 'nodejs_eventloop_utilization_ratio').values[0].value
  assert.equal(oneValue(both, 'nodejs_eventloop_utilization_ratio'), ratio)
  const limit = json.find(({ name }) => name === 'spillway_heap_limit_bytes').values[0].value
  assert.equal(oneValue(both, 'spillway_heap_limit_bytes'), limit)
})

const reversed = (pairs) => Object.fromEntries(Object.entries(pairs).reverse())
