'use strict'
// Exemplars in the reports of a fleet: of each bucket of each series the latest of any worker, and none of a
// worker that reports none any more.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Labels } = require('../../src/core/metrics/labels')
const openMetrics = require('../../src/core/metrics/formats/openmetrics-text')
const { headOf, readHead } = require('../../src/features/fleet/reports/report')
const { reportFamily } = require('../../src/features/fleet/reports/family-report')
const { ReportSum } = require('../../src/features/fleet/reports/report-sum')
const { ADVISED_BOUNDS } = require('../../src/core/histogram/buckets')
const { Exemplars } = require('../../src/core/request/exemplars')

const SLOW = 14
const FAST = 0
const traceOf = (digit, atMs) => ({ traceId: digit.repeat(32), spanId: digit.repeat(16), atMs })

/** @param {[route: string, bucket: number, trace: any][]} of a series each */
function reportOf(id, of) {
  const values = new Float64Array(ADVISED_BOUNDS.width * of.length)
  const exemplars = new Exemplars()
  const points = of.map(([route, bucket, trace], row) => {
    values[row * ADVISED_BOUNDS.width + bucket] = 1
    if (trace !== undefined) exemplars.put(row, bucket, trace, bucket === SLOW ? 20 : 0.001)
    return { labels: new Labels({ http_route: route }), values, row }
  })
  const family = { name: 'took_seconds', type: 'histogram', help: 'How long.', bounds: ADVISED_BOUNDS }
  const copied = exemplars.copy()
  const blocks = reportFamily(
    family,
    points.map((point) => ({ ...point, exemplars: copied }))
  )
  return { id, report: Buffer.concat([headOf({ id }), ...blocks]) }
}

function shown(sum, reports) {
  sum.begin({ withRoutes: false })
  for (const { id, report } of reports) {
    for (const _ of sum.add(report, readHead(report).blocksAt, {
      id,
      worker: id,
      isGone: false,
      isRecent: true,
    }));
  }
  return [...openMetrics.renderFamilies(sum.families)].map(String).join('')
}

const tracesIn = (text) =>
  [...text.matchAll(/http_route="([^"]+)",le="([^"]+)"\} \d+ # \{trace_id="(.)/g)].map(([, ...found]) =>
    found.join(' ')
  )

test('each bucket shows the latest exemplar of any worker, in any order of reading', () => {
  const first = reportOf('1', [
    ['/a', SLOW, traceOf('a', 1000)],
    ['/b', FAST, traceOf('b', 1000)],
  ])
  const second = reportOf('2', [
    ['/c', FAST, traceOf('c', 1500)],
    ['/a', SLOW, traceOf('d', 2000)],
  ])
  for (const reports of [
    [first, second],
    [second, first],
  ]) {
    assert.deepEqual(tracesIn(shown(new ReportSum(), reports)).sort(), [
      '/a +Inf d',
      '/b 0.005 b',
      '/c 0.005 c',
    ])
  }
})

test('an exemplar that is no longer reported is no longer shown, although the sum is reused', () => {
  const sum = new ReportSum()
  assert.equal(tracesIn(shown(sum, [reportOf('1', [['/a', FAST, traceOf('a', 1)]])])).length, 1)
  assert.equal(tracesIn(shown(sum, [reportOf('1', [['/a', FAST, undefined]])])).length, 0)
})

test('exemplars of retired members are reported again', () => {
  const sum = new ReportSum()
  shown(sum, [reportOf('1', [['/a', SLOW, traceOf('a', 1000)]])])
  const report = Buffer.concat([
    headOf({ id: 'departed' }),
    ...[...sum.report(0)].filter((block) => block !== undefined),
  ])
  assert.deepEqual(tracesIn(shown(new ReportSum(), [{ id: 'departed', report }])), ['/a +Inf a'])
})

test('series beyond one block keep their own exemplars', () => {
  const routes = Array.from({ length: 600 }, (_, i) => `/r${i}`)
  const report = reportOf(
    '1',
    routes.map((route, i) => [route, FAST, i % 100 === 7 ? traceOf('e', i) : undefined])
  )
  assert.deepEqual(
    tracesIn(shown(new ReportSum(), [report])),
    [7, 107, 207, 307, 407, 507].map((i) => `/r${i} 0.005 e`)
  )
})
