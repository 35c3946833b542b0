'use strict'
// The quantiles of what a rolling histogram has recorded since they were last taken. It compares the counts with a copy of the
// counts then, so that recording a value costs nothing more. A reading takes a few microseconds.

const { countsOf } = require('./hdr-counts')

/** @typedef {InstanceType<typeof import('./rolling').RollingHistogram>} RollingHistogram */

class RecentValues {
  #rolling
  /** The counts of the newest half minute, as they were. @type {Uint32Array} */
  #copy
  #copiedStartMs

  /** @param {RollingHistogram} rolling */
  constructor(rolling) {
    this.#rolling = rolling
    const newest = newestOf(rolling)
    this.#copy = Uint32Array.from(countsOf(newest.histogram))
    this.#copiedStartMs = newest.startMs
  }

  /**
   * @param {readonly number[]} ratios ascending, 0..1
   * @returns {number[] | undefined} in recorded units; undefined if nothing was recorded
   */
  take(ratios) {
    const since = this.#countsSince()
    const newest = newestOf(this.#rolling)
    this.#copy.set(countsOf(newest.histogram))
    this.#copiedStartMs = newest.startMs
    const total = since.reduce((sum, count) => sum + count, 0)
    return total === 0 ? undefined : quantilesIn(since, total, ratios, newest.histogram)
  }

  #countsSince() {
    const since = new Uint32Array(this.#copy.length)
    for (const { histogram, startMs } of this.#rolling.spans) {
      if (startMs < this.#copiedStartMs) continue
      const counts = countsOf(histogram)
      const copied = startMs === this.#copiedStartMs ? this.#copy : undefined
      for (let cell = 0; cell < since.length; cell++) since[cell] += counts[cell] - (copied?.[cell] ?? 0)
    }
    return since
  }
}

/** @param {RollingHistogram} rolling */
const newestOf = ({ spans }) => spans[spans.length - 1]

function quantilesIn(counts, total, ratios, histogram) {
  const found = []
  let seen = 0
  for (let cell = 0; found.length < ratios.length; cell++) {
    seen += counts[cell]
    while (found.length < ratios.length && seen >= Math.max(1, Math.ceil(ratios[found.length] * total)))
      found.push(histogram.highestEquivalentValue(histogram.valueFromIndex(cell)))
  }
  return found
}

module.exports = { RecentValues }
