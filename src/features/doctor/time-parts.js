'use strict'
// What the parts of requests say about a problem: which part took most of their time, and whether they waited while the loop was
// free.

const { evidence } = require('./evidence')

/**
 * @import { Evidence } from './evidence'
 * @import { Figures, RouteFigures } from './figures'
 */

/** What each part is called in the evidence. @type {Readonly<Record<string, string>>} */
const NAMES = Object.freeze({
  queueMs: 'in the queue of the gate',
  runMs: 'in the handler, until it returned',
  loopBusyMs: 'behind a busy event loop',
  gcMs: 'in garbage collection',
  waitMs: 'waiting, with the event loop free',
  bodyMs: 'sending the answer',
})
/** A part of less than half of the time explains nothing. */
const MOST = 0.5

/** Two clocks and rounding may leave a part slightly below 0. @param {Record<string, number>} parts */
const sumOf = (parts) => Object.values(parts).reduce((sum, ms) => sum + Math.max(0, ms), 0)

/**
 * @param {readonly Pick<RouteFigures, 'parts'>[]} routes
 * @returns {Evidence[]} the part that took at least half of the time of their requests, if one did
 */
function mostOfTime(routes) {
  const sums = Object.keys(NAMES).map((name) => ({
    name,
    ms: routes.reduce((sum, { parts }) => sum + Math.max(0, parts?.[name] ?? 0), 0),
  }))
  const totalMs = sums.reduce((sum, { ms }) => sum + ms, 0)
  return sums
    .filter(({ ms }) => totalMs > 0 && ms >= MOST * totalMs)
    .slice(0, 1)
    .map(({ name, ms }) => evidence(NAMES[name], ms / totalMs, "share of the requests' time"))
}

/**
 * Whether most of the time before the answer is a wait for something outside of the loop. A request that waits all the time is in
 * part `loopBusy` for as much of it as the loop works for others.
 *
 * @param {Pick<RouteFigures, 'parts'>} route
 * @param {Figures['loop']} loop
 * @returns {boolean} true also where parts are not measured
 */
function mayWaitOutside({ parts }, loop) {
  if (parts === undefined) return true
  return parts.waitMs >= MOST * (1 - loop.utilization) * (sumOf(parts) - Math.max(0, parts.bodyMs))
}

module.exports = { mayWaitOutside, mostOfTime }
