'use strict'
// Writes why requests are rejected, such as 'loop: wait 46 of 40 ms'. The only place that knows the unit of each reason.

const { POOL_REASON } = require('../gate/verdict')

/** @param {number} bytes */
const inMb = (bytes) => Math.round(bytes / 1e6)
/** @param {number} value @param {number} bound */
const waitText = (value, bound) => `wait ${value} of ${bound} ms`
/** @param {number} value @param {number} bound */
const sizeText = (value, bound) => `${inMb(value)} of ${inMb(bound)} MB`

/** @type {Readonly<Record<string, (value: number, bound: number) => string>>} */
const TEXTS = Object.freeze({
  loop: waitText,
  concurrency: (value, bound) => `${value} of ${bound} in flight`,
  memory: sizeText,
  pressure: (value) => `${value} of at most 1`,
  deadline: waitText,
  event_loop_delay: (value, bound) => `${value} of ${bound} ms`,
  event_loop_utilization: (value, bound) => `${value} of ${bound}`,
  heap_used_bytes: sizeText,
  rss_bytes: sizeText,
})

/** @param {{ reason: string, value: number | null, bound: number | null }} cause */
function causeText({ reason, value, bound }) {
  if (value === null || bound === null) return reason
  const textOf = reason.startsWith(POOL_REASON) ? waitText : TEXTS[reason]
  return `${reason}: ${textOf(value, bound)}`
}

module.exports = { causeText, inMb }
