'use strict'
// Of each bucket of the durations the last request that was traced, by the row numbers of the table of counts. Filled only by
// requests that have a trace, and at most one a bucket (some 200 bytes). A row is never changed but put in place of the last, so
// that a copy is of the rows alone: all in one array, of 10 000 series it took a megabyte of the old generation at each scrape.

class Exemplars {
  #rows = []

  put(row, bucket, { traceId, spanId, atMs }, seconds) {
    while (this.#rows.length <= row) this.#rows.push(undefined)
    const slots = this.#rows[row]?.slice() ?? []
    while (slots.length < bucket) slots.push(undefined)
    slots[bucket] = { traceId, spanId, atMs, seconds }
    this.#rows[row] = slots
  }

  /** Of two workers, the later. */
  putLater(row, bucket, trace, seconds) {
    const before = exemplarAt(this.#rows, row, bucket)
    if (before === undefined || before.atMs <= trace.atMs) this.put(row, bucket, trace, seconds)
  }

  /** Those of this moment; read with `exemplarAt`. */
  copy() {
    return this.#rows.slice()
  }
}

/** @returns {{ traceId: string, spanId: string, atMs: number, seconds: number } | undefined} */
const exemplarAt = (copied, row, bucket) => copied[row]?.[bucket]

/** Those of a row with their buckets. */
function* exemplarsOf(copied, row) {
  for (const [bucket, found] of (copied[row] ?? []).entries())
    if (found !== undefined) yield { bucket, ...found }
}

module.exports = { Exemplars, exemplarAt, exemplarsOf }
