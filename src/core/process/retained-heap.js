'use strict'
// Estimates the retained heap between two major collections. A minor collection shows what has been promoted, and the next major
// collection shows which share of that was retained. Where half or more was retained, the readings in between are scaled to that
// share. A process that promotes little garbage collects a leak of 100 MB an hour only every five minutes (Node 24): its major
// collections alone would be too few. A saw-tooth retains less than half of what it promotes over more than one of its periods.

const MAX_READINGS = 64
const LEAST_SHARE = 0.5
/** Less than this is noise: what is in flight when a collection ends. */
const LEAST_RISE_BYTES = 1e6

/** @typedef {{ atMs: number, bytes: number }} Reading */

class RetainedHeap {
  /** @type {Reading | undefined} */
  #floor
  /** @type {Reading[]} */
  #readings = []
  #spacingMs = 0

  /** @param {number} atMs @param {number} bytes in use after a minor collection */
  onMinor(atMs, bytes) {
    if (this.#floor === undefined) return
    const last = this.#readings.at(-1)
    if (last !== undefined && atMs - last.atMs < this.#spacingMs) {
      if (bytes < last.bytes) last.bytes = bytes
      return
    }
    this.#readings.push({ atMs, bytes })
    if (this.#readings.length > MAX_READINGS) this.#thin()
  }

  /**
   * @param {number} atMs
   * @param {number} bytes in use after a major collection
   * @returns {Reading[]} the estimates since the previous major collection, none where most of what was promoted was garbage
   */
  onMajor(atMs, bytes) {
    const floor = this.#floor
    const readings = this.#readings
    this.#floor = { atMs, bytes }
    this.#readings = []
    this.#spacingMs = 0
    if (floor === undefined) return []
    const promoted = Math.max(...readings.map((each) => each.bytes), bytes) - floor.bytes
    const retained = bytes - floor.bytes
    if (retained < LEAST_RISE_BYTES || retained < LEAST_SHARE * promoted) return []
    const share = retained / promoted
    return readings.map((each) => ({
      atMs: each.atMs,
      bytes: Math.min(bytes, floor.bytes + share * Math.max(0, each.bytes - floor.bytes)),
    }))
  }

  #thin() {
    const { atMs } = this.#readings[0]
    this.#readings = this.#readings.filter((_, i) => i % 2 === 0)
    this.#spacingMs = ((this.#readings.at(-1)?.atMs ?? atMs) - atMs) / this.#readings.length
  }
}

exports.RetainedHeap = RetainedHeap
