'use strict'
// Latencies of a run: the counts at its end without those at its start, and their quantiles. A value is exact to 1 %, as in the
// histograms of the process.

const US_PER_MS = 1000

/**
 * @import { LatencyCounts } from '../../../../index.js'
 * @typedef {[us: number, count: number]} Cell
 *
 * @typedef {object} Latencies milliseconds
 * @property {number} count
 * @property {number} meanMs
 * @property {number} p50Ms
 * @property {number} p90Ms
 * @property {number} p95Ms
 * @property {number} p99Ms
 * @property {number} p999Ms
 * @property {number} maxMs
 */

const RATIOS = { p50Ms: 0.5, p90Ms: 0.9, p95Ms: 0.95, p99Ms: 0.99, p999Ms: 0.999 }

/**
 * @param {LatencyCounts} after
 * @param {LatencyCounts} [before] of the same process
 * @returns {Latencies | null} null if nothing was counted in between
 */
function latenciesBetween(after, before = { maxUs: 0, cells: [] }) {
  const cells = difference(pairsOf(after.cells), new Map(pairsOf(before.cells)))
  const count = cells.reduce((sum, [, times]) => sum + times, 0)
  if (count === 0) return null
  const [highest] = cells[cells.length - 1]
  // A new highest value was measured in between, to the microsecond.
  const maxUs = after.maxUs > before.maxUs ? after.maxUs : highest
  const sum = cells.reduce((total, [us, times]) => total + us * times, 0)
  const quantiles = Object.fromEntries(
    Object.entries(RATIOS).map(([name, ratio]) => [
      name,
      Math.min(valueAt(cells, Math.max(1, Math.ceil(ratio * count))), maxUs) / US_PER_MS,
    ])
  )
  return /** @type {Latencies} */ ({
    count,
    meanMs: Math.min(sum / count, maxUs) / US_PER_MS,
    ...quantiles,
    maxMs: maxUs / US_PER_MS,
  })
}

/** @param {readonly number[]} cells */
function pairsOf(cells) {
  /** @type {Cell[]} */
  const pairs = []
  for (let i = 0; i + 1 < cells.length; i += 2) pairs.push([cells[i], cells[i + 1]])
  return pairs
}

/** @param {Cell[]} after @param {Map<number, number>} before */
const difference = (after, before) =>
  after
    .map(([us, count]) => /** @type {Cell} */ ([us, count - (before.get(us) ?? 0)]))
    .filter(([, count]) => count > 0)

/** @param {Cell[]} cells @param {number} rank */
function valueAt(cells, rank) {
  let seen = 0
  for (const [us, count] of cells) if ((seen += count) >= rank) return us
  return 0
}

module.exports = { latenciesBetween }
