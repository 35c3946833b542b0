'use strict'
// A growing table of numbers in one Float64Array, with a row for each series. Because there is one array, a
// scrape copies all series at one instant. Because numbers are doubles, no counter wraps.

const FIRST_ROWS = 16
const SPAN_MS = 30_000

class Rows {
  #width
  #length = 0
  /** Read `values[row * width + column]`; the array is replaced when the table grows. */
  values

  /** @param {number} width */
  constructor(width) {
    this.#width = width
    this.values = new Float64Array(width * FIRST_ROWS)
  }

  add() {
    const row = this.#length++
    if (this.#length * this.#width > this.values.length) {
      const grown = new Float64Array(this.values.length * 2)
      grown.set(this.values)
      this.values = grown
    }
    return row
  }

  /**
   * @param {Float64Array} [spare] an unused older copy, overwritten and returned if it has the right length
   */
  copy(spare) {
    const length = this.#length * this.#width
    if (spare?.length !== length) return this.values.slice(0, length)
    spare.set(this.values.subarray(0, length))
    return spare
  }
}

/**
 * Copies a table of counters at the beginning of each half minute, as in rolling.js. Counting itself costs
 * nothing more.
 */
class RollingRows {
  #rows
  #startMs
  #span = 0
  /**
   * Copies of the table: when the previous half minute began, and when the current one began.
   *
   * @type {Float64Array}
   */
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
exports.Rows = Rows
