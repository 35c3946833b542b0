'use strict'
// The latencies of the hundred busiest routes over the last ten minutes, for the heat maps on the live page,
// in at most 0.75 MB. Recording begins with `start()`. A column is filled at the first point of the history
// after its ten seconds. So a request itself costs nothing.

const { ROWS, ROW_STARTS_MS, RowsSinceMark } = require('../../core/histogram/latency-rows')

/**
 * @import { RouteHeatMap } from '../../../index.js'
 * @import { RouteSeries } from '../../core/request/route-series'
 */

const COLUMNS = 60

/**
 * The heat map of one route. A column is ten seconds, a row a range of latency. 60 columns of 30 rows take
 * 7.2 kB.
 */
class RouteHeat {
  /** Requests in all columns. */
  requests = 0
  #since
  /** A ring buffer of columns. */
  #cells = new Uint32Array(COLUMNS * ROWS)

  /**
   * @param {RouteSeries} series
   * @param {boolean} isNew true if the series is newer than the last column: then all its requests belong to
   *   the next column
   */
  constructor(series, isNew) {
    this.#since = new RowsSinceMark(series.latency)
    if (!isNew) this.#since.mark()
  }

  /** Clears a column for new figures. @param {number} column */
  clear(column) {
    this.requests -= this.#sumOf(column)
    this.#cells.fill(0, column * ROWS, (column + 1) * ROWS)
  }

  /** Moves what was recorded since the last column into this column. @param {number} column must be clear */
  take(column) {
    this.#since.take(this.#cells, column * ROWS)
    this.requests += this.#sumOf(column)
  }

  /** @param {number} column */
  #sumOf(column) {
    let sum = 0
    for (let i = column * ROWS; i < (column + 1) * ROWS; i++) sum += this.#cells[i]
    return sum
  }

  /** @param {number} column @returns {[row: number, requests: number][]} */
  cellsOf(column) {
    return pairsOf(this.#cells.subarray(column * ROWS, (column + 1) * ROWS))
  }

  /** Returns what was recorded since the last column. @returns {[row: number, requests: number][]} */
  get unfinished() {
    const cells = new Uint32Array(ROWS)
    this.#since.addTo(cells, 0)
    return pairsOf(cells)
  }
}

/** Most cells are empty. @param {Uint32Array} cells @returns {[row: number, requests: number][]} */
function pairsOf(cells) {
  /** @type {[row: number, requests: number][]} */
  const pairs = []
  for (let row = 0; row < ROWS; row++) if (cells[row] > 0) pairs.push([row, cells[row]])
  return pairs
}

const COLUMN_MS = 10_000
const SPAN_MS = COLUMNS * COLUMN_MS
const MAX_ROUTES = 100

/** @typedef {{ series: RouteSeries, requests: number, isNew: boolean }} Other a route without a heat map */

class LatencyHeat {
  #clock
  /** The series of the route table. New series are appended. @type {RouteSeries[]} */
  #series
  /** How many requests each series had counted when the last column was taken. @type {number[]} */
  #counts = []
  /** @type {Map<RouteSeries, RouteHeat>} */
  #routes = new Map()
  /** When each column of the ring began and ended, in milliseconds since the epoch. */
  #fromMs = new Float64Array(COLUMNS)
  #toMs = new Float64Array(COLUMNS)
  #taken = 0
  #sinceMs = 0
  #dueMs = Number.POSITIVE_INFINITY

  /**
   * @param {{ clock: Pick<import('../../core/clock').Clock, 'now' | 'wallMs'>,
   *   recorder: { routes: { series: RouteSeries[] } } }} deps
   */
  constructor({ clock, recorder }) {
    this.#clock = clock
    this.#series = recorder.routes.series
  }

  start() {
    this.#sinceMs = this.#clock.wallMs()
    this.#dueMs = this.#clock.now() + COLUMN_MS
    this.#counts = this.#series.map(countOf)
    for (const series of this.#busiest()) this.#routes.set(series, new RouteHeat(series, false))
  }

  #busiest() {
    return [...this.#series].sort((a, b) => countOf(b) - countOf(a)).slice(0, MAX_ROUTES)
  }

  /** Called with each point of the history. @param {number} nowMs */
  onPoint(nowMs) {
    if (nowMs < this.#dueMs) return
    // After a pause, the next column begins now.
    this.#dueMs = nowMs - this.#dueMs < COLUMN_MS ? this.#dueMs + COLUMN_MS : nowMs + COLUMN_MS
    this.#take(this.#taken++ % COLUMNS)
  }

  /** @param {number} column */
  #take(column) {
    this.#fromMs[column] = this.#sinceMs
    this.#toMs[column] = this.#sinceMs = this.#clock.wallMs()
    for (const route of this.#routes.values()) route.clear(column)
    /** @type {Other[]} */
    const others = []
    for (const [i, series] of this.#series.entries()) {
      const count = countOf(series)
      const before = this.#counts[i]
      if (count === before) continue
      this.#counts[i] = count
      const route = this.#routes.get(series) ?? this.#add(series, before === undefined)
      if (route === undefined)
        others.push({ series, requests: count - (before ?? 0), isNew: before === undefined })
      else route.take(column)
    }
    if (others.length > 0) this.#replaceQuietest(others, column)
  }

  /**
   * @param {RouteSeries} series
   * @param {boolean} isNew
   * @returns {RouteHeat | undefined} undefined if the maximum number of routes is reached
   */
  #add(series, isNew) {
    if (this.#routes.size >= MAX_ROUTES) return undefined
    const route = new RouteHeat(series, isNew)
    this.#routes.set(series, route)
    return route
  }

  /**
   * Replaces the quietest routes. A route takes the place of another if it had more requests in this column
   * than the other had in ten minutes.
   *
   * @param {Other[]} others @param {number} column
   */
  #replaceQuietest(others, column) {
    const quietest = [...this.#routes].sort(([, a], [, b]) => a.requests - b.requests)
    others.sort((a, b) => b.requests - a.requests)
    for (const [i, { series, requests, isNew }] of others.slice(0, MAX_ROUTES).entries()) {
      const [quiet, route] = quietest[i]
      if (requests <= route.requests) return
      this.#routes.delete(quiet)
      this.#add(series, isNew)?.take(column)
    }
  }

  /**
   * Reads the heat map of a route.
   *
   * @param {string | null} method
   * @param {string | null} name the label of the route
   * @returns {RouteHeatMap | undefined} undefined if there is no such route
   */
  read(method, name) {
    const i = this.#series.findIndex((each) => each.method === method && each.route === name)
    if (i === -1) return undefined
    const series = this.#series[i]
    // A route that is newer than the last column is not in `#routes` yet. So a temporary `RouteHeat` shows
    // its requests.
    const route =
      this.#routes.get(series) ?? (i >= this.#counts.length ? new RouteHeat(series, true) : undefined)
    return {
      method: series.method,
      route: series.route,
      isKept: route !== undefined,
      rowStartsMs: ROW_STARTS_MS,
      columns: this.#columns(route),
    }
  }

  /** @param {RouteHeat | undefined} route */
  #columns(route) {
    const nowMs = this.#clock.wallMs()
    const columns = []
    for (let i = Math.max(0, this.#taken - COLUMNS); i < this.#taken; i++) {
      const column = i % COLUMNS
      const to = this.#toMs[column]
      if (to > nowMs - SPAN_MS)
        columns.push({ from: this.#fromMs[column], to, cells: route?.cellsOf(column) ?? [] })
    }
    columns.push({ from: this.#sinceMs, to: nowMs, cells: route?.unfinished ?? [] })
    return columns
  }

  close() {
    this.#dueMs = Number.POSITIVE_INFINITY
  }
}

/** @param {RouteSeries} series */
const countOf = (series) => series.latency.totals.count

exports.COLUMNS = COLUMNS
exports.COLUMN_MS = COLUMN_MS
exports.MAX_ROUTES = MAX_ROUTES
exports.LatencyHeat = LatencyHeat
