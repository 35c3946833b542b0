'use strict'
// /metrics as OpenMetrics and as protobuf: the same numbers as in the text, with the registries of either
// client.

const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')
const { afterEach, test } = require('node:test')
const promClient = require('prom-client')
const prometheusClient = require('@prometheus-io/client')
const { NATIVE_FAMILIES } = require('../../src/core/metrics/families')
const { FAMILIES } = require('../support/families')
const { leapingClock } = require('../support/leaping-clock')
const { oneValue, parse } = require('../support/metrics-text')
const { parseProtobuf } = require('../support/metrics-protobuf')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const CLIENTS = { 'prom-client': promClient, '@prometheus-io/client': prometheusClient }
const OPENMETRICS = 'application/openmetrics-text;version=1.0.0'
const PROTOBUF = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'
const [NATIVE] = NATIVE_FAMILIES.map(({ name }) => name)

afterEach(() => promClient.register.clear())

async function serveThree(t, options) {
  const clock = leapingClock()
  // The client of these tests is in the same process.
  const spillway = spillwayFor(t, { insight: { outgoing: false }, ...options }, clock)
  const { get, port } = await serve(
    t,
    spillway.wrap((req, res) => {
      res.statusCode = req.url === '/fail' ? 500 : 200
      res.end()
    })
  )
  for (const path of ['/', '/fail', '/']) await get(path)
  await ended(spillway, 3)
  const as = (accept) => {
    clock.leap()
    return get('/metrics', accept && { headers: { accept } })
  }
  const protobuf = async () => {
    clock.leap()
    return parseProtobuf(await bytesOf(port))
  }
  return { spillway, as, get, protobuf, text: async () => parse((await as(undefined)).body) }
}

async function bytesOf(port) {
  const headers = { accept: PROTOBUF }
  const [res] = await once(
    http.get({ port, host: '127.0.0.1', agent: false, path: '/metrics', headers }),
    'response'
  )
  return Buffer.concat(await res.toArray())
}

test('each format has its content type, varies by Accept, and is not cached', async (t) => {
  const { as } = await serveThree(t)
  for (const [accept, type] of [
    [OPENMETRICS, 'application/openmetrics-text; version=1.0.0; charset=utf-8'],
    [
      PROTOBUF,
      'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
    ],
    ['*/*', 'text/plain; version=0.0.4; charset=utf-8'],
  ]) {
    const { headers } = await as(accept)
    assert.deepEqual(
      [headers['content-type'], headers.vary, headers['cache-control']],
      [type, 'Accept', 'no-store']
    )
  }
})

test('OpenMetrics has each line of the text, except for family names and bounds', async (t) => {
  const { as, get } = await serveThree(t, { metrics: { defaults: true } })
  const samples = (body) =>
    body
      .split('\n')
      .filter((line) => /^(http_server|spillway_(requ|resp|stream|routes|admitted))/.test(line))
      .map((line) => line.replace(/le="(\d+)\.0"/, 'le="$1"'))
  const { body } = await as(OPENMETRICS)
  assert.deepEqual(samples(body), samples((await get('/metrics')).body))
  assert.ok(body.endsWith('\n# EOF\n'))
  assert.equal(body.split('# EOF').length, 2)
  assert.match(body, /^# TYPE process_cpu_seconds counter$/m)
  assert.match(body, /^process_cpu_seconds_total \d/m)
  assert.match(body, /^# TYPE nodejs_active_handles_total gauge$/m)
  assert.doesNotMatch(body, /_created|_total_total/)
})

test('protobuf has the families and the counts of the text', async (t) => {
  const { protobuf, text } = await serveThree(t)
  const [read, wanted] = [await protobuf(), await text()]
  assert.ok(read.size > 25)
  // One that collects what the loop holds may have nothing to say at one of the two.
  for (const [name, { type }] of read)
    assert.equal(type, (wanted.get(name)?.type ?? type).toUpperCase(), name)
  const { metric } = read.get('http_server_request_duration_seconds')
  assert.deepEqual(
    metric.map(({ labels, histogram }) => [labels.http_response_status_code, histogram.sample_count]),
    [
      ['200', 2],
      ['500', 1],
    ]
  )
  assert.equal(
    metric[0].histogram.sample_sum,
    oneValue(wanted, 'http_server_request_duration_seconds_sum', { http_response_status_code: '200' })
  )
})

test('native histograms are in protobuf only, by method and route, if enabled', async (t) => {
  const { as, get, protobuf } = await serveThree(t, { latency: { nativeHistograms: true } })
  const { metric } = (await protobuf()).get(NATIVE)
  assert.deepEqual(
    metric.map(({ labels, histogram }) => [labels, histogram.sample_count]),
    [[{ http_request_method: 'GET', http_route: '(unmatched)' }, 3]]
  )
  for (const { body } of [await as(OPENMETRICS), await get('/metrics')]) assert.ok(!body.includes(NATIVE))
  const off = await serveThree(t)
  assert.ok(!(await off.protobuf()).has(NATIVE))
})

test('a registry never gets native histograms, which its formats cannot express', async (t) => {
  const registry = new promClient.Registry()
  await serveThree(t, { registry, latency: { nativeHistograms: true } })
  assert.equal(registry.getSingleMetric(NATIVE), undefined)
})

for (const [name, client] of Object.entries(CLIENTS)) {
  for (const contentType of ['PROMETHEUS_CONTENT_TYPE', 'OPENMETRICS_CONTENT_TYPE']) {
    test(`${name}, ${contentType}: a registry's metrics keep their names and labels, however often and in whatever order it is asked`, async (t) => {
      const registry = new client.Registry(client.Registry[contentType])
      registry.setDefaultLabels({ app: 'mine' })
      const registers = [registry]
      new client.Counter({ name: 'jobs_total', help: 'Jobs.', labelNames: ['kind'], registers }).inc(
        { kind: 'a"b' },
        3
      )
      new client.Histogram({ name: 'sizes', help: 'Sizes.', buckets: [1, 2], registers }).observe(1.5)
      const { as, protobuf, text } = await serveThree(t, { registry })
      for (let i = 0; i < 3; i++) {
        const { body } = await as(OPENMETRICS)
        assert.match(body, /^# TYPE jobs counter$/m)
        assert.match(body, /^jobs_total\{kind="a\\"b",app="mine"\} 3$/m)
        assert.match(body, /^sizes_bucket\{le="2\.0",app="mine"\} 1$/m)
        assert.equal(oneValue(await text(), 'jobs_total', { kind: 'a"b', app: 'mine' }), 3)
        const families = await protobuf()
        assert.deepEqual(families.get('jobs_total').metric[0].labels, { kind: 'a"b', app: 'mine' })
        assert.equal(families.get('sizes').metric[0].histogram.sample_count, 1)
        for (const { name: family } of FAMILIES)
          assert.equal(body.split(`\n# TYPE ${family} `).length <= 2, true)
        const own = await registry.metrics()
        assert.match(own, /^jobs_total\{.*\} 3$/m)
        assert.equal(own.includes('# EOF'), contentType.startsWith('OPEN'))
      }
      assert.equal(registry.contentType, client.Registry[contentType])
    })
  }
}

for (const [name, client] of Object.entries(CLIENTS)) {
  test(`${name}: a metric of thousands of series comes in small pieces, and as its registry writes it`, async (t) => {
    const registry = new client.Registry()
    const registers = [registry]
    const labelNames = ['kind']
    const jobs = new client.Counter({ name: 'jobs_total', help: 'Two\nlines.', labelNames, registers })
    for (let i = 0; i < 2000; i++) jobs.inc({ kind: `"${i}"` }, i)
    const sizes = new client.Histogram({ name: 'sizes', help: 'Sizes.', labelNames, registers })
    for (let i = 0; i < 100; i++) sizes.observe({ kind: String(i) }, i)
    new client.Gauge({ name: 'idle', help: 'Without a series.', labelNames, registers })
    const linesOf = (text) => text.split('\n').filter((line) => /^(# \w+ )?(jobs|sizes|idle)/.test(line))
    const own = linesOf(await registry.metrics())
    const metrics = spillwayFor(t, { registry }).handler('metrics')
    const pieces = []
    const { get } = await serve(t, (req, res) => {
      const { write } = res
      res.write = (piece, ...rest) => {
        pieces.push(String(piece))
        return write.call(res, piece, ...rest)
      }
      metrics(req, res)
    })
    assert.deepEqual(linesOf((await get('/')).body), own)
    await get('/', { headers: { accept: OPENMETRICS } })
    const foreign = pieces.filter((piece) => piece.includes('jobs') || piece.includes('sizes'))
    for (const piece of foreign) assert.ok(piece.length < 8192, `${piece.length} characters`)
  })

  test(`${name}: a summary without labels is in the protobuf too`, async (t) => {
    const registry = new client.Registry()
    new client.Summary({ name: 'wait', help: 'Wait.', percentiles: [0.5], registers: [registry] }).observe(3)
    const { protobuf, spillway } = await serveThree(t, { registry })
    assert.deepEqual((await protobuf()).get('wait')?.metric, [
      { labels: {}, summary: { sample_count: 1, sample_sum: 3, quantile: [{ quantile: 0.5, value: 3 }] } },
    ])
    assert.deepEqual(spillway.snapshot().internalErrors, {})
  })
}

for (const [name, client] of Object.entries(CLIENTS)) {
  test(`${name}: default labels of the registry are on every series, ours and prom-client's, in every format`, async (t) => {
    const registry = new client.Registry()
    const { as, protobuf, text } = await serveThree(t, {
      registry,
      latency: { nativeHistograms: true },
      metrics: { defaults: true },
    })
    const labels = async () => {
      const isByRoute = ({ name }) => !/first_byte|spillway_\w+_bytes_total/.test(name)
      const samples = [...(await text()).values()].filter(isByRoute).flatMap((family) => family.samples)
      const metrics = [...(await protobuf()).values()].filter(isByRoute).flatMap(({ metric }) => metric)
      return [...samples, ...metrics].map((each) => each.labels)
    }
    assert.ok((await labels()).every(({ app }) => app === undefined))
    for (const app of ['shop "1"', 'größe']) {
      registry.setDefaultLabels({ app, http_route: 'theirs', outcome: 'theirs' })
      for (const each of await labels()) {
        assert.equal(each.app, app)
        // A label that a series has itself wins.
        if ('http_request_method' in each && !('url_scheme' in each))
          assert.equal(each.http_route, '(unmatched)')
      }
      assert.equal(oneValue(await text(), 'spillway_requests_total', { app, outcome: 'completed' }), 2)
      const lines = (await as(OPENMETRICS)).body.split('\n').filter((line) => /^[^#]/.test(line))
      assert.ok(lines.every((line) => line.includes(`app="${app.replaceAll('"', '\\"')}"`)))
    }
    registry.setDefaultLabels({})
    assert.ok((await labels()).every(({ app }) => app === undefined))
  })
}

test('a metric whose collect() throws is left out and counted, and the others are shown', async (t) => {
  const { as, protobuf, spillway } = await serveThree(t)
  new promClient.Gauge({
    name: 'throws',
    help: 'Theirs.',
    collect: () => Promise.reject(new Error('as it should')),
  })
  new promClient.Gauge({ name: 'after', help: 'Theirs.' }).set(2)
  assert.match((await as(OPENMETRICS)).body, /^after 2$/m)
  assert.equal((await protobuf()).get('after').metric[0].gauge.value, 2)
  assert.deepEqual(spillway.snapshot().internalErrors, { metrics: 2 })
})
