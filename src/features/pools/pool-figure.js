'use strict'
// Makes a number of what a pool says of itself. Pools keep an option as it was given, such as a string from the environment,
// and figures that the user gives may be anything.

/** @param {unknown} figure @returns {number} 0 if it is not a finite number: a bound of Infinity is none */
function numberOf(figure) {
  const number = Number(figure)
  return Number.isFinite(number) ? number : 0
}

/** The rows of a pool's histogram table. */
const WAIT_ROW = 0
const USE_ROW = 1

module.exports = { USE_ROW, WAIT_ROW, numberOf }
