'use strict'
// The lines of events: the level of each, and its sentence. A terminal without pino-pretty shows only the
// sentence, so the sentence names the reason, such as 'loop: wait 46 ms, allowed 40 ms'. Only this file knows
// the unit of each reason.

const { LIMIT_REASON, POOL_REASON } = require('../gate/decision')
const { bytes, duration, withRounded } = require('../readable')

/**
 * @import { SpillwayEvents } from '../../../index.js'
 *
 * @typedef {{ level: 'info' | 'warn' | 'error', sentence: (details: never) => string }} EventLine
 * @typedef {Readonly<Record<string, EventLine | undefined>>} EventLines
 */

/** @param {number} bytes */
const inMb = (bytes) => Math.round(bytes / 1e6)
/** @param {number} value @param {number} bound */
const waitText = (value, bound) => `wait ${value} ms, allowed ${bound} ms`
/** @param {number} value @param {number} bound */
const slotsText = (value, bound) => `${value} requests for ${bound} ${bound === 1 ? 'slot' : 'slots'}`
/** @param {number} value @param {number} bound */
const sizeText = (value, bound) => `${inMb(value)} of ${inMb(bound)} MB`
/** Of a reason without a text of its own, such as `closed`. @param {number} value @param {number} bound */
const plainText = (value, bound) => `${value} of ${bound}`

/** @type {Readonly<Record<string, ((value: number, bound: number) => string) | undefined>>} */
const TEXTS = Object.freeze({
  loop: waitText,
  concurrency: (value, bound) => `${value} of ${bound} in flight`,
  memory: sizeText,
  shortage: (value) => `${value} of 1`,
  deadline: waitText,
  age: (value, bound) => `${value} ms, allowed ${bound} ms`,
  event_loop_delay: (value, bound) => `${value} of ${bound} ms`,
  event_loop_utilization: (value, bound) => `${value} of ${bound}`,
  heap_used_bytes: sizeText,
  rss_bytes: sizeText,
})

/** @param {string} reason */
function textOf(reason) {
  if (reason.startsWith(LIMIT_REASON)) return slotsText
  return reason.startsWith(POOL_REASON) ? waitText : (TEXTS[reason] ?? plainText)
}

/** @param {{ reason: string, value: number | null, bound: number | null }} cause */
function causeText({ reason, value, bound }) {
  if (value === null || bound === null) return reason
  return `${reason}: ${textOf(reason)(value, bound)}`
}

/** The events of an instance. Lines of a primary are in core/cluster/primary.js. @satisfies {EventLines} */
const EVENT_LINES = Object.freeze({
  overload: {
    level: 'warn',
    sentence: (/** @type {SpillwayEvents['overload']} */ details) =>
      `overload (${causeText(details)}): requests are rejected`,
  },
  recovered: {
    level: 'info',
    sentence: (/** @type {SpillwayEvents['recovered']} */ { reason, rejected }) =>
      `recovered from overload (${reason}): ${rejected} rejected`,
  },
  pressure: {
    level: 'info',
    sentence: (/** @type {SpillwayEvents['pressure']} */ { pressure, step, isAbove, by }) =>
      `pressure ${pressure.toFixed(2)}: ${isAbove ? 'above' : 'below'} ${step} (${by})`,
  },
  degraded: {
    level: 'warn',
    sentence: (/** @type {SpillwayEvents['degraded']} */ { reason, usedBytes, levelBytes }) =>
      `degraded: ${reason} of ${inMb(usedBytes)} MB, above its level of ${inMb(levelBytes)} MB`,
  },
  draining: {
    level: 'info',
    sentence: (/** @type {SpillwayEvents['draining']} */ { reason }) => `draining (${reason})`,
  },
  // Its line is written by features/stalls/stalls.js, at most once a second.
  stall: undefined,
})

/**
 * Logs the overloads of mode `observe`: when mode `adaptive` would begin to reject requests, and how many it
 * would have rejected. There is a line but no event, because no request was rejected.
 *
 * @param {Record<'info' | 'warn', (fields: object, message: string) => void>} log
 */
function shadowOverloads({ info, warn }) {
  /**
   * @param {'overload' | 'recovered'} event
   * @param {Partial<SpillwayEvents['overload'] & SpillwayEvents['recovered']>} given
   */
  return (event, { rejected, ...details }) => {
    if (event === 'overload') {
      const message = `spillway: mode adaptive would shed requests now (${causeText(/** @type {SpillwayEvents['overload']} */ (details))})`
      return warn({ event: 'wouldShed', ...details }, message)
    }
    const fields = { event: 'wouldHaveShed', ...withRounded(details), requests: rejected }
    info(fields, `spillway: mode adaptive would have shed ${rejected} requests`)
  }
}

/**
 * Logs that the heap will soon be full, because V8 then ends the process before the application can log
 * anything.
 * @param {(fields: object, message: string) => void} warn
 */
function heapFillingLine(warn) {
  return (/** @type {import('../process/heap-filling').Filling} */ filling) => {
    const { bytesPerSecond, limitBytes, secondsToLimit, usedBytes } = filling
    const pace = `the heap grows by ${bytes(bytesPerSecond)} a second, and ${bytes(usedBytes)} of ${bytes(limitBytes)} are in use after a collection`
    const message = `spillway: the heap is full in ${duration(secondsToLimit * 1000)}, and Node.js then ends the process: ${pace}`
    warn({ event: 'heapFilling', ...filling }, message)
  }
}

module.exports = { EVENT_LINES, causeText, heapFillingLine, shadowOverloads }
