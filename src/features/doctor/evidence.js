'use strict'
// Evidence of findings: single figures, where the time of requests went, and whether the event loop had a
// CPU.

/**
 * @import { CallFigures, Figures, RouteFigures, UseFigures } from './figures'
 * @typedef {{ name: string, value: number, unit: string }} Evidence
 * @typedef {CallFigures | UseFigures} Calls of one route
 */

const { addedParts } = require('./call-parts')
const { percent: percentOf } = require('../../core/readable')

/** @param {number} value */
const rounded = (value) => Math.round(value * 1000) / 1000

/** @param {string} name @param {number} value @param {string} [unit] @returns {Evidence} */
const evidence = (name, value, unit = '') => ({ name, value: rounded(value), unit })

/** Writes a share as the evidence does, so that a summary and its evidence agree. @param {number} share */
const percent = (share) => percentOf(rounded(share) || share)

/** Names of the parts in the evidence. @type {Readonly<Record<string, string>>} */
const NAMES = Object.freeze({
  queueMs: 'in the queue of the gate',
  runMs: 'in the handler, until it returned',
  loopBusyMs: 'behind a busy event loop',
  gcMs: 'in garbage collection',
  waitMs: 'waiting, with the event loop free',
  bodyMs: 'sending the answer',
})
/** A part, or a host, with less than half of the time explains nothing. */
const MOST = 0.5
/** Least calls per request. A page that is built from several services makes fewer calls to each service. */
const MANY_CALLS = 10
/** Least mean duration. Nobody notices shorter requests, so ten quick calls are not a problem. */
const LONG_MS = 200
/** Least requests. A batch job that runs now and then may make many calls. */
const FEWEST = 10
/** Clients give up: this share of the requests, at least so many, after this time. */
const GAVE_UP = Object.freeze({ share: 0.1, fewest: 5, ms: 1000 })
/** At this busy share of the loop, every call takes long. */
const MAX_BUSY = 0.7

/**
 * Sums the parts. Two clocks and rounding may leave a part slightly below 0, which counts as 0.
 *
 * @param {Record<string, number>} parts
 */
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
 * Whether most of the time before the answer is a wait for something outside of the loop. While a request
 * waits, the loop works for others. That share of its wait counts as `loopBusy`.
 *
 * @param {Pick<RouteFigures, 'parts'>} route
 * @param {Figures['loop']} loop
 * @returns {boolean} also true if parts are not measured
 */
function mayWaitOutside({ parts }, loop) {
  if (parts === undefined) return true
  return parts.waitMs >= MOST * (1 - loop.utilization) * (sumOf(parts) - Math.max(0, parts.bodyMs))
}

/**
 * Whether clients disconnect before an answer begins, after a second or more. A few per cent are people who
 * close a page. Earlier disconnects are cancelled requests, such as those of a search that is sent with each
 * letter.
 *
 * @param {Pick<RouteFigures, 'count' | 'gaveUp' | 'isLeftOut'>} route
 */
const clientsGiveUp = ({ count, gaveUp, isLeftOut }) =>
  !isLeftOut &&
  gaveUp.count >= GAVE_UP.fewest &&
  gaveUp.count >= GAVE_UP.share * count &&
  gaveUp.meanMs >= GAVE_UP.ms

/**
 * Whether most requests of the route end because their clients give up. Its durations are then lower bounds.
 *
 * @param {Pick<RouteFigures, 'count' | 'gaveUp' | 'isLeftOut'>} route
 */
const isMostlyGivenUp = (route) => clientsGiveUp(route) && route.gaveUp.count >= MOST * route.count

/**
 * A call whose request is not known may be of any route, so it counts for each. Node 20 and 22 know the
 * request only until the first `await`.
 *
 * @param {Pick<RouteFigures, 'count' | 'meanMs' | 'method' | 'route'>} of
 * @param {readonly CallFigures[] | undefined} outgoing
 * @returns {CallFigures | undefined} the host that took at least half of the time of the route
 */
function costliestCall({ count, meanMs, method, route }, outgoing = []) {
  /** @type {Map<string, CallFigures>} */
  const byHost = new Map()
  for (const call of outgoing) {
    if (call.route !== null && (call.route !== route || call.method !== method)) continue
    const sum = byHost.get(call.host)
    byHost.set(call.host, sum === undefined ? call : bothOf(sum, call))
  }
  return [...byHost.values()]
    .filter(({ totalMs }) => totalMs >= MOST * count * meanMs)
    .sort((a, b) => b.totalMs - a.totalMs)[0]
}

/** @param {CallFigures} a @param {CallFigures} b calls to the same host @returns {CallFigures} */
const bothOf = (a, b) => ({
  ...a,
  count: a.count + b.count,
  totalMs: a.totalMs + b.totalMs,
  parts: addedParts(a.parts, b.parts),
})

/**
 * @param {RouteFigures} route
 * @param {Pick<Figures, 'loop' | 'outgoing' | 'poolUses'>} figures
 * @returns {Calls | undefined} calls to one host, or uses of one pool, that are many per request and take at
 *   least half of the route's time
 */
function manyCallsOf({ count, meanMs, method, route }, { loop, outgoing = [], poolUses = [] }) {
  if (count < FEWEST || meanMs < LONG_MS || loop.utilization >= MAX_BUSY) return undefined
  const [most] = [...outgoing, ...poolUses]
    .filter((calls) => calls.method === method && calls.route === route)
    .filter(({ awaited, awaitedMs }) => awaited >= MANY_CALLS * count && awaitedMs >= MOST * count * meanMs)
    .sort((a, b) => Number(isQuery(b)) - Number(isQuery(a)) || b.awaitedMs - a.awaitedMs)
  return most
}

/**
 * Whether these are queries. A kind of query says more than the uses of connections that contain it.
 *
 * @param {Calls} calls
 */
const isQuery = (calls) => 'query' in calls && calls.query !== undefined

/**
 * @param {Pick<RouteFigures, 'count' | 'meanMs' | 'method' | 'route'>} of
 * @param {readonly UseFigures[] | undefined} poolUses
 * @returns {UseFigures | undefined} the kind of query that took at least half of the time of the route
 */
function costliestQuery({ count, meanMs, method, route }, poolUses = []) {
  return poolUses
    .filter((use) => isQuery(use) && use.method === method && use.route === route)
    .filter(({ awaitedMs }) => awaitedMs >= MOST * count * meanMs)
    .sort((a, b) => b.awaitedMs - a.awaitedMs)[0]
}

/**
 * Whether uses of one pool that was given to `pool()` took at least half of the time of the route.
 *
 * @param {Pick<RouteFigures, 'count' | 'meanMs' | 'method' | 'route'>} of
 * @param {readonly UseFigures[] | undefined} poolUses
 */
const isMostlyInPool = ({ count, meanMs, method, route }, poolUses = []) =>
  poolUses.some(
    (use) =>
      !isQuery(use) && use.method === method && use.route === route && use.totalMs >= MOST * count * meanMs
  )

/**
 * Share of the loop thread's runnable time while no other process held its CPU. Waits for threads of this
 * process, such as the collector's, are not subtracted.
 *
 * @param {{ runShare: number, waitShare: number, foreignShare: number } | undefined} scheduler
 */
function onCpuShare(scheduler) {
  if (scheduler === undefined) return 1
  const { foreignShare, runShare, waitShare } = scheduler
  return runShare + waitShare > 0 ? 1 - foreignShare / (runShare + waitShare) : 1
}

/**
 * Share of the loop thread's runnable time for which it ran. Unlike `onCpuShare`, this also subtracts waits
 * for threads of this process, such as a thread pool that hashes.
 *
 * @param {{ runShare: number, waitShare: number } | undefined} scheduler
 */
function ranShare(scheduler) {
  if (scheduler === undefined) return 1
  const { runShare, waitShare } = scheduler
  return runShare + waitShare > 0 ? runShare / (runShare + waitShare) : 1
}

/**
 * Share of the time for which the loop was busy and not waiting for a CPU.
 *
 * @param {{ utilization: number }} loop
 * @param {{ runShare: number, waitShare: number } | undefined} scheduler
 */
function ownBusyShare({ utilization }, scheduler) {
  if (scheduler === undefined) return utilization
  // Waits right after a poll count as idle. So subtracting all waits may give less than the time that the
  // thread ran.
  return Math.min(utilization, Math.max(scheduler.runShare, utilization - scheduler.waitShare))
}

/**
 * Share of the time for which the loop counted as busy, but its thread neither ran nor waited for a CPU. It
 * slept in a synchronous call, such as a write to a full pipe. During a collection it waits for V8's threads.
 *
 * @param {Pick<import('./figures').Figures, 'gc' | 'loop' | 'scheduler'>} figures
 */
function sleptShare({ gc, loop, scheduler }) {
  if (scheduler === undefined) return 0
  return Math.max(0, loop.utilization - scheduler.runShare - scheduler.waitShare - gc.share)
}

module.exports = {
  FEWEST,
  LONG_MS,
  MAX_BUSY,
  clientsGiveUp,
  costliestCall,
  costliestQuery,
  evidence,
  isMostlyGivenUp,
  isMostlyInPool,
  manyCallsOf,
  mayWaitOutside,
  mostOfTime,
  onCpuShare,
  ownBusyShare,
  percent,
  ranShare,
  sleptShare,
}
