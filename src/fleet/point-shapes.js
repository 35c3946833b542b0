'use strict'
// What a point of each type is in numbers, and how the numbers of two workers are put together. By type and by what the
// family says of itself (`across`), never by name: a family that is new needs nothing here.

const { NATIVE_WIDTH } = require('../histograms/native')

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
 * A sum in fractions of a second depends in its last digit on the order it was added in, and one that falls by a digit is
 * to Prometheus a counter that began anew: a rate of thousands. So what is added up is brought to a grid of 2^-20 first,
 * a microsecond, on which sums are exact up to 2^33 in any order. Up, so that no sum is below what one process showed.
 */
function onGrid(numbers) {
  for (let i = 0; i < numbers.length; i++) {
    if (!Number.isInteger(numbers[i])) numbers[i] = Math.ceil(numbers[i] * GRID) / GRID
  }
  return numbers
}

/** @param {readonly number[]} bounds as a report has them */
const widthOf = (bounds) => bounds.length + 2

/** What is not ours is reported value by value, a histogram too. Of one of ours the bounds say how wide it is. */
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

/** What is counted is added up; a gauge is the worker's own unless its family knows better. */
const acrossOf = (family) => family.across ?? (isCumulative(family) ? 'sum' : 'worker')

/** What a worker that is gone has counted stays; what it measured of itself went with it. */
const outlives = (family) => isCumulative(family) && acrossOf(family) === 'sum'

module.exports = { JOIN, acrossOf, onGrid, outlives, shapeOf }
