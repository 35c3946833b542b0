'use strict'
// The curves of a run. Its points are merged into steps, at most as many as a small chart can show. The table
// below each curve is computed from all points.

const { CHARTS } = require('../page/chart-list')

const MAX_POINTS = 240
const SECOND_MS = 1000

/**
 * @import { LivePoint } from '../../../../index.js'
 * @import { Series } from '../page/chart-list'
 *
 * @typedef {number | null | undefined} Value
 * @typedef {{ least: number, median: number, most: number, mostAt: number }} CurveFigures
 * @typedef {object} Curves
 * @property {number} stepSeconds how much time a point stands for
 * @property {readonly string[]} columns
 * @property {(number | null)[][]} rows
 * @property {Record<string, (CurveFigures | null)[]>} figures by chart, for each of its series
 */

/** @param {readonly Value[]} values */
const known = (values) => values.filter((value) => value !== null && value !== undefined)
/** @param {readonly Value[]} values */
const sum = (values) =>
  known(values).length === 0 ? null : known(values).reduce((total, each) => total + each, 0)
/** @param {readonly Value[]} values */
const mean = (values) => (known(values).length === 0 ? null : Number(sum(values)) / known(values).length)
/** @param {readonly Value[]} values */
const highest = (values) => (known(values).length === 0 ? null : Math.max(...known(values)))
/** @param {readonly Value[]} values */
const lowest = (values) => (known(values).length === 0 ? null : Math.min(...known(values)))
/** @template Item @param {readonly Item[]} values */
const last = (values) => values[values.length - 1]

/**
 * How each field of the points of a step is merged.
 *
 * @type {Record<keyof LivePoint, (values: readonly Value[]) => Value>}
 */
const MERGES = {
  at: last,
  requests: mean,
  errors: mean,
  shed: mean,
  p50: mean,
  p99: highest,
  inFlight: mean,
  limit: lowest,
  queued: mean,
  loopDelayP99: highest,
  utilization: mean,
  stallMs: sum,
  heapAfterGc: highest,
  heapUsed: highest,
  rss: highest,
}
const COLUMNS = /** @type {(keyof LivePoint)[]} */ (Object.keys(MERGES))

/** @param {readonly LivePoint[]} points @returns {Curves} */
function makeCurves(points) {
  const stepSeconds = stepFor(points)
  const rows = stepsOf(points, stepSeconds * SECOND_MS).map((step) =>
    COLUMNS.map((name) => rounded(MERGES[name](step.map((point) => point[name]))))
  )
  return {
    stepSeconds,
    columns: COLUMNS,
    rows,
    figures: Object.fromEntries(
      CHARTS.map(({ title, series }) => [title, series.map(({ read }) => figuresOf(points, read))])
    ),
  }
}

/** @param {Curves} curves @returns {LivePoint[]} */
const pointsOf = ({ columns, rows }) =>
  rows.map(
    (row) =>
      /** @type {LivePoint} */ (
        /** @type {unknown} */ (Object.fromEntries(columns.map((name, i) => [name, row[i]])))
      )
  )

/** @param {readonly LivePoint[]} points */
function stepFor(points) {
  if (points.length === 0) return 1
  const seconds = (last(points).at - points[0].at) / SECOND_MS
  return Math.max(1, Math.ceil(seconds / MAX_POINTS))
}

/**
 * Groups the points into steps of equal length.
 *
 * @param {readonly LivePoint[]} points
 * @param {number} stepMs
 */
function stepsOf(points, stepMs) {
  if (stepMs === SECOND_MS) return points.map((point) => [point])
  /** @type {Map<number, LivePoint[]>} */
  const steps = new Map()
  for (const point of points) {
    const number = Math.floor((point.at - points[0].at) / stepMs)
    const step = steps.get(number)
    if (step === undefined) steps.set(number, [point])
    else step.push(point)
  }
  return [...steps.values()]
}

/**
 * @param {readonly LivePoint[]} points
 * @param {Series['read']} read
 * @returns {CurveFigures | null} null without a value
 */
function figuresOf(points, read) {
  const values = points
    .map((point) => ({ at: point.at, value: /** @type {number} */ (read(point)) }))
    .filter(({ value }) => value !== null && Number.isFinite(value))
    .sort((a, b) => a.value - b.value || b.at - a.at)
  if (values.length === 0) return null
  const { value: most, at: mostAt } = last(values)
  return /** @type {CurveFigures} */ ({
    least: rounded(values[0].value),
    median: rounded(values[Math.floor((values.length - 1) / 2)].value),
    most: rounded(most),
    mostAt,
  })
}

/** Rounds to four digits, because no curve shows more. @param {Value} value */
function rounded(value) {
  if (value === null || value === undefined) return null
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4))
}

module.exports = { makeCurves, pointsOf }
