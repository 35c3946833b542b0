'use strict'
// Keeps the last traced request of each bucket of the durations, by the row numbers of the table of counts.
// Only traced requests fill the table, with at most one entry (about 200 bytes) per bucket. A row is replaced
// and never changed, so a copy can share the rows. Copying the rows of 10 000 series would take 1 MB per
// scrape.

/**
 * @typedef {{ traceId: string, spanId: string, atMs: number }} Trace
 * @typedef {Trace & { seconds: number }} Exemplar
 * @typedef {readonly (readonly (Exemplar | undefined)[] | undefined)[]} ExemplarRows
 */

class Exemplars {
  /** @type {(readonly (Exemplar | undefined)[] | undefined)[]} */
  #rows = []

  /** @param {number} row @param {number} bucket @param {Trace} trace @param {number} seconds */
  put(row, bucket, { traceId, spanId, atMs }, seconds) {
    while (this.#rows.length <= row) this.#rows.push(undefined)
    const exemplars = this.#rows[row]?.slice() ?? []
    while (exemplars.length < bucket) exemplars.push(undefined)
    exemplars[bucket] = { traceId, spanId, atMs, seconds }
    this.#rows[row] = exemplars
  }

  /**
   * Keeps the later exemplar of two workers.
   *
   * @param {number} row
   * @param {number} bucket
   * @param {Trace} trace
   * @param {number} seconds
   */
  putLater(row, bucket, trace, seconds) {
    const before = exemplarAt(this.#rows, row, bucket)
    if (before === undefined || before.atMs <= trace.atMs) this.put(row, bucket, trace, seconds)
  }

  /** The rows as they are now; read them with `exemplarAt`. */
  copy() {
    return this.#rows.slice()
  }
}

/** @param {ExemplarRows} copied @param {number} row @param {number} bucket @returns {Exemplar | undefined} */
const exemplarAt = (copied, row, bucket) => copied[row]?.[bucket]

/** The exemplars of a row, with their buckets. @param {ExemplarRows} copied @param {number} row */
function* exemplarsOf(copied, row) {
  for (const [bucket, found] of (copied[row] ?? []).entries())
    if (found !== undefined) yield { bucket, ...found }
}

exports.Exemplars = Exemplars
exports.exemplarAt = exemplarAt
exports.exemplarsOf = exemplarsOf
