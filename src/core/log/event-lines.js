'use strict'
// The lines of events: the level of each, and its sentence. A terminal without pino-pretty shows the sentence alone, so it
// names the reason.

const { causeText, inMb } = require('./cause-text')

/** @typedef {{ level: 'info' | 'warn' | 'error', sentence: (details: any) => string }} EventLine */
/** @typedef {Readonly<Record<string, EventLine | undefined>>} EventLines */

/** The events of an instance. Those of a primary are in core/drain/cluster/primary.js. @satisfies {EventLines} */
const EVENT_LINES = Object.freeze({
  overload: {
    level: 'warn',
    sentence: (details) => `overload (${causeText(details)}): requests are rejected`,
  },
  recovered: {
    level: 'info',
    sentence: ({ reason, rejected }) => `recovered from overload (${reason}): ${rejected} rejected`,
  },
  degraded: {
    level: 'warn',
    sentence: ({ reason, usedBytes, levelBytes }) =>
      `degraded: ${reason} of ${inMb(usedBytes)} MB, above its level of ${inMb(levelBytes)} MB`,
  },
  draining: { level: 'info', sentence: ({ reason }) => `draining (${reason})` },
  // Its line is written by features/stalls/stalls.js, at most once a second.
  stall: undefined,
})

module.exports = { EVENT_LINES }
