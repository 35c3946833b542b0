'use strict'
// Converts a point of each type to numbers and back, and joins the numbers of two workers. Only the type and
// the `across` of a family decide, never its name, so a new family needs no change here.

const { NATIVE_WIDTH } = require('../../../core/histogram/native')

/**
 * @import { Exemplars } from '../../../core/request/exemplars'
 * @import { Across, Described } from './report-shapes'
 */

/**
 * @typedef {{ labels: { utf8: string }, exemplars?: ReturnType<Exemplars['copy']> }} Labelled
 * @typedef {Labelled & { value: number }} ValuePoint
 * @typedef {Labelled & { values: Float64Array, row: number }} RowPoint
 * @typedef {Labelled & { count: number, sum: number }} SummaryPoint
 * @typedef {ValuePoint | RowPoint | SummaryPoint} Point
 */
/**
 * @typedef {object} Shape of the points of a family
 * @property {number} width how many numbers a point has
 * @property {{ call(point: Point, numbers: Float64Array, at: number): void }['call']} read
 * @property {(labels: Labelled['labels'], numbers: Float64Array, row: number) => Point} point
 */

const GRID = 2 ** 20

/** @type {Shape} */
const VALUE = {
  width: 1,
  read: (/** @type {ValuePoint} */ { value }, numbers, at) => {
    numbers[at] = value
  },
  point: (labels, numbers, row) => ({ labels, value: numbers[row] }),
}

/** @param {number} width @returns {Shape} */
const rowsOf = (width) => ({
  width,
  read: (/** @type {RowPoint} */ { values, row }, numbers, at) =>
    numbers.set(values.subarray(row * width, (row + 1) * width), at),
  point: (labels, values, row) => ({ labels, values, row }),
})

/** @type {Readonly<Record<string, Shape | undefined>>} */
const SHAPES = {
  'native histogram': rowsOf(NATIVE_WIDTH),
  summary: {
    width: 2,
    read: (/** @type {SummaryPoint} */ { count, sum }, numbers, at) => {
      numbers[at] = count
      numbers[at + 1] = sum
    },
    point: (labels, numbers, row) => ({ labels, count: numbers[2 * row], sum: numbers[2 * row + 1] }),
  },
}

/**
 * Rounds numbers up to a multiple of 2^-20 (a microsecond), on which sums are exact up to 2^33 in any order.
 * The last digit of other sums depends on the order of addition. Prometheus reads a fall by one digit as a
 * restart of the counter. Rounding is upwards, so that no sum is below the value that one process showed
 * alone.
 *
 * @param {Float64Array} numbers
 */
function onGrid(numbers) {
  for (let i = 0; i < numbers.length; i++) {
    if (!Number.isInteger(numbers[i])) numbers[i] = Math.ceil(numbers[i] * GRID) / GRID
  }
  return numbers
}

/** @param {Described['bounds']} bounds as a report has them */
const widthOf = (bounds) => /** @type {readonly number[]} */ (bounds).length + 2

/**
 * Metrics of a registry are reported value by value, histograms too. For a histogram of our own, the bounds
 * give the width.
 *
 * @param {Pick<Described, 'isForeign' | 'type' | 'bounds'>} family
 */
function shapeOf({ isForeign, type, bounds }) {
  if (isForeign) return VALUE
  return type === 'histogram' ? rowsOf(widthOf(bounds)) : (SHAPES[type] ?? VALUE)
}

/** @type {Readonly<Partial<Record<Across, (a: number, b: number) => number>>>} */
const JOIN = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
  first: (a) => a,
}

const CUMULATIVE = ['counter', 'histogram', 'native histogram', 'summary']
/** @param {{ type: string }} family */
const isCumulative = ({ type }) => CUMULATIVE.includes(type)

/**
 * Counts are added up. A gauge is shown per worker, unless its family says otherwise.
 *
 * @param {{ type: string, across?: Across }} family
 * @returns {Across}
 */
const acrossOf = (family) => family.across ?? (isCumulative(family) ? 'sum' : 'worker')

/**
 * Whether the family of a departed worker is still shown. Its counts are, its gauges are not.
 *
 * @param {{ type: string, across?: Across }} family
 */
const outlives = (family) => isCumulative(family) && acrossOf(family) === 'sum'

module.exports = { JOIN, acrossOf, isCumulative, onGrid, outlives, shapeOf }
