'use strict'
// Where the time of requests went, and the time of handlers on the loop: by route, over all methods.

const { LOOP, PARTS, PART_COLUMNS } = require('../../request/request-parts')
const { ExtendedLabels, FurtherLabels, Labels } = require('../labels')

/**
 * @import { RouteSeries } from '../../request/route-series'
 * @import { Capture } from '../capture'
 * @import { Family, PointLabels } from '../family'
 */

const LABELS = PARTS.map((part) => new FurtherLabels({ part }))
/** A part with a smaller sum has no series, so routes that take no time need no storage. */
const MIN_MS = 100
const kByRoute = Symbol('spillway.byRoute')
const kLabels = Symbol('spillway.partLabels')

/**
 * @typedef {{ series: RouteSeries & { [kLabels]?: PointLabels[] }, sums: Float64Array }} RouteSums the first
 *   series of a route, and the sums of the route
 */

/** Runs once per capture. @param {Capture} captured */
function sumByRoute({ series, parts: values }) {
  /** @type {Map<string, RouteSums>} */
  const routes = new Map()
  for (const each of series) {
    const start = (each.partsRow ?? Number.POSITIVE_INFINITY) * PART_COLUMNS
    // A row that was added after the capture is not in `values`.
    if (start >= values.length) continue
    let found = routes.get(each.route)
    if (found === undefined) {
      found = { series: each, sums: new Float64Array(PART_COLUMNS) }
      routes.set(each.route, found)
    }
    for (let i = 0; i < PART_COLUMNS; i++) found.sums[i] += values[start + i]
  }
  return routes
}

/** @param {Capture & { [kByRoute]?: Map<string, RouteSums> }} captured */
function* byRoute(captured) {
  captured[kByRoute] ??= sumByRoute(captured)
  for (const { series, sums } of captured[kByRoute].values()) {
    yield { labels: (series[kLabels] ??= labelsOf(series)), sums }
  }
}

/**
 * The labels of a route, in the order of the columns. They are kept on the series, so each later scrape uses
 * the same objects.
 *
 * @param {RouteSeries} series
 */
function labelsOf({ route }) {
  const own = new Labels({ http_route: route })
  return [...LABELS.map((label) => new ExtendedLabels(own, label)), own]
}

/** @param {Capture} captured */
function* parts(captured) {
  for (const { labels, sums } of byRoute(captured)) {
    for (let i = 0; i < PARTS.length; i++)
      if (sums[i] >= MIN_MS) yield { labels: labels[i], value: sums[i] / 1000 }
  }
}

/** @param {Capture} captured */
function* handlerTimes(captured) {
  for (const { labels, sums } of byRoute(captured)) {
    if (sums[LOOP] >= MIN_MS) yield { labels: labels[LOOP], value: sums[LOOP] / 1000 }
  }
}

/** @type {Family[]} */
const PART_FAMILIES = [
  {
    name: 'spillway_request_part_seconds_total',
    type: 'counter',
    help: 'Where the time of requests went: queue, run, loop_busy, gc, wait and body sum to their durations; unread and proxy came before.',
    points: parts,
  },
  {
    name: 'spillway_route_loop_seconds_total',
    type: 'counter',
    help: 'Time that the handlers of a route ran on the event loop. Work after an await counts if an outgoing call, a use of a pool or the response head follows in the same loop turn.',
    points: handlerTimes,
  },
]

module.exports = { PART_FAMILIES }
