'use strict'
// Counts rejected requests by the route they would have taken. No router has seen them, so the URL is matched
// to a route. After 16 requests in 100 ms, about one in 16 is matched and stands for the others, so the sum
// stays right. Matching each (1 µs) would cost a twentieth of a rejection.

const { COUNTERS, SHED } = require('./route-series')
const { UrlIndex } = require('./url-index')

/**
 * @import { RoutedRequest } from '../route/route-state'
 * @import { Request } from './request'
 * @import { RouteSeries } from './route-series'
 */

const WINDOW_MS = 100
const MATCHED_FIRST = 16
const MEAN_GAP = 16

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
  /** @param {Request} request */
  record(request) {
    if (--this.#left === 0) this.#match(request)
  }

  /** @param {Request} request */
  #match({ req, recorder }) {
    const series = this.find(req)
    if (series !== undefined) this.#counters.values[series.row * COUNTERS + SHED] += this.#gap
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

exports.ShedRoutes = ShedRoutes
