'use strict'
// The parts of a request's time, with the words that the page and reports show.

/** @import { RequestParts } from '../../../../index.js' */

/** @type {{ key: keyof RequestParts, name: string, about: string }[]} */
const PARTS = [
  { key: 'queueMs', name: 'queue', about: 'in the queue of the gate' },
  { key: 'runMs', name: 'run', about: "the request's own handler, until its first return or await" },
  { key: 'loopBusyMs', name: 'loop busy', about: 'the event loop was busy with other work' },
  { key: 'gcMs', name: 'collections', about: 'garbage collection' },
  { key: 'waitMs', name: 'wait', about: 'the request waited for something while the loop was free' },
  { key: 'bodyMs', name: 'body', about: 'from the head to the last byte' },
]

/** Shown if a proxy stamps requests. Durations do not include this time, so it is not one of their parts. */
const IN_PROXY = {
  name: 'in the proxy',
  about: 'in the proxy, before the request arrived; durations do not include this time',
}

/** @param {Partial<RequestParts>} parts @param {{ key: keyof RequestParts }} part */
const msOf = (parts, { key }) => Math.max(0, parts[key] ?? 0)
/** @param {Partial<RequestParts>} parts */
const sumOf = (parts) => PARTS.reduce((sum, part) => sum + msOf(parts, part), 0)

module.exports = { IN_PROXY, PARTS, msOf, sumOf }
