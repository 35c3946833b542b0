'use strict'
// Histograms and labels of the user's in the reports of a fleet: sums by bound and by label, and none of
// workers that differ in their bounds.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Labels } = require('../../src/core/metrics/labels')
const { renderFamilies } = require('../../src/core/metrics/formats/prometheus-text')
const { headOf, readHead } = require('../../src/features/fleet/reports/report')
const { reportFamily } = require('../../src/features/fleet/reports/family-report')
const { ReportSum } = require('../../src/features/fleet/reports/report-sum')
const { Buckets, boundsOf } = require('../../src/core/histogram/buckets')
const { FleetUnderTest } = require('../support/fleet')
const { parse, oneValue } = require('../support/metrics-text')

const ODD = 'a "quoted"\\\nvalue, größe'
const WIDE = Array.from({ length: 100 }, (_, i) => i + 1)

/** What a worker reports of one series for each tenant. */
function reportOf(id, seconds, durationsOf) {
  const bounds = boundsOf(seconds)
  const buckets = new Buckets(bounds)
  const rows = Object.entries(durationsOf).map(([tenant, durations]) => {
    const row = buckets.add()
    for (const duration of durations) buckets.record(row, duration)
    return { labels: new Labels({ http_route: '/', tenant }), row }
  })
  const values = buckets.copy()
  const family = { name: 'took_seconds', type: 'histogram', help: 'How long.', bounds }
  const blocks = reportFamily(
    family,
    rows.map((each) => ({ ...each, values }))
  )
  return { id, report: Buffer.concat([headOf({ id }), ...blocks]) }
}

function summed(reports, { gone = [] } = {}) {
  const sum = new ReportSum().begin({ withRoutes: false })
  for (const { id, report } of reports) {
    const from = { id, worker: id, isGone: gone.includes(id), isRecent: true }
    for (const _ of sum.add(report, readHead(report).blocksAt, from));
  }
  return sum
}

const shown = (sum) => parse(Buffer.from([...renderFamilies(sum.families)].join(''), 'latin1').toString())

for (const [what, bounds] of [
  ['few', [0.5, 2]],
  ['a hundred', WIDE],
]) {
  test(`durations at ${what} bounds are sums by label, including departed workers`, () => {
    const reports = [
      reportOf('1', bounds, { [ODD]: [0.1, 1.5], b: [200] }),
      reportOf('2', bounds, { [ODD]: [1.5], '': [0.1] }),
    ]
    const sum = summed(reports, { gone: ['2'] })
    assert.equal(sum.misunderstood, 0)
    const families = shown(sum)
    const le = String(bounds.find((bound) => bound >= 1.5))
    assert.equal(oneValue(families, 'took_seconds_bucket', { tenant: ODD, le }), 3)
    assert.equal(oneValue(families, 'took_seconds_count', { tenant: ODD }), 3)
    assert.equal(oneValue(families, 'took_seconds_bucket', { tenant: 'b', le: '+Inf' }), 1)
    assert.equal(oneValue(families, 'took_seconds_bucket', { tenant: 'b', le: String(bounds.at(-1)) }), 0)
    assert.equal(oneValue(families, 'took_seconds_count', { tenant: '' }), 1)
  })
}

test('counts of retired members are reported again with their bounds', async () => {
  const first = summed([reportOf('1', [0.5, 2], { a: [1] })])
  const again = Buffer.concat([
    headOf({ id: '2' }),
    ...[...first.report(0)].filter((block) => block !== undefined),
  ])
  const sum = summed([{ id: '2', report: again }, reportOf('3', [0.5, 2], { a: [3] })])
  assert.equal(sum.misunderstood, 0)
  assert.equal(oneValue(shown(sum), 'took_seconds_bucket', { le: '2' }), 1)
  assert.equal(oneValue(shown(sum), 'took_seconds_count'), 2)
})

test('a worker with other bounds is left out of that family, and reported', () => {
  const sum = summed([
    reportOf('1', [0.5, 2], { a: [1] }),
    reportOf('2', [0.5, 2, 5], { a: [1] }),
    reportOf('3', [0.5, 3], { a: [1] }),
  ])
  assert.equal(sum.misunderstood, 2)
  assert.equal(oneValue(shown(sum), 'took_seconds_count'), 1)
})

test('a cluster with its own bounds and prefix shows both, also for the states of its workers', async (t) => {
  const fleet = await FleetUnderTest.start(t, { metrics: { buckets: [0.01, 1], prefix: 'shop_' } })
  const workers = await fleet.fork(2)
  for (const { name } of workers) await fleet.ask(name, 'serve', { durations: [5, 500], route: '/a' })
  const families = await fleet.families(workers[0].name)
  const bucket = 'http_server_request_duration_seconds_bucket'
  assert.deepEqual(
    ['0.01', '1', '+Inf'].map((le) => oneValue(families, bucket, { le })),
    [2, 4, 4]
  )
  assert.equal(oneValue(families, 'shop_requests_total', { outcome: 'completed' }), 4)
  assert.equal(oneValue(families, 'shop_workers', { state: 'live' }), 2)
  assert.deepEqual(
    [...families.keys()].filter((name) => name.startsWith('spillway')),
    []
  )
  const resident = families.get('process_resident_memory_bytes').samples.map(({ labels }) => labels.worker)
  assert.deepEqual(resident.sort(), workers.map(({ name }) => String(name)).sort())
})
