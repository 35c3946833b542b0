'use strict'
// The figures by which releases are compared: since the start of this process, in total and for the routes with the most requests.

const { quantilesOf } = require('../../core/histogram/quantiles')
const { OUTCOMES } = require('../../core/request/outcome')
const { COUNTERS, SHED } = require('../../core/request/route-series')

/**
 * @import { SpanCounts } from '../../core/histogram/rolling'
 * @import { RouteSeries } from '../../core/request/route-series'
 * @import { RouteTable } from '../../core/request/route-table'
 */

const RATIOS = [0.5, 0.95, 0.99]

/** @param {SpanCounts} counts */
function figuresOf({ count, errors, histogram }) {
  const [p50Ms, p95Ms, p99Ms] = quantilesOf(histogram, RATIOS).map((us) => us / 1000)
  return { count, p50Ms, p95Ms, p99Ms, errorRatio: count === 0 ? 0 : errors / count }
}

/** The series with the most requests. It sums counters: histograms of a thousand series would be slow. @param {RouteTable} routes @param {number} max */
function busiest({ series, tables: { counters } }, max) {
  /** @param {RouteSeries} series */
  const countOf = ({ row }) => {
    const start = row * COUNTERS
    return counters.values.subarray(start, start + OUTCOMES.length).reduce((sum, count) => sum + count, 0)
  }
  return series
    .map((each) => ({ each, count: countOf(each) }))
    .sort((a, b) => b.count - a.count)
    .slice(0, max)
    .map(({ each }) => each)
}

/** The share of rejected requests among all that arrived. `count` excludes rejected requests. @param {number} shed @param {number} count */
const shedRatioOf = (shed, count) => (shed === 0 ? 0 : shed / (shed + count))

/** @param {SpanCounts} latency @param {number} shed */
function routeFigures(latency, shed) {
  return { ...figuresOf(latency), shedRatio: shedRatioOf(shed, latency.count) }
}

/**
 * @param {Pick<import('../../core/metrics/capture').Parts, 'admission' | 'recorder' | 'clock'>} parts
 * @param {number} maxRoutes
 * @returns {Pick<import('./release-file').ReleaseRecord, 'requests' | 'routes'>}
 */
function takeFigures({ admission, recorder, clock }, maxRoutes) {
  const nowMs = clock.now()
  const requests = figuresOf(recorder.all.sinceStart(nowMs))
  const shed = admission.stats.shed.reduce((sum, count) => sum + count, 0)
  return {
    requests: { ...requests, shedRatio: shedRatioOf(shed, requests.count) },
    routes: busiest(recorder.routes, maxRoutes).map(({ method, route, row, latency }) => ({
      method,
      route,
      ...routeFigures(
        latency.sinceStart(nowMs),
        recorder.routes.tables.counters.values[row * COUNTERS + SHED]
      ),
    })),
  }
}

module.exports = { shedRatioOf, takeFigures }
