'use strict'
// The latencies of one route over ten minutes: how many requests there were in each row of each column of ten seconds, in 7.2 kB.

const { ROWS, RowsSinceMark } = require('../../core/histogram/latency-rows')

/** @import { RouteSeries } from '../../core/request/route-series' */

const COLUMNS = 60

class RouteHeat {
  /** How many requests it shows. */
  requests = 0
  #since
  /** A ring of columns. */
  #cells = new Uint32Array(COLUMNS * ROWS)

  /**
   * @param {RouteSeries} series
   * @param {boolean} isNew whether all that it has counted belongs to the column to come
   */
  constructor(series, isNew) {
    this.#since = new RowsSinceMark(series.latency)
    if (!isNew) this.#since.mark()
  }

  /** Makes place for a column. @param {number} column */
  clear(column) {
    this.requests -= this.#sumOf(column)
    this.#cells.fill(0, column * ROWS, (column + 1) * ROWS)
  }

  /** Puts what was recorded since the last column into this one. @param {number} column that is clear */
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

  /** What was recorded since the last column. @returns {[row: number, requests: number][]} */
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

exports.COLUMNS = COLUMNS
exports.RouteHeat = RouteHeat
