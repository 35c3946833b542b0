'use strict'
// The routes of a run, where the time of their requests went, and the slowest requests. With an earlier
// report, each route is shown before and after.

const { NONE, count, duration, number, percent, routeName } = require('../../../core/readable')
const { IN_PROXY, PARTS, msOf, sumOf } = require('../page/part-list')
const { coversOf, makeSection, makeTable } = require('./table')
const { html } = require('./markup')
const { changeOf } = require('./overview')

/**
 * @import { RequestParts } from '../../../../index.js'
 * @import { Run } from './run'
 * @import { RouteOfRun } from './run-requests'
 * @import { Times } from './times'
 */

const BAR_WIDTH = 160
const MIN_SHARE = 0.004
const ROUTE = { title: 'Route', isText: true }

/** @param {RouteOfRun} route */
const keyOf = ({ method, route }) => `${method} ${route}`
/** @param {RouteOfRun} route */
const errorShareOf = ({ errors, count: requests }) => (requests === 0 ? 0 : errors / requests)

/** @param {Run} run @param {Times} times */
function makeRoutes(run, times) {
  const { routes, routesLeft, covers } = run
  const about = coversOf(run, times)[covers]
  if (routes.length === 0) return makeSection('routes', 'Routes', about, html`<p>No request.</p>`)
  const rows = routes.map((route) => {
    const { latencies } = route
    const share = errorShareOf(route)
    return [
      routeName(route),
      count(route.count),
      number(route.perSecond),
      count(route.errors),
      share >= 0.01 ? html`<span class="bad">${percent(share)}</span>` : percent(share),
      route.shed === null ? NONE : count(route.shed),
      .../** @type {const} */ (['meanMs', 'p50Ms', 'p95Ms', 'p99Ms', 'maxMs']).map((key) =>
        duration(route.count === 0 ? null : latencies?.[key])
      ),
    ]
  })
  const heads = [
    ROUTE,
    'requests',
    'a second',
    'errors',
    'of all',
    'shed',
    'mean',
    'p50',
    'p95',
    'p99',
    'max',
  ]
  const sources = `${about}${covers === 'run' ? ' Latencies are exact to 1 %, from the histograms of the process.' : ''}`
  return makeSection(
    'routes',
    'Routes',
    sources,
    makeTable({ caption: 'Routes', heads, rows }),
    routesLeft > 0 && html`<p class="about">And ${routesLeft} routes with fewer requests.</p>`
  )
}

/** @param {Run} run @param {Times} times */
function makeParts(run, times) {
  const routes = run.routes.filter(({ parts, count: requests }) => parts !== null && requests > 0)
  if (routes.length === 0) return null
  const isStamped = routes.some(({ parts }) => parts?.proxyMs)
  const rows = routes.map(({ method, route, parts, count: requests }) => [
    routeName({ method, route }),
    makeBar(parts),
    ...PARTS.map((part) => duration(msOf(/** @type {Partial<RequestParts>} */ (parts), part) / requests)),
    ...(isStamped ? [duration((parts?.proxyMs ?? 0) / requests)] : []),
  ])
  return makeSection(
    'parts',
    'Where the time goes',
    coversOf(run, times)[run.covers],
    makeLegend(isStamped),
    makeTable({
      caption: 'Mean of a request, by part',
      heads: [
        ROUTE,
        { title: 'share', isText: true },
        ...PARTS.map(({ name }) => name),
        ...(isStamped ? [IN_PROXY.name] : []),
      ],
      rows,
    })
  )
}

/** @param {boolean} isStamped whether a proxy stamps requests */
const makeLegend = (isStamped) =>
  html`<ul class="legend">${PARTS.map(
    ({ key, name, about }) => html`<li><i class="swatch part-${key}"></i><b>${name}</b>: ${about}</li>`
  )}${isStamped && html`<li><b>${IN_PROXY.name}</b>: ${IN_PROXY.about}</li>`}</ul>`

/**
 * Draws the parts as a bar without text, because other columns have the figures.
 *
 * @param {Partial<RequestParts> | null} parts `null` if no parts were measured @param {number} [scale] the
 *   share of the width
 */
function makeBar(parts, scale = 1) {
  const total = parts === null ? 0 : sumOf(parts)
  if (total === 0) return NONE
  let left = 0
  const pieces = PARTS.map((part) => {
    const width = (msOf(/** @type {Partial<RequestParts>} */ (parts), part) / total) * BAR_WIDTH * scale
    const x = left
    left += width
    if (width < MIN_SHARE * BAR_WIDTH) return null
    return html`<rect class="part-${part.key}" x="${x.toFixed(1)}" y="0" width="${width.toFixed(1)}" height="10"/>`
  })
  return html`<svg class="bar" viewBox="0 0 ${BAR_WIDTH} 10" aria-hidden="true">${pieces}</svg>`
}

/** @param {Run} run @param {Times} times */
function makeSlowest({ slowest, eventsCover }, times) {
  const about =
    eventsCover === 'run'
      ? 'The slowest requests that ended in this run. Only the ten slowest of each one to two minutes are known.'
      : 'The process keeps the slowest requests of its last one to two minutes. These are the ones that ended in this run.'
  if (slowest.length === 0)
    return makeSection('slowest', 'Slowest requests', about, html`<p>None is known.</p>`)
  const longestMs = Math.max(...slowest.map(({ durationMs }) => durationMs))
  const isStamped = slowest.some(({ proxyMs = null }) => proxyMs !== null)
  const rows = slowest.map(
    ({ method, route, at, status, outcome, durationMs, parts, proxyMs, traceId, requestId }) => [
      routeName({ method, route }),
      times.time(at),
      outcome === 'completed' ? String(status) : `${status ?? NONE} ${outcome}`,
      duration(durationMs),
      makeBar(parts, durationMs / longestMs),
      ...PARTS.map((part) => (parts === null ? NONE : duration(msOf(parts, part)))),
      ...(isStamped ? [duration(proxyMs)] : []),
      String(traceId ?? requestId ?? NONE),
    ]
  )
  const heads = [
    ROUTE,
    'at',
    { title: 'status', isText: true },
    'took',
    { title: 'parts', isText: true },
    ...PARTS.map(({ name }) => name),
    ...(isStamped ? [IN_PROXY.name] : []),
    { title: 'trace or request id', isText: true },
  ]
  return makeSection(
    'slowest',
    'Slowest requests',
    about,
    makeTable({ caption: 'Slowest requests', heads, rows })
  )
}

/** @param {Run} run @param {Run | undefined} baseline */
function makeComparison(run, baseline) {
  if (baseline === undefined) return null
  const before = new Map(baseline.routes.map((route) => [keyOf(route), route]))
  const rows = run.routes
    .filter((route) => before.has(keyOf(route)))
    .map((route) => {
      const earlier = /** @type {typeof route} */ (before.get(keyOf(route)))
      /**
       * @param {(value: number | null | undefined) => string} write
       * @param {(route: RouteOfRun) => number | undefined} read
       * @param {number} isBetter
       */
      const pair = (write, read, isBetter) => [
        write(read(earlier)),
        write(read(route)),
        changeOf(read(earlier), read(route), { isBetter }),
      ]
      return [
        routeName(route),
        ...pair(number, ({ perSecond }) => perSecond, 1),
        ...pair(duration, ({ latencies }) => latencies?.p50Ms, -1),
        ...pair(duration, ({ latencies }) => latencies?.p99Ms, -1),
        ...pair(percent, errorShareOf, -1),
      ]
    })
  const figures = ['a second', 'p50', 'p99', 'errors']
  const heads = [ROUTE, ...figures.flatMap((name) => [`${name}, before`, 'now', 'change'])]
  const known = new Set(run.routes.map(keyOf))
  const gone = baseline.routes.filter((route) => !known.has(keyOf(route))).map(routeName)
  return makeSection(
    'comparison',
    'Before and after, by route',
    run.covers === 'run' && baseline.covers === 'run'
      ? 'Both reports cover exactly their runs.'
      : 'At least one of the two reports does not cover exactly its run: see the notes of the other tables.',
    rows.length === 0
      ? html`<p>No route had requests in both runs.</p>`
      : makeTable({ caption: 'Before and after', heads, rows }),
    gone.length > 0 && html`<p class="about">Only before: ${gone.join(', ')}.</p>`
  )
}

module.exports = { makeComparison, makeParts, makeRoutes, makeSlowest }
