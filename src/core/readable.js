'use strict'
// Writes figures and names for people: three digits at most, a unit that fits, and a dash for what is not
// known. The doctor, the command line, the page and reports use this file, so a figure reads the same in
// each. The page runs it in a browser. A log line has numbers without units: see `rounded`.

const NONE = '–'
const NARROW_SPACE = '\u202f'
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB']
/** @type {[seconds: number, unit: string][]} */
const SPANS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
]

/** @param {unknown} value @returns {value is number} */
const isKnown = (value) => typeof value === 'number' && Number.isFinite(value)

/** Drops zeros at the end. @param {number} value @param {number} decimals */
const trimmed = (value, decimals) => String(Number(value.toFixed(decimals)))

/** @param {number} value */
function threeDigits(value) {
  const size = Math.abs(value)
  return trimmed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)
}

/** A whole number in groups of three digits. @param {number | null | undefined} value */
function count(value) {
  if (!isKnown(value)) return NONE
  return Math.round(value).toLocaleString('en').replaceAll(',', NARROW_SPACE)
}

/** @param {number | null | undefined} value */
function number(value) {
  if (!isKnown(value)) return NONE
  if (Math.abs(value) >= 9.95) return count(value)
  return value !== 0 && Math.abs(value) < 0.1 ? value.toFixed(2) : trimmed(value, 1)
}

/** @param {number | null | undefined} ms */
function duration(ms) {
  if (!isKnown(ms)) return NONE
  if (ms > 0 && ms < 0.995) return `${Math.max(0.01, ms).toFixed(2)} ms`
  if (ms < 999.5) return `${trimmed(ms, ms < 9.95 ? 1 : 0)} ms`
  return span(ms / 1000)
}

/** Such as '2.5 s', '3 min 12 s' and '1 d 2 h'. @param {number | null | undefined} seconds */
function span(seconds) {
  if (!isKnown(seconds)) return NONE
  if (seconds < 119.5) return `${trimmed(seconds, seconds < 9.95 ? 1 : 0)} s`
  const whole = Math.round(seconds)
  const index = SPANS.findIndex(([size]) => whole >= size)
  const [size, unit] = SPANS[index]
  const [smaller, smallerUnit] = SPANS[index + 1] ?? [1, 's']
  const rest = Math.floor((whole % size) / smaller)
  return `${Math.floor(whole / size)} ${unit}${rest === 0 ? '' : ` ${rest} ${smallerUnit}`}`
}

/** @param {number | null | undefined} value */
function bytes(value) {
  if (!isKnown(value)) return NONE
  let size = value
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
  const value = ratio * 100
  if (value > 0 && value < 0.1) return '<0.1 %'
  return `${trimmed(value, Math.abs(value) < 9.95 ? 1 : 0)} %`
}

/** Where a line may be broken: at spaces, but not before the unit of a figure. */
const WORD_ENDS = / (?!(?:%|[kMGT]?B|ms|s|min|h|d)(?!\w))/

/** @param {number} many @param {string} noun in the singular */
const counted = (many, noun) => `${many} ${noun}${many === 1 ? '' : 's'}`

/** @param {{ method?: string | null, route?: string | null }} of */
const routeName = ({ method, route }) => [method, route ?? '(unmatched)'].filter(Boolean).join(' ')

/** The time of day, in the reader's time zone. @param {string | number} at */
function timeOfDay(at) {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? NONE : date.toTimeString().slice(0, 8)
}

/** The day and the time of day, in the reader's time zone. @param {string | null} at */
function dayAndTime(at) {
  if (at === null) return NONE
  const date = new Date(at)
  return `${date.toLocaleDateString('en-CA')} ${date.toTimeString().slice(0, 5)}`
}

/** The parts of the time of an outgoing call: first the look-up, then connecting, then the wait. */
const CALL_PARTS = /** @type {const} */ ([
  ['lookupMs', 'DNS'],
  ['connectMs', 'connect'],
  ['firstByteMs', 'first byte'],
])

/**
 * The largest part of the time of outgoing calls, such as 'DNS 96 %'.
 *
 * @param {{ totalMs: number } & { [Key in typeof CALL_PARTS[number][0]]?: number }} calls as a
 *   process reports them. An older release reports no parts
 */
function mostOfCalls(calls) {
  if (!(calls.totalMs > 0)) return NONE
  const parts = CALL_PARTS.map(([key, name]) => ({ name, ms: calls[key] || 0 }))
  const otherMs = parts.reduce((rest, { ms }) => rest - ms, calls.totalMs)
  const [{ name, ms }] = [...parts, { name: 'other', ms: otherMs }].sort((a, b) => b.ms - a.ms)
  return `${name} ${percent(ms / calls.totalMs)}`
}

/**
 * Writes a value of each unit. A process of a newer release may send an unknown unit, even `constructor`. So
 * this object has no prototype.
 */
const BY_UNIT = {
  __proto__: null,
  share: percent,
  ms: duration,
  bytes,
  'bytes/s': (/** @type {number} */ value) => `${bytes(value)}/s`,
  s: span,
  seconds: span,
}

/**
 * A figure of the evidence of a finding, such as '32 % of the time'. Its unit is then 'share of the time'.
 *
 * @param {{ value: number, unit: string }} given
 */
function figure({ value, unit }) {
  const [first, ...rest] = unit.split(' ')
  const write = BY_UNIT[/** @type {'ms'} */ (first)]
  return [write === undefined ? `${number(value)} ${first}` : write(value), ...rest].join(' ').trim()
}

/** @param {{ operation: string, collection?: string | null | undefined }} query */
const queryName = ({ operation, collection }) => (collection ? `${operation} ${collection}` : operation)

/** Milliseconds for a log line, as a number such as 0.412, 51.4 or 250. @param {number} ms */
function rounded(ms) {
  if (ms < 1) return Math.round(ms * 1000) / 1000
  return ms < 100 ? Math.round(ms * 10) / 10 : Math.round(ms)
}

/** @param {object} fields; every number whose name ends in `Ms` is rounded */
function withRounded(fields) {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      key.endsWith('Ms') && typeof value === 'number' ? rounded(value) : value,
    ])
  )
}

module.exports = {
  CALL_PARTS,
  NONE,
  WORD_ENDS,
  bytes,
  count,
  counted,
  dayAndTime,
  duration,
  figure,
  isKnown,
  mostOfCalls,
  number,
  percent,
  queryName,
  rounded,
  routeName,
  span,
  timeOfDay,
  withRounded,
}
