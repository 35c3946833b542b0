'use strict'
// Converts a point of each type to numbers and back, and joins the numbers of two workers. Only the type and the `across` of
// a family decide, never its name, so a new family needs no change here.

const { NATIVE_WIDTH } = require('../../core/histogram/native')

const GRID = 2 ** 20

const VALUE = {
  width: 1,
  read: ({ value }, numbers, at) => {
    numbers[at] = value
  },
  point: (labels, numbers, row) => ({ labels, value: numbers[row] }),
}

const rowsOf = (width) => ({
  width,
  read: ({ values, row }, numbers, at) => numbers.set(values.subarray(row * width, (row + 1) * width), at),
  point: (labels, values, row) => ({ labels, values, row }),
})

const SHAPES = {
  'native histogram': rowsOf(NATIVE_WIDTH),
  summary: {
    width: 2,
    read: ({ count, sum }, numbers, at) => {
      numbers[at] = count
      numbers[at + 1] = sum
    },
    point: (labels, numbers, row) => ({ labels, count: numbers[2 * row], sum: numbers[2 * row + 1] }),
  },
}

/**
 * Rounds numbers up to a multiple of 2^-20 (a microsecond), on which sums are exact up to 2^33 in any order. The last digit of
 * other sums depends on the order of addition, and Prometheus reads a fall by one digit as a restart of the counter. Up, so
 * that no sum is below the value that one process showed alone.
 */
function onGrid(numbers) {
  for (let i = 0; i < numbers.length; i++) {
    if (!Number.isInteger(numbers[i])) numbers[i] = Math.ceil(numbers[i] * GRID) / GRID
  }
  return numbers
}

/** @param {readonly number[]} bounds as a report has them */
const widthOf = (bounds) => bounds.length + 2

/** Metrics of a registry are reported value by value, histograms too. The bounds of an own histogram give its width. */
function shapeOf({ isForeign, type, bounds }) {
  if (isForeign) return VALUE
  return type === 'histogram' ? rowsOf(widthOf(bounds)) : (SHAPES[type] ?? VALUE)
}

const JOIN = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
  first: (a) => a,
}

const CUMULATIVE = ['counter', 'histogram', 'native histogram', 'summary']
const isCumulative = ({ type }) => CUMULATIVE.includes(type)

/** Counts are added up. A gauge is shown per worker, unless its family says otherwise. */
const acrossOf = (family) => family.across ?? (isCumulative(family) ? 'sum' : 'worker')

/** Whether the family of a departed worker is still shown: its counts stay, its gauges go. */
const outlives = (family) => isCumulative(family) && acrossOf(family) === 'sum'

module.exports = { JOIN, acrossOf, isCumulative, onGrid, outlives, shapeOf }
