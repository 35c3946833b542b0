'use strict'
// prom-client's default metrics, for those who want them under its names (`metrics.defaults`). They are collected once a
// process, whoever asks: their observers are never taken away again. The lag of the event loop is left out: ours is the same
// without a timer.

const client = require('prom-client')
const { LAG_FAMILIES } = require('../families')

/** prom-client samples loop lag with a timer of this period. Ours comes from the turn clock, so: once in 24 days. */
const NEVER_MS = 2 ** 31 - 1
/** Of the default metrics the one that is told between scrapes. */
const COLLECTIONS = 'nodejs_gc_duration_seconds'

let processRegistry

/** @returns {import('prom-client').Registry} the registry they are in */
function defaultMetrics() {
  if (processRegistry === undefined) {
    processRegistry = new client.Registry()
    client.collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: NEVER_MS })
    for (const { name } of LAG_FAMILIES) processRegistry.removeSingleMetric(name)
    const collections = processRegistry.getSingleMetric(COLLECTIONS)
    if (collections !== undefined) makeHarmless(collections)
  }
  return processRegistry
}

/**
 * What it throws in its observer ends the process: it takes for a label whatever somebody has given to every object, by
 * `Object.prototype`.
 */
function makeHarmless(metric) {
  const { observe } = metric
  metric.observe = (...given) => {
    try {
      observe.apply(metric, given)
    } catch {
      // The next scrape meets the same, and tells of it.
    }
  }
}

module.exports = { defaultMetrics }
