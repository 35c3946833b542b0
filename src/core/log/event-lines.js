'use strict'
// The lines of events: the level of each, and its sentence. A terminal without pino-pretty shows the sentence alone, so it
// names the reason.

const { causeText, inMb } = require('./cause-text')

/** @import { SpillwayEvents } from '../../../index.js' */

/**
 * @typedef {{ level: 'info' | 'warn' | 'error', sentence: (details: never) => string }} EventLine
 * @typedef {Readonly<Record<string, EventLine | undefined>>} EventLines
 */

/** The events of an instance. Those of a primary are in core/drain/cluster/primary.js. @satisfies {EventLines} */
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

module.exports = { EVENT_LINES }
