'use strict'
// Of each bucket of the durations the last request that was traced: a slot a bucket in one array, beside the table of
// counts and with its row numbers. Filled only by requests that have a trace, and at most one a slot (some 200 bytes).

const { BOUNDS_SECONDS } = require('../histograms/buckets')

/** The bounds, and what is above them. */
const SLOTS = BOUNDS_SECONDS.length + 1

class Exemplars {
  #slots = []

  put(row, bucket, { traceId, spanId, atMs }, seconds) {
    const slot = row * SLOTS + bucket
    while (this.#slots.length <= slot) this.#slots.push(undefined)
    this.#slots[slot] = { traceId, spanId, atMs, seconds }
  }

  /** Of two workers, the later. */
  putLater(row, bucket, trace, seconds) {
    const before = exemplarAt(this.#slots, row, bucket)
    if (before === undefined || before.atMs <= trace.atMs) this.put(row, bucket, trace, seconds)
  }

  /** Those of this moment; read with `exemplarAt`. */
  copy() {
    return this.#slots.slice()
  }
}

/** @returns {{ traceId: string, spanId: string, atMs: number, seconds: number } | undefined} */
const exemplarAt = (copied, row, bucket) => copied[row * SLOTS + bucket]

module.exports = { Exemplars, SLOTS, exemplarAt }
