'use strict'
// Requests turned away, by the route they would have gone to. They are turned away before a router has seen them, so the
// route is guessed by the URL. After sixteen in 100 ms, one in sixteen is looked at and stands for those since the last: all
// of them are in the sum, and a guess of 1 µs each would be a twentieth of what a rejection costs.

const { COUNTERS, SHED } = require('./route-series')
const { UrlIndex } = require('./url-index')

const WINDOW_MS = 100
const EACH_OF_FIRST = 16
const MEAN_GAP = 16

class ShedRoutes {
  #index = new UrlIndex()
  #counters
  #gap = 1
  #left = 1
  #windowMs = Number.NEGATIVE_INFINITY
  #taken = 0

  /** @param {{ values: Float64Array }} counters of all series */
  constructor(counters) {
    this.#counters = counters
  }

  /** @param {{ method: string, route: string, row: number }} series */
  know(series) {
    this.#index.add(series)
  }

  // Hot path: at ten times the capacity nine requests in ten come here, and most of them no further than this.
  note(request) {
    if (--this.#left === 0) this.#take(request)
  }

  #take({ req, recorder }) {
    const series = this.#index.find(req.method, req.originalUrl ?? req.url)
    if (series !== undefined) this.#counters.values[series.row * COUNTERS + SHED] += this.#gap
    const nowMs = recorder.nowMs()
    if (nowMs - this.#windowMs > WINDOW_MS) {
      this.#windowMs = nowMs
      this.#taken = 0
    }
    // At random: a load may come in a pattern.
    this.#gap = ++this.#taken < EACH_OF_FIRST ? 1 : 1 + Math.floor(Math.random() * (2 * MEAN_GAP - 1))
    this.#left = this.#gap
  }
}

module.exports = { ShedRoutes }
