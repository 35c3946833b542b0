'use strict'
// Formats figures for columns. The header has the unit. All figures of a column have the same decimals, so
// that the decimal points line up.

const { NONE, isKnown } = require('../core/readable')

/** Milliseconds. @param {number | null | undefined} value */
function ms(value) {
  if (!isKnown(value)) return NONE
  if (value === 0 || value >= 99.95) return String(Math.round(value))
  return value.toFixed(value < 0.095 ? 2 : 1)
}

/** A number per second. @param {number | null | undefined} value */
function rate(value) {
  if (!isKnown(value)) return NONE
  return value === 0 || value >= 99.95 ? String(Math.round(value)) : value.toFixed(1)
}

/** @param {number | null | undefined} value */
const count = (value) => (isKnown(value) ? String(value) : NONE)

module.exports = { count, ms, rate }
