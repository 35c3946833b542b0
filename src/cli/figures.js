'use strict'
// How the command line writes figures: three digits, with a unit that fits. What is not known is a dash.

const NONE = '-'
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB']
/** @type {[seconds: number, unit: string][]} */
const SPANS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
]

const isKnown = (value) => typeof value === 'number' && Number.isFinite(value)

/** @param {number} value */
function threeDigits(value) {
  const size = Math.abs(value)
  if (size === 0 || size >= 100) return String(Math.round(value))
  if (size >= 10) return String(Number(value.toFixed(1)))
  return String(Number(value.toFixed(size < 0.095 ? 3 : 2)))
}

/** Milliseconds for a column whose header has the unit: one decimal below a hundred. */
function ms(value) {
  if (!isKnown(value)) return NONE
  if (value === 0 || value >= 99.95) return String(Math.round(value))
  return value.toFixed(value < 0.095 ? 2 : 1)
}

/** @param {number | null | undefined} value milliseconds */
function duration(value) {
  if (!isKnown(value)) return NONE
  const milliseconds = /** @type {number} */ (value)
  if (milliseconds < 1000) return `${ms(milliseconds)} ms`
  return milliseconds < 120_000 ? `${threeDigits(milliseconds / 1000)} s` : span(milliseconds / 1000)
}

/** @param {number} seconds such as '3 h 12 min' */
function span(seconds) {
  if (!isKnown(seconds)) return NONE
  const whole = Math.round(seconds)
  const index = SPANS.findIndex(([size]) => whole >= size)
  if (index === -1) return `${whole} s`
  const [size, unit] = SPANS[index]
  const [smaller, smallerUnit] = SPANS[index + 1] ?? [1, 's']
  const rest = Math.floor((whole % size) / smaller)
  return `${Math.floor(whole / size)} ${unit}${rest === 0 ? '' : ` ${rest} ${smallerUnit}`}`
}

/** @param {number | null | undefined} value a size, such as '30.5 MB' */
function bytes(value) {
  if (!isKnown(value)) return NONE
  let size = /** @type {number} */ (value)
  let unit = 0
  while (Math.abs(size) >= 999.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1000
    unit++
  }
  return `${unit === 0 ? Math.round(size) : threeDigits(size)} ${BYTE_UNITS[unit]}`
}

/** @param {number | null | undefined} ratio from 0 to 1 */
function percent(ratio) {
  if (!isKnown(ratio)) return NONE
  const value = /** @type {number} */ (ratio) * 100
  if (value > 0 && value < 0.1) return '<0.1 %'
  return `${value > 0 && value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} %`
}

/** @param {number | null | undefined} value a number a second */
function rate(value) {
  if (!isKnown(value)) return NONE
  const size = /** @type {number} */ (value)
  return size === 0 || size >= 99.95 ? String(Math.round(size)) : size.toFixed(1)
}

const count = (value) => (isKnown(value) ? String(value) : NONE)

/** @param {string} at in ISO 8601 @returns {string} the time of day here */
function timeOfDay(at) {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? NONE : date.toTimeString().slice(0, 8)
}

module.exports = { NONE, bytes, count, duration, ms, percent, rate, span, timeOfDay }
