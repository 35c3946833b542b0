'use strict'
// Counts, errors and time of calls, since the start and over the last minute. A ring of seven spans of ten
// seconds needs no timer, and costs nothing while it is idle.

const SPAN_MS = 10_000
const SPANS = 7
const [COUNT, ERRORS, TOTAL_MS, MAX_MS] = [0, 1, 2, 3]
const COLUMNS = 4

/** @typedef {{ count: number, errors: number, totalMs: number, maxMs: number }} Sums */

class MinuteSums {
  #numbers = new Float64Array(SPANS).fill(-1)
  #spans = new Float64Array(SPANS * COLUMNS)
  #total = new Float64Array(COLUMNS)

  /** @param {number} durationMs @param {boolean} isError @param {number} nowMs */
  record(durationMs, isError, nowMs) {
    const number = Math.floor(nowMs / SPAN_MS)
    const at = number % SPANS
    if (this.#numbers[at] !== number) {
      this.#numbers[at] = number
      this.#spans.fill(0, at * COLUMNS, (at + 1) * COLUMNS)
    }
    add(this.#spans, at * COLUMNS, durationMs, isError)
    add(this.#total, 0, durationMs, isError)
  }

  /**
   * Records several successes at once.
   *
   * @param {number} count
   * @param {number} totalMs
   * @param {number} maxMs
   * @param {number} nowMs
   */
  recordAll(count, totalMs, maxMs, nowMs) {
    this.record(maxMs, false, nowMs)
    const start = (Math.floor(nowMs / SPAN_MS) % SPANS) * COLUMNS
    for (const [values, at] of /** @type {const} */ ([
      [this.#spans, start],
      [this.#total, 0],
    ])) {
      values[at + COUNT] += count - 1
      values[at + TOTAL_MS] += totalMs - maxMs
    }
  }

  /** @returns {Sums} */
  sinceStart() {
    return read(this.#total, 0)
  }

  /** @param {number} nowMs @returns {Sums} over the last 60 to 70 seconds */
  lastMinute(nowMs) {
    const newest = Math.floor(nowMs / SPAN_MS)
    const sums = { count: 0, errors: 0, totalMs: 0, maxMs: 0 }
    for (let at = 0; at < SPANS; at++) {
      if (this.#numbers[at] < 0 || this.#numbers[at] <= newest - SPANS) continue
      const { count, errors, totalMs, maxMs } = read(this.#spans, at * COLUMNS)
      sums.count += count
      sums.errors += errors
      sums.totalMs += totalMs
      sums.maxMs = Math.max(sums.maxMs, maxMs)
    }
    return sums
  }
}

/** @param {Float64Array} values @param {number} start @param {number} durationMs @param {boolean} isError */
function add(values, start, durationMs, isError) {
  values[start + COUNT]++
  if (isError) values[start + ERRORS]++
  values[start + TOTAL_MS] += durationMs
  if (durationMs > values[start + MAX_MS]) values[start + MAX_MS] = durationMs
}

/** @param {Float64Array} values @param {number} start @returns {Sums} */
const read = (values, start) => ({
  count: values[start + COUNT],
  errors: values[start + ERRORS],
  totalMs: values[start + TOTAL_MS],
  maxMs: values[start + MAX_MS],
})

exports.MinuteSums = MinuteSums
