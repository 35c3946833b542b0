'use strict'
// The figures of a release since the start of this process: in total, and for the routes with the most
// requests. They are compared with the figures of the previous release, in total and for the routes that both
// releases served.

const { quantilesOf } = require('../../core/histogram/quantiles')
const { OUTCOMES } = require('../../core/request/outcome')
const { COUNTERS, SHED_COLUMN } = require('../../core/request/route-series')

/**
 * @import { ReleaseFigures, ReleaseSnapshot, ReleasesSnapshot, RouteSnapshot, Snapshot } from '../../../index.js'
 * @import { SpanCounts } from '../../core/histogram/rolling'
 * @import { RouteSeries } from '../../core/request/route-series'
 * @import { RouteTable } from '../../core/request/route-table'
 * @import { ReleaseRecord } from './release-file'
 * @import { ReleaseHistory } from './release-history'
 */

const RATIOS = [0.5, 0.95, 0.99]

/** @param {SpanCounts} counts */
function figuresOf({ count, errors, histogram }) {
  const [p50Ms, p95Ms, p99Ms] = quantilesOf(histogram, RATIOS).map((us) => us / 1000)
  return { count, p50Ms, p95Ms, p99Ms, errorRatio: count === 0 ? 0 : errors / count }
}

/**
 * Returns the series with the most requests. The function sums counters, because reading a thousand
 * histograms would be slow.
 *
 * @param {RouteTable} routes
 * @param {number} max
 */
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

/**
 * The share of rejected requests among all that arrived. `count` excludes rejected requests.
 *
 * @param {number} shed
 * @param {number} count
 */
const shedRatioOf = (shed, count) => (shed === 0 ? 0 : shed / (shed + count))

/** @param {SpanCounts} latency @param {number} shed */
function routeFigures(latency, shed) {
  return { ...figuresOf(latency), shedRatio: shedRatioOf(shed, latency.count) }
}

/**
 * @param {Pick<import('../../core/metrics/capture').Deps, 'admission' | 'recorder' | 'clock'>} deps
 * @param {number} maxRoutes
 * @returns {Pick<import('./release-file').ReleaseRecord, 'requests' | 'routes'>}
 */
function takeFigures({ admission, recorder, clock }, maxRoutes) {
  const nowMs = clock.now()
  const requests = figuresOf(recorder.all.sinceStart(nowMs))
  return {
    requests: { ...requests, shedRatio: shedRatioOf(admission.stats.rejected, requests.count) },
    routes: busiest(recorder.routes, maxRoutes).map(({ method, route, row, latency }) => ({
      method,
      route,
      ...routeFigures(
        latency.sinceStart(nowMs),
        recorder.routes.tables.counters.values[row * COUNTERS + SHED_COLUMN]
      ),
    })),
  }
}

/**
 * @param {ReleaseHistory} releases
 * @param {Pick<Snapshot, 'requests' | 'routes' | 'admission'>} snapshot
 * @returns {ReleasesSnapshot}
 */
function compareReleases({ current, previous }, { requests, routes, admission }) {
  const shed = admission.shed.reduce((sum, { count }) => sum + count, 0)
  const { version, revision, since } = current
  const own = summaryOf(requests.sinceStart)
  return {
    current: {
      version,
      revision,
      since,
      until: null,
      requests: { ...own, shedRatio: shedRatioOf(shed, own.count) },
    },
    previous: previous === undefined ? null : describe(previous),
    routes: previous === undefined ? [] : compareRoutes(routes, previous.routes),
  }
}

/** @param {ReleaseRecord} previous @returns {ReleaseSnapshot} */
function describe({ version, revision, since, until, requests }) {
  return {
    version,
    revision,
    since,
    until,
    requests: withShedRatio(requests),
  }
}

/** @param {readonly RouteSnapshot[]} routes @param {ReleaseRecord['routes']} previousRoutes */
function compareRoutes(routes, previousRoutes) {
  const currentRoutes = new Map(routes.map((route) => [keyOf(route), route]))
  return previousRoutes.flatMap((previous) => {
    const found = currentRoutes.get(keyOf(previous))
    if (found === undefined) return []
    const { method, route, sinceStart, shed } = found
    const current = { ...summaryOf(sinceStart), shedRatio: shedRatioOf(shed, sinceStart.count) }
    return [{ method, route, current, previous: withShedRatio(previous) }]
  })
}

/** @param {{ method: string, route: string }} route */
const keyOf = ({ method, route }) => `${method} ${route}`

/** @param {ReleaseFigures} figures */
const withShedRatio = (figures) => ({ ...summaryOf(figures), shedRatio: figures.shedRatio })

/** @param {Omit<ReleaseFigures, 'shedRatio'>} figures */
const summaryOf = ({ count, p50Ms, p95Ms, p99Ms, errorRatio }) => ({ count, p50Ms, p95Ms, p99Ms, errorRatio })

module.exports = { compareReleases, takeFigures }
