'use strict'
// The metric of work for requests that nobody waits for any more, by route, over all methods.

const { Labels } = require('../../core/metrics/labels')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { RouteWaste } from './waste'
 * @typedef {{ loop: Labels, pool: Labels, loopMs: number, poolMs: number }} Sums
 */

/** Labels by route. The number of routes is bounded. @type {Map<string, Pick<Sums, 'loop' | 'pool'>>} */
const known = new Map()

/** @param {string} route */
function labelsOf(route) {
  let labels = known.get(route)
  if (labels === undefined) {
    labels = {
      loop: new Labels({ http_route: route, resource: 'loop' }),
      pool: new Labels({ http_route: route, resource: 'pool' }),
    }
    known.set(route, labels)
  }
  return labels
}

/** @param {readonly RouteWaste[]} waste */
function* points(waste) {
  /** @type {Map<string, Sums>} */
  const routes = new Map()
  for (const { route, loopMs, poolMs } of waste) {
    const sums = routes.get(route) ?? { ...labelsOf(route), loopMs: 0, poolMs: 0 }
    sums.loopMs += loopMs
    sums.poolMs += poolMs
    routes.set(route, sums)
  }
  for (const { loop, pool, loopMs, poolMs } of routes.values()) {
    if (loopMs > 0) yield { labels: loop, value: loopMs / 1000 }
    if (poolMs > 0) yield { labels: pool, value: poolMs / 1000 }
  }
}

/** @type {FeatureFamily<readonly RouteWaste[]>[]} */
const WASTE_FAMILIES = [
  {
    name: 'spillway_wasted_seconds_total',
    type: 'counter',
    help: 'Time of the loop and of pool connections spent on requests after their client disconnected or they timed out, by route.',
    points,
  },
]

module.exports = { WASTE_FAMILIES }
