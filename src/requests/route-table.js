'use strict'
// All series, by route and method. `max` caps the routes, and past it only the route label is folded into one
// overflow value: method and status stay apart, and what was folded is counted. So neither a router built from
// user data nor a `routes.label` gone wrong can fill the memory.

const { ADVISED_BOUNDS, Buckets, boundsOf } = require('../histograms/buckets')
const { NativeBuckets } = require('../histograms/native')
const { Rows } = require('../histograms/rows')
const { OWN_ROUTES } = require('../routing/template')
const { Exemplars } = require('./exemplars')
const { METHODS } = require('./methods')
const { COUNTERS, RouteSeries } = require('./route-series')
const { ShedRoutes } = require('./shed-routes')

const LABEL_LIMIT = 256

class Route {
  byMethod = new Array(METHODS.length).fill(undefined)

  constructor(name) {
    this.name = name
  }
}

class RouteTable {
  /** In the order first seen, which is the order they are shown in. */
  series = []
  folded = 0
  tables
  /** Of the durations. */
  bounds
  shed
  #routes = new Map()
  #named = 0
  #max
  #overflow
  #unmatched
  #startedMs

  /**
   * @param {{ max: number, overflow: string, unmatched: string }} routes
   * @param {{ nativeHistograms?: boolean, buckets?: readonly number[] }} [kinds]
   */
  constructor({ max, overflow, unmatched }, { nativeHistograms = false, buckets } = {}, startedMs = 0) {
    this.bounds = buckets === undefined ? ADVISED_BOUNDS : boundsOf(buckets)
    this.tables = {
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

  /** What a request that is counted nowhere has in place of its series. @param {string | undefined} template */
  nameOnly(template) {
    return { route: template ?? this.#unmatched }
  }

  /** @param {string | undefined} template the route's, or undefined where no route took the request */
  find(template, method) {
    const route = this.#routes.get(template ?? this.#unmatched) ?? this.#admit(template)
    return (route.byMethod[method] ??= this.#create(route.name, method))
  }

  #admit(template) {
    if (template === undefined || template === this.#unmatched) return this.#open(this.#unmatched)
    // They take no place from the application's.
    if (OWN_ROUTES.includes(template)) return this.#open(template)
    // Bounded before it is kept; two long names that begin alike share a series.
    const bounded = template.length > LABEL_LIMIT ? `${template.slice(0, LABEL_LIMIT - 1)}…` : template
    // Half a surrogate pair, given or left by the cut, is U+FFFD in UTF-8: two would be one series shown twice, and
    // Prometheus takes nothing of such a scrape.
    const name = bounded.toWellFormed()
    const known = this.#routes.get(name)
    if (known !== undefined) return known
    if (this.#named < this.#max) {
      this.#named++
      return this.#open(name)
    }
    this.folded++
    return this.#routes.get(this.#overflow) ?? this.#open(this.#overflow)
  }

  #open(name) {
    const route = new Route(name)
    this.#routes.set(name, route)
    return route
  }

  #create(route, method) {
    const series = new RouteSeries(this.tables, METHODS[method], route, this.#startedMs)
    this.series.push(series)
    this.shed.know(series)
    return series
  }
}

module.exports = { RouteTable }
