'use strict'
// The totals: a snapshot, and the histograms of all latencies since the start, which a snapshot leaves out.
// Two totals show what happened in between, quantiles included. A report of a load test needs this.

const { countsOf, newHistogram } = require('../../core/histogram/hdr-histogram')
const { VERSION } = require('../../core/version')
const { describeProcess } = require('./process-description')

/**
 * @import { JsHistogram } from 'hdr-histogram-js'
 * @import { LatencyCounts, RunTotals, Snapshot } from '../../../index.js'
 * @import { RollingHistogram } from '../../core/histogram/rolling'
 */

/** Only the routes with the most requests are included, because a route takes some kilobytes. */
const MAX_ROUTES = 200

/**
 * @param {Pick<import('../../core/metrics/capture').Deps, 'recorder' | 'clock'>} deps
 * @param {Snapshot} snapshot of this moment
 * @param {string} instance which process this is
 * @returns {RunTotals}
 */
function takeTotals({ recorder, clock }, snapshot, instance) {
  const nowMs = clock.now()
  const histogram = newHistogram(64)
  /** @param {RollingHistogram} latency */
  const countsFor = (latency) => {
    histogram.reset()
    return readCounts(latency.addSinceStart(histogram, nowMs).histogram)
  }
  const routes = recorder.routes.series
    .map((series) => ({ series, count: series.latency.totals.count }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, MAX_ROUTES)
    .map(({ series: { method, route, latency } }) => ({ method, route, ...countsFor(latency) }))
  return {
    at: Date.parse(snapshot.at),
    process: { ...describeProcess(), spillway: VERSION, instance },
    snapshot,
    latencies: { all: countsFor(recorder.all), routes },
  }
}

/**
 * Returns the highest value of each cell that is not empty, and its count.
 *
 * @param {JsHistogram} histogram
 * @returns {LatencyCounts}
 */
function readCounts(histogram) {
  /** @type {number[]} */
  const cells = []
  const counts = countsOf(histogram)
  const last = histogram.totalCount === 0 ? -1 : histogram.countsArrayIndex(histogram.maxValue)
  for (let cell = 0; cell <= last; cell++) {
    if (counts[cell] > 0)
      cells.push(histogram.highestEquivalentValue(histogram.valueFromIndex(cell)), counts[cell])
  }
  return { maxUs: histogram.totalCount === 0 ? 0 : histogram.maxValue, cells }
}

module.exports = { takeTotals }
