'use strict'
// Times and durations as they are typed: '-5m', '14:02', '2026-11-26T14:02:00Z', '30m'.

const { CommandError } = require('../command-error')

/** @type {Record<string, number>} */
const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000 }
const DAY_MS = 86_400_000
/** A week: its points take a hundred megabytes. A timer of Node longer than 24 days would end at once. */
const LONGEST_HOURS = 168
const DURATION = /^(\d+(?:\.\d+)?)(s|m|h)$/
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/
const ISO = /^\d{4}-\d\d-\d\d/

/**
 * @typedef {(nowMs: number) => number} Time returns milliseconds since the epoch. `nowMs` is the time of the
 *   service's clock
 */

/** @param {string | undefined} value @param {string} rawName @returns {number} milliseconds */
function readDuration(value = '', rawName) {
  const [, number, unit] = DURATION.exec(value) ?? []
  if (Number(number) > 0) return Number(number) * UNITS_MS[unit]
  throw new CommandError(`${rawName} needs a duration, such as ${rawName} 90s or ${rawName} 30m.`)
}

/**
 * Reads how long to record.
 *
 * @param {string | undefined} value
 * @param {string} rawName
 * @returns {number} milliseconds
 */
function readRecordedSpan(value, rawName) {
  const spanMs = readDuration(value, rawName)
  if (spanMs <= LONGEST_HOURS * UNITS_MS.h) return spanMs
  throw new CommandError(`${rawName} takes a week at most: ${LONGEST_HOURS}h.`)
}

/** @param {string | undefined} value @param {string} rawName @returns {Time} */
function readTime(value = '', rawName) {
  if (value.startsWith('-') && DURATION.test(value.slice(1))) {
    const agoMs = readDuration(value.slice(1), rawName)
    return (nowMs) => nowMs - agoMs
  }
  const [, hours, minutes, seconds = '0'] = CLOCK.exec(value) ?? []
  if (hours !== undefined) return (nowMs) => lastAt(Number(hours), Number(minutes), Number(seconds), nowMs)
  const atMs = ISO.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(atMs))
    throw new CommandError(
      `${rawName} needs a time, such as ${rawName} -5m, ${rawName} 14:02 or ${rawName} 2026-11-26T14:02:00Z.`
    )
  return () => atMs
}

/**
 * Returns the last moment, within 24 hours, with this local time of day.
 *
 * @param {number} hours
 * @param {number} minutes
 * @param {number} seconds
 * @param {number} nowMs
 */
function lastAt(hours, minutes, seconds, nowMs) {
  const atMs = new Date(nowMs).setHours(hours, minutes, seconds, 0)
  return atMs > nowMs ? atMs - DAY_MS : atMs
}

module.exports = { readRecordedSpan, readTime }
