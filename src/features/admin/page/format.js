'use strict'
// How figures are written on the page: short, with a unit, and never more digits than the figure is worth.

const NARROW_SPACE = '\u202f'
const NONE = '–'

/** @returns {value is number} */
const isKnown = (value) => typeof value === 'number' && Number.isFinite(value)

/** A whole number in groups of three digits. */
function count(value) {
  if (!isKnown(value)) return NONE
  return Math.round(value).toLocaleString('en').replaceAll(',', NARROW_SPACE)
}

/** A number with about three digits. */
function number(value) {
  if (!isKnown(value)) return NONE
  if (value === 0) return '0'
  if (Math.abs(value) < 0.1) return value.toFixed(2)
  if (Math.abs(value) < 10) return trimmed(value.toFixed(1))
  return count(value)
}

const trimmed = (text) => text.replace(/\.0$/, '')

/** @param {number | null | undefined} ms */
function duration(ms) {
  if (!isKnown(ms)) return NONE
  if (ms === 0) return '0 ms'
  if (ms < 1) return `${Math.max(0.01, ms).toFixed(2)} ms`
  if (ms < 10) return `${trimmed(ms.toFixed(1))} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  return seconds(ms / 1000)
}

/** @param {number | null | undefined} value */
function seconds(value) {
  if (!isKnown(value)) return NONE
  if (value < 10) return `${trimmed(value.toFixed(1))} s`
  if (value < 120) return `${Math.round(value)} s`
  if (value < 7200) return `${Math.round(value / 60)} min`
  if (value < 172_800) return `${Math.round(value / 3600)} h`
  return `${Math.round(value / 86_400)} days`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** @param {number | null | undefined} value */
function bytes(value) {
  if (!isKnown(value)) return NONE
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${value < 10 && unit > 0 ? trimmed(value.toFixed(1)) : Math.round(value)} ${UNITS[unit]}`
}

/** @param {number | null | undefined} ratio from 0 to 1 */
function percent(ratio) {
  if (!isKnown(ratio)) return NONE
  const value = ratio * 100
  if (value === 0) return '0 %'
  if (value < 0.1) return '< 0.1 %'
  return `${value < 10 ? trimmed(value.toFixed(1)) : Math.round(value)} %`
}

/** The time of day where the page is read. @param {string | number} at */
const time = (at) => new Date(at).toLocaleTimeString('en-GB')

/** The day and the time of day. @param {string | null} at */
function moment(at) {
  if (at === null) return NONE
  const date = new Date(at)
  return `${date.toLocaleDateString('en-CA')} ${date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`
}

/** Without a prototype: a newer release may send any word. */
const BY_UNIT = { __proto__: null, ms: duration, bytes, s: seconds, seconds }

/** A figure of a finding. @param {{ value: number, unit: string }} evidence */
function evidence({ value, unit }) {
  const [first, ...rest] = unit.split(' ')
  if (first === 'share') return `${percent(value)} ${rest.join(' ')}`.trim()
  const write = BY_UNIT[unit]
  return write === undefined ? `${number(value)} ${unit}`.trim() : write(value)
}

/** @param {{ method?: string | null, route?: string | null }} of */
const routeName = ({ method, route }) => [method, route ?? '(unmatched)'].filter(Boolean).join(' ')

module.exports = { NONE, bytes, count, duration, evidence, moment, number, percent, routeName, seconds, time }
