'use strict'
// Remembers when garbage was collected, so that the time between two moments can be split into work and
// collections. A ring holds the last pauses, each with the total of all pauses before it.

/**
 * Older pauses are only in the total. If a request spans more pauses than this, only the last of them count
 * for it.
 */
const KEPT = 128

class CollectionTimes {
  /** When the last pause ended. A request that was received later overlaps no pause. */
  lastEndMs = 0
  #totalMs = 0
  #count = 0
  #starts = new Float64Array(KEPT)
  #ends = new Float64Array(KEPT)
  #totals = new Float64Array(KEPT)

  /**
   * Pauses come in the order of their ends. V8 also reports a pause inside another pause. The time of the
   * inner pause counts once.
   * @param {number} startMs @param {number} durationMs
   */
  record(startMs, durationMs) {
    const endMs = startMs + durationMs
    const fromMs = Math.max(startMs, this.lastEndMs)
    if (endMs <= fromMs) return
    const at = this.#count++ % KEPT
    this.#starts[at] = fromMs
    this.#ends[at] = endMs
    this.#totals[at] = this.#totalMs
    this.#totalMs += endMs - fromMs
    this.lastEndMs = endMs
  }

  /** @param {number} ms @returns {number} the time of all pauses before that moment */
  #until(ms) {
    let totalMs = this.#totalMs
    const oldest = Math.max(0, this.#count - KEPT)
    for (let i = this.#count - 1; i >= oldest; i--) {
      const at = i % KEPT
      if (this.#ends[at] <= ms) return totalMs
      totalMs = this.#totals[at] + Math.max(0, ms - this.#starts[at])
    }
    return totalMs
  }

  /** @param {number} fromMs @param {number} toMs */
  between(fromMs, toMs) {
    if (fromMs >= this.lastEndMs || toMs <= fromMs) return 0
    return this.#until(toMs) - this.#until(fromMs)
  }
}

exports.CollectionTimes = CollectionTimes
