'use strict'
// Compares this release with the previous one, in total and for the routes that both have served.

const { shedRatioOf } = require('./release-figures')

/**
 * @import { ReleaseFigures, ReleaseSnapshot, ReleasesSnapshot, RouteSnapshot, Snapshot } from '../../../index.js'
 * @import { ReleaseRecord } from './release-file'
 * @import { ReleaseHistory } from './release-history'
 */

/**
 * @param {ReleaseHistory} releases
 * @param {Pick<Snapshot, 'requests' | 'routes' | 'admission'>} snapshot
 * @returns {ReleasesSnapshot}
 */
function compareReleases({ current, previous }, { requests, routes, admission }) {
  const shed = admission.shed.reduce((sum, { count }) => sum + count, 0)
  const { version, revision, since } = current
  const own = figuresOf(requests.sinceStart)
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
    const current = { ...figuresOf(sinceStart), shedRatio: shedRatioOf(shed, sinceStart.count) }
    return [{ method, route, current, previous: withShedRatio(previous) }]
  })
}

/** @param {{ method: string, route: string }} route */
const keyOf = ({ method, route }) => `${method} ${route}`

/** @param {ReleaseFigures} figures */
const withShedRatio = (figures) => ({ ...figuresOf(figures), shedRatio: figures.shedRatio })

/** @param {Omit<ReleaseFigures, 'shedRatio'>} figures */
const figuresOf = ({ count, p50Ms, p95Ms, p99Ms, errorRatio }) => ({ count, p50Ms, p95Ms, p99Ms, errorRatio })

module.exports = { compareReleases }
