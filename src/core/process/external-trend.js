'use strict'
// Decides whether memory outside the heap leaks: the memory of Buffers and ArrayBuffers. V8 collects for it
// too.
//
// - At the end of a major collection V8 still counts buffers that are dead. It frees them in a thread, and
//   counts them no longer once the next collection begins, or a buffer is allocated. So memory outside the
//   heap is read after the first minor collection that follows a major one.
// - Buffers alone may cause major collections, which empty the young generation too. Then no minor collection
//   comes in between, and the reading of a second after the major collection counts.
// - Requests in flight, such as uploads, hold megabytes for a moment. So a rise of less than `MIN_BYTES`
//   never counts, over whatever time.

const { HeapTrend } = require('./heap-trend')

const MIN_BYTES = 6e6
/** By then V8 has freed the buffers that a major collection found dead. */
const SETTLE_MS = 1000

class ExternalTrend {
  #clock
  #readBytes
  #trend
  #isAfterMajor = false
  /**
   * The reading of a second after the last major collection.
   *
   * @type {{ atMs: number, bytes: number } | undefined}
   */
  #settled
  /** @type {ReturnType<import('../clock').Clock['after']> | undefined} */
  #timer

  /** @param {import('../clock').Clock} clock @param {() => number} readBytes reads the memory outside the heap */
  constructor(clock, readBytes) {
    this.#clock = clock
    this.#readBytes = readBytes
    this.#trend = new HeapTrend(clock.now(), { leastBytes: MIN_BYTES })
  }

  onMajor() {
    if (this.#isAfterMajor && this.#settled !== undefined)
      this.#trend.onMajor(this.#settled.atMs, this.#settled.bytes)
    this.#isAfterMajor = true
    this.#settled = undefined
    this.#timer ??= this.#clock.after(SETTLE_MS, () => this.#settle())
  }

  #settle() {
    this.#timer = undefined
    if (this.#isAfterMajor) this.#settled = { atMs: this.#clock.now(), bytes: this.#readBytes() }
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

  close() {
    if (this.#timer !== undefined) this.#clock.cancel(this.#timer)
  }
}

exports.ExternalTrend = ExternalTrend
