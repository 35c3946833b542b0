'use strict'
// prom-client's default metrics, for `metrics.defaults`. They are collected once per process, because their
// observers are never removed. Their event-loop lag is left out, because ours has the same names and needs no
// timer.

const client = require('prom-client')
const { LAG_FAMILIES } = require('../families')

/** @import { Registry } from './registry-points' */

/**
 * The longest period of a timer, 24 days. It practically disables prom-client's sampling of the loop lag,
 * which is unused here.
 */
const NEVER_MS = 2 ** 31 - 1
/** The only default metric that is updated between scrapes. */
const COLLECTIONS = 'nodejs_gc_duration_seconds'

/** @type {import('prom-client').Registry | undefined} */
let processRegistry

function defaultMetrics() {
  if (processRegistry === undefined) {
    processRegistry = new client.Registry()
    client.collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: NEVER_MS })
    for (const { name } of LAG_FAMILIES) processRegistry.removeSingleMetric(name)
    const collections = processRegistry.getSingleMetric(COLLECTIONS)
    if (collections !== undefined) catchErrors(/** @type {import('prom-client').Histogram} */ (collections))
  }
  return /** @type {Registry} */ (/** @type {unknown} */ (processRegistry))
}

/**
 * An error in prom-client's PerformanceObserver would end the process. The observer throws if an application
 * has extended `Object.prototype`, because prom-client treats each inherited property as a label.
 *
 * @param {{ observe(...given: unknown[]): void }} metric
 */
function catchErrors(metric) {
  const { observe } = metric
  metric.observe = (...given) => {
    try {
      observe.apply(metric, given)
    } catch {
      // The next scrape fails with the same error and reports it.
    }
  }
}

module.exports = { defaultMetrics }
