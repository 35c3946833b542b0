'use strict'
// Warns, once, that the heap fills so fast that Node.js will soon end the process. A log line can still be
// written then. The check runs only when a major collection has ended, so it costs nothing in between
// (docs/decisions/0061). It warns if all of these are true:
//
// - At least half of the heap is in use after a collection, and at its present pace the heap is full within
//   half a minute.
// - Each of at least four collections, over at least five seconds, left no less in use than the previous one.
//   The loading of a table has ended by then.
// - The pace is the smaller of two: since the middle of the kept collections, and since the last but one. So
//   a cache whose filling slows down causes no warning.

const HALF = 0.5
const SOON_MS = 30_000
const FEWEST = 4
const MIN_SPAN_MS = 5000
/** Near its limit V8 collects many times a second. */
const SPACING_MS = 1000
const KEPT = 8

/** @typedef {{ atMs: number, bytes: number }} Reading */
/**
 * @typedef {{ usedBytes: number, limitBytes: number, bytesPerSecond: number, secondsToLimit: number }}
 *   Filling
 */

class HeapFilling {
  #limitBytes
  #onFilling
  /** After the last collections, oldest first. @type {Reading[]} */
  #readings = []
  #isTold = false

  /** @param {{ limitBytes: () => number, onFilling: (filling: Filling) => void }} deps */
  constructor({ limitBytes, onFilling }) {
    this.#limitBytes = limitBytes
    this.#onFilling = onFilling
  }

  /** @param {number} atMs @param {number} bytes in use after a major collection */
  onMajor(atMs, bytes) {
    const readings = this.#readings
    const last = readings.at(-1)
    if (last !== undefined && bytes < last.bytes) readings.length = 0
    else if (last !== undefined && atMs - last.atMs < SPACING_MS) return
    readings.push({ atMs, bytes })
    if (readings.length > KEPT) readings.shift()
    this.#judge()
  }

  #judge() {
    const limitBytes = this.#limitBytes()
    const [first] = this.#readings
    const last = /** @type {typeof first} */ (this.#readings.at(-1))
    const isHalf = last.bytes >= HALF * limitBytes
    if (!isHalf) this.#isTold = false
    if (!isHalf || this.#isTold || this.#readings.length < FEWEST) return
    const { length } = this.#readings
    const paces = [(length - 1) >> 1, length - 2].map((at) => paceBetween(this.#readings[at], last))
    const bytesPerMs = Math.min(...paces)
    const leftMs = Math.max(0, limitBytes - last.bytes) / bytesPerMs
    if (last.atMs - first.atMs < MIN_SPAN_MS || !(leftMs <= SOON_MS)) return
    this.#isTold = true
    this.#onFilling({
      usedBytes: last.bytes,
      limitBytes,
      bytesPerSecond: Math.round(bytesPerMs * 1000),
      secondsToLimit: Math.round(leftMs / 1000),
    })
  }
}

/** @param {Reading} earlier @param {Reading} later */
const paceBetween = (earlier, later) => (later.bytes - earlier.bytes) / (later.atMs - earlier.atMs)

exports.HeapFilling = HeapFilling
