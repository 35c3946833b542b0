'use strict'
// Quantiles of the values that a rolling histogram has recorded since the last reading. Each reading compares
// the counts with a copy from the reading before, so recording a value costs nothing more. A reading takes a
// few microseconds.

const { countsOf } = require('./hdr-histogram')
const { quantilesIn } = require('./quantiles')

/** @import { RollingHistogram } from './rolling' */

class RecentValues {
  #rolling
  /** Counts of the newest half minute at the last reading. @type {Uint32Array} */
  #copy
  #copiedStartMs
  /** Buffer for the counts since the last reading. @type {Uint32Array} */
  #since

  /** @param {RollingHistogram} rolling */
  constructor(rolling) {
    this.#rolling = rolling
    const newest = newestOf(rolling)
    this.#copy = Uint32Array.from(countsOf(newest.histogram))
    this.#copiedStartMs = newest.startMs
    this.#since = new Uint32Array(this.#copy.length)
  }

  /**
   * @param {readonly number[]} ratios ascending, 0..1
   * @returns {number[] | undefined} in recorded units; undefined if nothing was recorded
   */
  take(ratios) {
    const total = this.#read()
    const { histogram, startMs } = newestOf(this.#rolling)
    const found = total === 0 ? undefined : quantilesIn(this.#since, total, ratios, histogram)
    if (total > 0 || startMs !== this.#copiedStartMs) this.#copy.set(countsOf(histogram))
    this.#copiedStartMs = startMs
    return found
  }

  /** Fills `#since`. @returns {number} how many values were recorded since the last reading */
  #read() {
    const since = this.#since.fill(0)
    let total = 0
    for (const { histogram, startMs } of this.#rolling.spans) {
      if (startMs < this.#copiedStartMs || histogram.totalCount === 0) continue
      const counts = countsOf(histogram)
      const copy = startMs === this.#copiedStartMs ? this.#copy : undefined
      const last = histogram.countsArrayIndex(histogram.maxValue)
      for (let cell = 0; cell <= last; cell++) {
        const count = copy === undefined ? counts[cell] : counts[cell] - copy[cell]
        since[cell] += count
        total += count
      }
    }
    return total
  }
}

/** @param {RollingHistogram} rolling */
const newestOf = ({ spans }) => spans[spans.length - 1]

exports.RecentValues = RecentValues
