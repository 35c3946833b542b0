'use strict'
// What is not ours: metrics of the application and prom-client's default ones, as each says by its
// aggregator.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const prometheusIo = require('@prometheus-io/client')
const client = require('prom-client')
const { metricsOf, readMetric } = require('../../src/features/fleet/reports/registry-report')
const { headOf, readHead } = require('../../src/features/fleet/reports/report')
const { reportFamily } = require('../../src/features/fleet/reports/family-report')
const { ReportSum } = require('../../src/features/fleet/reports/report-sum')
const { parse, valuesOf } = require('../support/metrics-text')

/** What a fleet shows of as many registries, the first being that of the worker scraped. */
async function shownOf(registries, { gone = [] } = {}) {
  const sum = new ReportSum().begin({ withRoutes: true })
  for (const [i, registry] of registries.entries()) {
    const pieces = [headOf({ id: i })]
    for (const metric of registry.getMetricsAsArray()) {
      for (const family of await readMetric({ registry, metric, name: metric.name }))
        pieces.push(...reportFamily(family, family.points()))
    }
    const report = Buffer.concat(pieces)
    const from = { id: String(i), worker: `w${i}`, isGone: gone.includes(i), isRecent: true }
    for (const _ of sum.add(report, readHead(report).blocksAt, from));
  }
  const texts = metricsOf(sum.families).map(({ registry, metric }) => registry.getMetricsAsString(metric))
  return valuesOf([...parse(`${(await Promise.all(texts)).join('\n')}\n`).values()])
}

for (const [name, { Counter, Gauge, Histogram, Registry, Summary }] of Object.entries({
  'prom-client': client,
  '@prometheus-io/client': prometheusIo,
})) {
  const make = (fill) => {
    const registry = new Registry()
    fill((Metric, options) => new Metric({ help: 'Help.', registers: [registry], ...options }))
    return registry
  }

  test(`${name}: counters and histograms are sums, including departed workers`, async () => {
    const registries = [1, 2, 3].map((n) =>
      make((add) => {
        add(Counter, { name: 'jobs_total', labelNames: ['kind', 'at'] }).inc({ kind: 'a"b\n', at: 'é' }, n)
        add(Histogram, { name: 'job_bytes', buckets: [10, 100] }).observe(n * 9)
      })
    )
    assert.deepEqual(await shownOf(registries, { gone: [2] }), {
      'jobs_total [["at","é"],["kind","a\\"b\\n"]]': 6,
      'job_bytes_bucket [["le","10"]]': 1,
      'job_bytes_bucket [["le","100"]]': 3,
      'job_bytes_bucket [["le","+Inf"]]': 3,
      'job_bytes_sum []': 54,
      'job_bytes_count []': 3,
    })
  })

  test(`${name}: gauges follow their aggregator; no mean is made, and departed workers show none`, async () => {
    const registries = [1, 2, 30].map((n) =>
      make((add) => {
        for (const aggregator of ['sum', 'min', 'max', 'first', 'average', 'omit']) {
          add(Gauge, { name: `g_${aggregator}`, aggregator }).set(n)
        }
        add(Gauge, { name: 'taken', aggregator: 'average', labelNames: ['worker'] }).set(
          { worker: 'mine' },
          n
        )
      })
    )
    assert.deepEqual(await shownOf(registries, { gone: [2] }), {
      'g_sum []': 3,
      'g_min []': 1,
      'g_max []': 2,
      'g_first []': 1,
      'g_average [["worker","w0"]]': 1,
      'g_average [["worker","w1"]]': 2,
      'g_omit [["worker","w0"]]': 1,
      'g_omit [["worker","w1"]]': 2,
      'taken [["spillway_worker","w0"],["worker","mine"]]': 1,
      'taken [["spillway_worker","w1"],["worker","mine"]]': 2,
    })
  })

  test(`${name}: a summary's count and sum are added, its quantiles are shown per worker`, async () => {
    const registries = [1, 2].map((n) =>
      make((add) => add(Summary, { name: 'wait', percentiles: [0.5] }).observe(n))
    )
    assert.deepEqual(await shownOf(registries), {
      'wait [["quantile","0.5"],["worker","w0"]]': 1,
      'wait [["quantile","0.5"],["worker","w1"]]': 2,
      'wait_sum []': 3,
      'wait_count []': 2,
    })
  })

  test(`${name}: the default labels of a worker's registry are on its series`, async () => {
    const registries = ['x', 'y'].map((zone) => {
      const registry = make((add) => add(Counter, { name: 'jobs_total' }).inc(1))
      registry.setDefaultLabels({ zone })
      return registry
    })
    assert.deepEqual(await shownOf(registries), {
      'jobs_total [["zone","x"]]': 1,
      'jobs_total [["zone","y"]]': 1,
    })
  })
}

/** A metric that a registry holds unchecked. */
const made = (name, type, values) => ({
  name,
  help: 'Help.',
  type,
  get: async () => ({ name, help: 'Help.', type, values }),
})

test('series of a registry that Prometheus does not accept are left out of the report, which stays readable', async () => {
  const registry = new client.Registry()
  const flawed = made('jobs_total', 'counter', [
    { labels: { kind: 'a' }, value: 1 },
    { labels: { kind: 'a' }, value: 2 },
    { labels: { kind: 'b' }, value: -1 },
    { labels: { kind: 'c' }, value: Number.NaN },
    { labels: { 'a-b': 'c' }, value: 1 },
    { labels: JSON.parse('{"__proto__":"c"}'), value: 1 },
    { labels: { kind: '\ud800' }, value: 5 },
    { labels: { kind: '\udc00' }, value: 6 },
    { labels: { kind: 7, odd: undefined }, value: 3 },
    { metricName: 'evil', labels: {}, value: 1 },
  ])
  const errors = []
  const [family] = await readMetric({ registry, metric: flawed, name: 'jobs_total' }, ({ message }) =>
    errors.push(message)
  )
  const shown = family.points().map(({ labels, value }) => [labels.utf8, value])
  assert.deepEqual(shown, [
    ['["jobs_total",[["kind","a"]]]', 1],
    ['["jobs_total",[["kind","\ufffd"]]]', 5],
    ['["jobs_total",[["kind","7"],["odd","undefined"]]]', 3],
  ])
  assert.deepEqual(errors, ["'jobs_total' has 7 series that Prometheus does not accept"])
  for (const metric of [made('jobs_total', 'info', []), made('größe', 'gauge', [])]) {
    await assert.rejects(readMetric({ registry, metric, name: metric.name }), TypeError)
  }
})

test('a bound is canonical in a report, and a sum may be negative', async () => {
  const registry = new client.Registry()
  const metric = made('lat', 'histogram', [
    { metricName: 'lat_bucket', labels: { le: '1.0' }, value: 1 },
    { metricName: 'lat_bucket', labels: { le: 2 }, value: 1 },
    { metricName: 'lat_bucket', labels: { le: '+Inf' }, value: 1 },
    { metricName: 'lat_sum', labels: {}, value: -4 },
    { metricName: 'lat_count', labels: {}, value: 1 },
  ])
  registry.registerMetric(/** @type {any} */ (metric))
  assert.deepEqual(await shownOf([registry, registry]), {
    'lat_bucket [["le","1"]]': 2,
    'lat_bucket [["le","2"]]': 2,
    'lat_bucket [["le","+Inf"]]': 2,
    'lat_sum []': -8,
    'lat_count []': 2,
  })
})
