'use strict'
// Keeps what a table of counters was at the beginning of the last minute: a copy at the beginning of each half minute, as
// rolling.js has them. The counters themselves cost nothing more.

/** @import { Rows } from './rows' */

const SPAN_MS = 30_000

class RollingRows {
  #rows
  #startMs
  #span = 0
  /** The table when the half minute before this one began, and when this one began. @type {Float64Array} */
  #older = new Float64Array()
  /** @type {Float64Array} */
  #newer = new Float64Array()

  /** @param {Rows} rows empty at `startMs` @param {number} startMs */
  constructor(rows, startMs) {
    this.#rows = rows
    this.#startMs = startMs
  }

  // Hot path: once a loop turn, one comparison.
  /** @param {number} nowMs */
  onTurn(nowMs) {
    const span = this.#spanAt(nowMs)
    if (span === this.#span) return
    const rows = this.#rows.copy()
    this.#older = span === this.#span + 1 ? this.#newer : rows
    this.#newer = rows
    this.#span = span
  }

  /** @param {number} nowMs */
  #spanAt(nowMs) {
    return Math.floor((nowMs - this.#startMs) / SPAN_MS)
  }

  /** @param {number} nowMs @returns {Float64Array} perhaps with fewer rows than the table has now */
  minuteAgo(nowMs) {
    const passed = this.#spanAt(nowMs) - this.#span
    if (passed === 0) return this.#older
    return passed === 1 ? this.#newer : this.#rows.copy()
  }
}

exports.RollingRows = RollingRows
