'use strict'
// Decides whether memory outside the heap leaks: the memory of Buffers and ArrayBuffers. V8 collects for it
// too.
//
// - At the end of a major collection V8 still counts buffers that are dead. It frees them in a thread, and
//   counts them no longer once the next collection begins. So memory outside the heap is read after the first
//   minor collection that follows a major one.
// - Requests in flight, such as uploads, hold megabytes for a moment. So a rise of less than `LEAST_BYTES`
//   never counts, over whatever time.

const { HeapTrend } = require('./heap-trend')

const LEAST_BYTES = 6e6

class ExternalTrend {
  #trend
  #isAfterMajor = false

  /** @param {number} nowMs */
  constructor(nowMs) {
    this.#trend = new HeapTrend(nowMs, { leastBytes: LEAST_BYTES })
  }

  onMajor() {
    this.#isAfterMajor = true
  }

  /** @param {number} nowMs @param {number} bytes outside the heap after a minor collection */
  onMinor(nowMs, bytes) {
    if (!this.#isAfterMajor) return this.#trend.onMinor(nowMs, bytes)
    this.#isAfterMajor = false
    this.#trend.onMajor(nowMs, bytes)
  }

  /**
   * The limit is what the limit of the process leaves for memory outside the heap.
   *
   * @param {number} nowMs
   * @param {{ limitBytes: number, rssBytes: number, externalBytes: number }} memory
   */
  sample(nowMs, { limitBytes, rssBytes, externalBytes }) {
    return this.#trend.sample(nowMs, limitBytes - Math.max(0, rssBytes - externalBytes))
  }
}

exports.ExternalTrend = ExternalTrend
