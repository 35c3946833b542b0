'use strict'
// All series, by route and method. Beyond `max` routes, only the route label is folded into one overflow
// value: method and status stay separate, and each folded request is counted. So a router built from user
// data, or a faulty `routes.label`, cannot exhaust the memory.
//
// `ShedRoutes` counts rejected requests by the route they would have taken.

const { ADVISED_BOUNDS, Buckets, boundsOf } = require('../histogram/buckets')
const { NativeBuckets } = require('../histogram/native')
const { Rows } = require('../histogram/rows')
const { OWN_ROUTES } = require('../route/template')
const { Exemplars } = require('./exemplars')
const { METHODS } = require('./methods')
const { COUNTERS, RouteSeries, SHED_COLUMN } = require('./route-series')
const { UrlIndex } = require('./url-index')

/**
 * @import { RoutedRequest } from '../route/route-state'
 * @import { RequestRecord } from './request-record'
 */

const MAX_LABEL_LENGTH = 256
/** Of the rejections in a window, each of the first is matched to a route, and then about one in MEAN_GAP. */
const WINDOW_MS = 100
const MATCHED_FIRST = 16
const MEAN_GAP = 16

class Route {
  /** @type {(RouteSeries | undefined)[]} */
  byMethod = new Array(METHODS.length).fill(undefined)

  /** @param {string} name */
  constructor(name) {
    this.name = name
  }
}

class RouteTable {
  /** In the order of first appearance, as the metrics list them. @type {RouteSeries[]} */
  series = []
  folded = 0
  /** @type {import('./route-series').SeriesTables} */
  tables
  /** The bucket bounds of the durations. */
  bounds
  shed
  /** @type {Map<string, Route>} */
  #routes = new Map()
  #named = 0
  #max
  #overflow
  #unmatched
  #startedMs

  /**
   * @param {{ max: number, overflow: string, unmatched: string }} routes
   * @param {{ bodySizes?: boolean, nativeHistograms?: boolean, buckets?: readonly number[] }} [kinds]
   */
  constructor(
    { max, overflow, unmatched },
    { bodySizes = false, nativeHistograms = false, buckets } = {},
    startedMs = 0
  ) {
    this.bounds = buckets === undefined ? ADVISED_BOUNDS : boundsOf(buckets)
    this.tables = {
      bodySizes: bodySizes ? new (require('./body-sizes').BodySizes)() : undefined,
      counters: new Rows(COUNTERS),
      durations: new Buckets(this.bounds),
      exemplars: new Exemplars(),
      natives: nativeHistograms ? new NativeBuckets() : undefined,
      streams: new Buckets(ADVISED_BOUNDS),
    }
    this.shed = new ShedRoutes(this.tables.counters)
    this.#max = max
    this.#overflow = overflow
    this.#unmatched = unmatched
    this.#startedMs = startedMs
  }

  /**
   * Takes the place of a series, for a request that the metrics leave out.
   *
   * @param {string | undefined} template
   */
  routeOnly(template) {
    return { route: template ?? this.#unmatched }
  }

  /**
   * @param {string | undefined} template undefined if no route took the request
   * @param {number} method an index into METHODS
   */
  find(template, method) {
    const route = this.#routes.get(template ?? this.#unmatched) ?? this.#routeFor(template)
    return (route.byMethod[method] ??= this.#create(route.name, method))
  }

  /** @param {string | undefined} template */
  #routeFor(template) {
    if (template === undefined || template === this.#unmatched) return this.#addRoute(this.#unmatched)
    // Labels of spillway itself do not count against `max`.
    if (OWN_ROUTES.includes(template)) return this.#addRoute(template)
    // Two long names with the same beginning share a series.
    const bounded =
      template.length > MAX_LABEL_LENGTH ? `${template.slice(0, MAX_LABEL_LENGTH - 1)}…` : template
    // UTF-8 turns half a surrogate pair into U+FFFD. Two such names would print as one, and Prometheus
    // rejects the scrape.
    const name = /** @type {string & { toWellFormed(): string }} */ (bounded).toWellFormed()
    const known = this.#routes.get(name)
    if (known !== undefined) return known
    if (this.#named < this.#max) {
      this.#named++
      return this.#addRoute(name)
    }
    this.folded++
    return this.#routes.get(this.#overflow) ?? this.#addRoute(this.#overflow)
  }

  /** @param {string} name */
  #addRoute(name) {
    const route = new Route(name)
    this.#routes.set(name, route)
    return route
  }

  /** @param {string} route @param {number} method */
  #create(route, method) {
    const series = new RouteSeries(this.tables, METHODS[method], route, this.#startedMs)
    this.series.push(series)
    this.shed.add(series)
    return series
  }
}

/**
 * Counts rejected requests by route. No router has seen them, so the URL is matched to a route. After 16
 * requests in 100 ms, about one in 16 is matched and stands for the others, so the sum stays right. Matching
 * each (1 µs) would cost a twentieth of a rejection.
 */
class ShedRoutes {
  #index = new UrlIndex()
  #counters
  /** How many requests the next match stands for, and how many of them are still to come. */
  #gap = 1
  #left = 1
  #windowMs = Number.NEGATIVE_INFINITY
  #matched = 0

  /** @param {{ values: Float64Array }} counters the counters of all series */
  constructor(counters) {
    this.#counters = counters
  }

  /** @param {RouteSeries} series */
  add(series) {
    this.#index.add(series)
  }

  /**
   * @param {RoutedRequest} req
   * @returns {RouteSeries | undefined} the series that a request would most likely be counted in
   */
  find(req) {
    return this.#index.find(req.method, req.originalUrl ?? req.url)
  }

  // Hot path: at ten times the capacity, nine of ten requests come here, and most end with this comparison.
  /** @param {RequestRecord} request */
  record(request) {
    if (--this.#left === 0) this.#match(request)
  }

  /** @param {RequestRecord} request */
  #match({ req, recorder }) {
    const series = this.find(req)
    if (series !== undefined) this.#counters.values[series.row * COUNTERS + SHED_COLUMN] += this.#gap
    const nowMs = recorder.nowMs()
    if (nowMs - this.#windowMs > WINDOW_MS) {
      this.#windowMs = nowMs
      this.#matched = 0
    }
    // Random, because the load may have a period.
    this.#gap = ++this.#matched < MATCHED_FIRST ? 1 : 1 + Math.floor(Math.random() * (2 * MEAN_GAP - 1))
    this.#left = this.#gap
  }
}

exports.RouteTable = RouteTable
