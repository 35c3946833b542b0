'use strict'
// Computes a heat map: its rows, its time span, the steps of its colours, and the same figures by minute for
// a table. Nothing here draws.

const { SPANS } = require('./past')

const COLUMN_MS = 10_000
const MINUTE_MS = 60_000
const ROWS_PER_DECADE = 5
/** If a picture had fewer rows than this, random variation would look important. */
const MIN_ROWS = 2 * ROWS_PER_DECADE
/** The rows without any requests: from 1 ms to 1 s. */
const UNUSED_ROWS = /** @type {[first: number, end: number]} */ ([6, 21])
const LAST_MS = 60_000
/**
 * Each row lists the smallest number of requests for each colour. The first row whose scale is large enough
 * for the highest count is used.
 */
const STEPS = [
  [1, 2, 5, 10, 20, 50],
  [1, 3, 10, 30, 100, 300],
  [1, 10, 100, 1000, 10_000, 100_000],
]
const COLORS = 6

/**
 * @typedef {{ from: number, to: number, cells: [row: number, requests: number][] }} Column
 * @typedef {{ isKept: boolean, rowStartsMs: number[], columns: Column[] }} Heat
 * @typedef {{ least: number, color: number }} Step
 * @typedef {{ at: number, requests: Map<number, number> }} Minute
 */

/** @param {Heat} heat @returns {number} */
const requestsOf = ({ columns }) =>
  columns.reduce((sum, { cells }) => cells.reduce((of, [, requests]) => of + requests, sum), 0)

/**
 * Where a row starts and ends.
 *
 * @param {Heat} heat
 * @param {number} row
 * @returns {[fromMs: number, toMs: number]}
 */
const rangeOf = ({ rowStartsMs }, row) => [rowStartsMs[row], rowStartsMs[row + 1] ?? LAST_MS]

/**
 * The rows to show: whole powers of ten around the rows in use, so that the scale seldom changes.
 *
 * @param {Heat} heat
 * @returns {[first: number, end: number]}
 */
function rowsOf({ columns, rowStartsMs }) {
  const used = columns.flatMap(({ cells }) => cells.map(([row]) => row))
  if (used.length === 0) return UNUSED_ROWS
  const lowest = Math.min(...used)
  const first = decadeBelow(lowest)
  const end = Math.max(decadeAbove(Math.max(...used) + 1), decadeAbove(first + MIN_ROWS))
  if (end <= rowStartsMs.length) return [first, end]
  return [Math.min(first, decadeBelow(rowStartsMs.length - MIN_ROWS)), rowStartsMs.length]
}

/** Row 0 is below the first power of ten. Row 1 starts at that power. @param {number} row */
const decadeBelow = (row) => (row === 0 ? 0 : row - ((row - 1) % ROWS_PER_DECADE))
/** @param {number} row */
const decadeAbove = (row) => 1 + Math.ceil((row - 1) / ROWS_PER_DECADE) * ROWS_PER_DECADE

/**
 * The time to show: the least span that shows everything.
 *
 * @param {Heat} heat
 * @returns {[fromMs: number, toMs: number]}
 */
function timesOf({ columns }) {
  const end = columns[columns.length - 1].to
  const passedS = (end - columns[0].from) / 1000
  const span = SPANS.find((each) => passedS <= each) ?? SPANS[SPANS.length - 1]
  return [end - span * 1000, end]
}

/**
 * A column that is longer, because the process was idle, shows its average over ten seconds.
 *
 * @param {Column} column
 * @param {number} requests
 */
function perColumn({ from, to }, requests) {
  const columns = (to - from) / COLUMN_MS
  return columns < 1.5 ? requests : Math.max(1, Math.round(requests / columns))
}

/** @param {Heat} heat @returns {Step[]} the fewest requests of each colour from 1 to 6 */
function stepsOf({ columns }) {
  const most = columns.reduce(
    (max, column) =>
      column.cells.reduce((of, [, requests]) => Math.max(of, perColumn(column, requests)), max),
    1
  )
  const steps = STEPS.find((each) => most <= 2 * each[each.length - 1]) ?? STEPS[STEPS.length - 1]
  const used = steps.filter((least) => least <= most)
  // If fewer steps are used, their colours are as different as possible.
  const distance = used.length === 1 ? 0 : (COLORS - 1) / (used.length - 1)
  return used.map((least, i) => ({
    least,
    color: used.length === 1 ? COLORS / 2 : 1 + Math.round(i * distance),
  }))
}

/** @param {Step[]} steps @param {number} requests at least 1 */
const colorOf = (steps, requests) => (steps.findLast(({ least }) => least <= requests) ?? steps[0]).color

/** Sums the columns by minute, the latest minute first. @param {Heat} heat @returns {Minute[]} */
function minutesOf({ columns }) {
  /** @type {Map<number, Minute>} */
  const minutes = new Map()
  for (const { from, cells } of columns) {
    const at = Math.floor((from + COLUMN_MS / 2) / MINUTE_MS) * MINUTE_MS
    if (!minutes.has(at)) minutes.set(at, { at, requests: new Map() })
    const { requests } = /** @type {Minute} */ (minutes.get(at))
    for (const [row, more] of cells) requests.set(row, (requests.get(row) ?? 0) + more)
  }
  return [...minutes.values()].reverse()
}

module.exports = { colorOf, minutesOf, perColumn, rangeOf, requestsOf, rowsOf, stepsOf, timesOf }
