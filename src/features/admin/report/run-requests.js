'use strict'
// The requests of a run, together and by route. Figures are the difference of the counters at the end and at
// the start, if both are known. Otherwise they are those of the last minute, or those since the start of the
// process.

const { sumOf: totalOf } = require('../page/part-list')

/**
 * @import { LatencyCounts, LatencySummary, LivePoint } from '../../../../index.js'
 * @import { RequestParts, RouteSnapshot, RunTotals, Snapshot } from '../../../../index.js'
 * @import { Covers } from './run'
 */

const MAX_ROUTES = 50
const FAILED = /** @type {const} */ (['errored', 'timed_out'])
const US_PER_MS = 1000
const RATIOS = { p50Ms: 0.5, p90Ms: 0.9, p95Ms: 0.95, p99Ms: 0.99, p999Ms: 0.999 }

/**
 * @typedef {object} Totals
 * @property {RunTotals | 'process' | undefined} start
 * @property {RunTotals} end
 * @property {boolean} isNow whether the run ended when `end` was taken
 * @property {number} seconds of the run
 *
 * @typedef {[us: number, count: number]} Cell
 *
 * @typedef {object} Latencies milliseconds
 * @property {number} count
 * @property {number} meanMs
 * @property {number} p50Ms
 * @property {number} p90Ms
 * @property {number} p95Ms
 * @property {number} p99Ms
 * @property {number} p999Ms
 * @property {number} maxMs
 * @typedef {Omit<Latencies, 'meanMs'> & { meanMs?: number }} Quantiles without a mean if no parts were
 *   measured
 *
 * @typedef {object} RouteOfRun
 * @property {string} method
 * @property {string} route
 * @property {number} count
 * @property {number} perSecond
 * @property {number} errors
 * @property {number | null} shed
 * @property {Quantiles | null} latencies
 * @property {(Partial<RequestParts> & { proxyMs?: number }) | null} parts the sums over all requests of the
 *   route
 *
 * @typedef {{ method: string, route: string }} Named
 * @typedef {RouteSnapshot & { parts: NonNullable<RouteSnapshot['parts']> }} RouteWithParts parts are measured
 *   from the start of the process, or never
 */

/** @param {Named} route */
const keyOf = ({ method, route }) => `${method} ${route}`
/** @template {Named} Each @param {readonly Each[]} [list] */
const byKey = (list = []) => new Map(list.map((each) => [keyOf(each), each]))
/** @param {RouteSnapshot} route */
const failedOf = ({ outcomes }) => FAILED.reduce((sum, outcome) => sum + outcomes[outcome], 0)
/** @template Each @param {readonly Each[]} list @param {(each: Each) => number} read */
const sumOf = (list, read) => list.reduce((sum, each) => sum + read(each), 0)
/** @param {Snapshot} snapshot */
const shedOf = ({ admission }) => sumOf(admission.shed, ({ count }) => count)

/** @param {Totals} totals @returns {Covers} */
const coverOf = ({ start, isNow }) => (start !== undefined ? 'run' : isNow ? 'minute' : 'process')

/** @param {LivePoint[]} points @param {Totals} totals */
function describeRequests(points, totals) {
  const covers = coverOf(totals)
  const routes = ROUTES[covers](totals)
    .filter(({ count, shed }) => count > 0 || Number(shed) > 0)
    .sort((a, b) => b.count - a.count)
  return {
    covers,
    requests: { ...countsOf(points, totals), latencies: latenciesOf(totals, covers) },
    routes: routes.slice(0, MAX_ROUTES),
    routesLeft: Math.max(0, routes.length - MAX_ROUTES),
  }
}

/**
 * Returns the totals of the run, from counters if the start is known, or else from its points.
 *
 * @param {LivePoint[]} points
 * @param {Totals} totals
 */
function countsOf(points, { start, end, seconds }) {
  if (start === undefined) {
    const counts = secondsOf(points)
    return { ...counts, perSecond: counts.count / seconds, isBySeconds: true }
  }
  const before = start === 'process' ? undefined : start.snapshot
  const { routes, requests } = end.snapshot
  const count = requests.sinceStart.count - (before?.requests.sinceStart.count ?? 0)
  return {
    count,
    errors: sumOf(routes, failedOf) - sumOf(before?.routes ?? [], failedOf),
    shed: shedOf(end.snapshot) - (before === undefined ? 0 : shedOf(before)),
    perSecond: count / seconds,
    isBySeconds: false,
  }
}

/**
 * Sums the points. The rates of a point cover the time since the point before. If the wall clock was set back
 * between the two points, one second is assumed.
 *
 * @param {LivePoint[]} points
 */
function secondsOf(points) {
  const sums = { count: 0, errors: 0, shed: 0 }
  for (const [i, { at, requests, errors, shed }] of points.entries()) {
    const passed = i === 0 ? 1 : (at - points[i - 1].at) / 1000
    const seconds = passed > 0 ? passed : 1
    sums.count += requests * seconds
    sums.errors += errors * seconds
    sums.shed += shed * seconds
  }
  return { count: Math.round(sums.count), errors: Math.round(sums.errors), shed: Math.round(sums.shed) }
}

/** @param {Totals} totals @param {Covers} covers @returns {Quantiles | null} */
function latenciesOf({ start, end }, covers) {
  const { requests } = end.snapshot
  if (covers === 'minute') return requests.lastMinute
  if (covers === 'process') return requests.sinceStart
  return latenciesBetween(
    end.latencies.all,
    start === 'process' ? undefined : /** @type {RunTotals} */ (start).latencies.all
  )
}

/** @type {Record<Covers, (totals: Totals) => RouteOfRun[]>} */
const ROUTES = {
  run({ start, end, seconds }) {
    const before = start === 'process' ? undefined : start
    const routesBefore = byKey(before?.snapshot.routes)
    const latencies = byKey(end.latencies.routes)
    const latenciesBefore = byKey(before?.latencies.routes)
    return end.snapshot.routes.map((route) => {
      const key = keyOf(route)
      const earlier = /** @type {RouteWithParts | undefined} */ (routesBefore.get(key))
      const count = route.sinceStart.count - (earlier?.sinceStart.count ?? 0)
      const counts = latencies.get(key)
      return {
        ...nameOf(route),
        count,
        perSecond: count / seconds,
        errors: failedOf(route) - (earlier === undefined ? 0 : failedOf(earlier)),
        shed: route.shed - (earlier?.shed ?? 0),
        latencies: counts === undefined ? null : latenciesBetween(counts, latenciesBefore.get(key)),
        parts: route.parts && differenceOf(route.parts.sinceStart, earlier?.parts.sinceStart),
      }
    })
  },
  minute: ({ end }) =>
    end.snapshot.routes.map((route) => ({
      ...nameOf(route),
      ...summaryOf(route.lastMinute, route.parts?.lastMinute),
      shed: null,
      parts: route.parts && { ...route.parts.lastMinute },
    })),
  process: ({ end }) =>
    end.snapshot.routes.map((route) => ({
      ...nameOf(route),
      ...summaryOf(route.sinceStart, route.parts?.sinceStart),
      shed: route.shed,
      parts: route.parts && { ...route.parts.sinceStart },
    })),
}

/** @param {Named} route */
const nameOf = ({ method, route }) => ({ method, route })

/**
 * Adds a mean, which a summary lacks. It is computed from the parts, because they add up to the durations.
 *
 * @param {LatencySummary} summary
 * @param {RequestParts} [parts]
 * @returns {Pick<RouteOfRun, 'count' | 'perSecond' | 'errors' | 'latencies'>}
 */
const summaryOf = (summary, parts) => ({
  count: summary.count,
  perSecond: summary.ratePerSecond,
  errors: Math.round(summary.errorRatio * summary.count),
  latencies:
    parts === undefined || summary.count === 0
      ? summary
      : { ...summary, meanMs: totalOf(parts) / summary.count },
})

/** @param {RequestParts} after @param {RequestParts | undefined} before */
const differenceOf = (after, before) =>
  Object.fromEntries(
    Object.entries(after).map(([name, value]) => [
      name,
      value - (before?.[/** @type {keyof RequestParts} */ (name)] ?? 0),
    ])
  )

/**
 * Subtracts the counts at the start of a run from those at its end. Values are exact to 1 %, as in the
 * histograms of the process.
 *
 * @param {LatencyCounts} after
 * @param {LatencyCounts} [before] of the same process
 * @returns {Latencies | null} null if nothing was counted in between
 */
function latenciesBetween(after, before = { maxUs: 0, cells: [] }) {
  const cells = difference(pairsOf(after.cells), new Map(pairsOf(before.cells)))
  const count = cells.reduce((sum, [, times]) => sum + times, 0)
  if (count === 0) return null
  const [highest] = cells[cells.length - 1]
  // If the highest value is new, it was measured in between, and is known to the microsecond.
  const maxUs = after.maxUs > before.maxUs ? after.maxUs : highest
  const sum = cells.reduce((total, [us, times]) => total + us * times, 0)
  const quantiles = Object.fromEntries(
    Object.entries(RATIOS).map(([name, ratio]) => [
      name,
      Math.min(valueAt(cells, Math.max(1, Math.ceil(ratio * count))), maxUs) / US_PER_MS,
    ])
  )
  return /** @type {Latencies} */ ({
    count,
    meanMs: Math.min(sum / count, maxUs) / US_PER_MS,
    ...quantiles,
    maxMs: maxUs / US_PER_MS,
  })
}

/** @param {readonly number[]} cells */
function pairsOf(cells) {
  /** @type {Cell[]} */
  const pairs = []
  for (let i = 0; i + 1 < cells.length; i += 2) pairs.push([cells[i], cells[i + 1]])
  return pairs
}

/** @param {Cell[]} after @param {Map<number, number>} before */
const difference = (after, before) =>
  after
    .map(([us, count]) => /** @type {Cell} */ ([us, count - (before.get(us) ?? 0)]))
    .filter(([, count]) => count > 0)

/** @param {Cell[]} cells @param {number} rank */
function valueAt(cells, rank) {
  let seen = 0
  for (const [us, count] of cells) if ((seen += count) >= rank) return us
  return 0
}

module.exports = { describeRequests, latenciesBetween }
