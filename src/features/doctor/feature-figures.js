'use strict'
// Figures of parts that an instance may lack: stalls, outgoing calls, pools and warnings of the process.
// Without the part, the figure is undefined.

const { partsSince } = require('./call-parts')
const { ranShare } = require('./evidence')
const { POOL_REASON } = require('../../core/gate/decision')

/**
 * @import { StallSite } from '../../../index.js'
 * @import { CallSums, Figures, StallFigures, UsualCall } from './figures'
 * @import { Reading } from './reading'
 * @import { UsualDurations } from './reading'
 *
 * @typedef {{ counts: Readonly<Record<string, number>>, recent: readonly { name: string, message: string,
 *   at?: string | null, listeners?: number }[] }} Warnings
 * @typedef {{ version: string, revision: string, routes: readonly { method: string, route: string,
 *   count: number, errorRatio: number }[] }} ReleaseRecord
 * @typedef {object} Started
 * @property {{ sample(): { sites: readonly StallSite[] } } | undefined} [stalls]
 * @property {{ connections: { received: number }, events: { totals(): Map<string, { count: number,
 *   errors: number }> } } | undefined} [sockets]
 * @property {{ totals(): Map<object, CallSums & { host: string }> } | undefined} [outgoing]
 * @property {{ current: { version: string }, previous: ReleaseRecord | undefined } | undefined} [releases]
 * @property {{ samples: { totals(): Map<object, CallSums & { pool: string,
 *   query: string | undefined }>, readings(): Map<string, PoolReading>, endSlices(): void,
 *   stateOf(name: string): Pick<PoolFigures, 'kind' | 'max' | 'waiting' | 'asksPerRequest' | 'held' |
 *   'load' | 'holders'> & { isTimed: boolean } | undefined } } | undefined}
 *   [pools]
 * @property {{ sample(): RouteWaste[] } | undefined} [waste]
 * @typedef {{ method: string, route: string, requests: number, loopMs: number, poolMs: number }} RouteWaste
 * @typedef {object} OtherDeps
 * @property {Started} startedFeatures the features that are on
 * @property {{ list(): Warnings } | undefined} [warnings]
 * @typedef {object} PoolFigures of a pool that was given to `pool()`, in these seconds
 * @property {string} name
 * @property {number} seconds
 * @property {number} max 0 if it is not known
 * @property {number} waiting callers that wait now
 * @property {number} asks callers that asked for a connection
 * @property {number} asksPerRequest
 * @property {number} meanWaitMs
 * @property {number} useMs total time of all uses that ended
 * @property {number} meanUseMs
 * @property {number} waitingShare share of the time that somebody waited
 * @property {number} timeouts
 * @property {number} rejected requests that would have waited too long
 * @property {number | undefined} [busiest] see `busiestOf`
 * @property {{ count: number, longestMs: number }} held connections that are not given back yet
 * @property {{ count: number, elasticity: number, correlation: number }} load how the time of a use depends
 *   on the connections in use
 * @property {{ method: string | null, route: string | null, heldMs: number }[]} holders the one that held
 *   connections longest first
 * @property {readonly QuerySums[] | undefined} [queries] the one that took longest first; undefined if
 *   queries are not measured
 * @property {string} [kind] as in the snapshot
 *
 * @typedef {{ operation: string, collection?: string | undefined, count: number, totalMs: number }} QuerySums
 * @typedef {{ asks: number, uses: number, waitMs: number, useMs: number, contendedMs: number,
 *   timeouts: number, queries?: Map<object, QuerySums> | undefined }} PoolReading everything that only counts
 *   up
 */

/** @param {StallSite} site */
const keyOf = ({ cause, file, function: name, method, route, origin }) =>
  [cause, file, name, method, route, origin].join('\n')

/** Cost of each site so far. @param {OtherDeps} deps @returns {Map<string, number> | undefined} */
function stallTotals({ startedFeatures: { stalls } }) {
  if (stalls === undefined) return undefined
  return new Map(stalls.sample().sites.map((site) => [keyOf(site), site.totalMs]))
}

/**
 * Returns the sites that took time since the earlier reading, the costliest first.
 *
 * @param {OtherDeps} deps
 * @param {Map<string, number> | undefined} totals
 * @returns {{ sites: StallFigures[] } | undefined}
 */
function stallsSince({ startedFeatures: { stalls } }, totals) {
  if (stalls === undefined || totals === undefined) return undefined
  const sites = stalls
    .sample()
    .sites.map((site) => ({ ...site, ms: site.totalMs - (totals.get(keyOf(site)) ?? 0) }))
    .filter(({ ms }) => ms > 0)
    .sort((a, b) => b.ms - a.ms)
  return { sites }
}

/**
 * Returns each event of sockets for which messages came in these seconds. An event has the fields of a route.
 *
 * @param {Map<string, { count: number, errors: number }>} before
 *   @param {Map<string, { count: number, errors: number }>} now
 */
function eventsBetween(before, now) {
  return [...now]
    .map(([event, { count, errors }]) => {
      const earlier = before.get(event) ?? { count: 0, errors: 0 }
      return {
        method: 'event',
        route: event,
        count: count - earlier.count,
        errors: errors - earlier.errors,
        before: earlier,
      }
    })
    .filter(({ count }) => count > 0)
}

/**
 * Returns the calls, or the uses of pools, between two readings, the costliest first.
 *
 * @template {CallSums} Each
 * @param {Map<object, Each> | undefined} earlier @param {Map<object, Each> | undefined} now
 *   @param {UsualDurations} usual
 * @returns {(Each & UsualCall & { key: object })[] | undefined}
 */
function callsBetween(earlier, now, usual) {
  if (now === undefined) return undefined
  return [...now]
    .map(([key, later]) => {
      const before = earlier?.get(key) ?? NO_CALLS
      return {
        ...later,
        key,
        usualMs: usual.of(key),
        count: later.count - before.count,
        ...(later.errors === undefined ? {} : { errors: later.errors - (before.errors ?? 0) }),
        totalMs: later.totalMs - before.totalMs,
        awaited: later.awaited - before.awaited,
        awaitedMs: later.awaitedMs - before.awaitedMs,
        parts: partsSince(later.parts, before.parts),
      }
    })
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.totalMs - a.totalMs)
}
/** @type {Pick<CallSums, 'count' | 'errors' | 'totalMs' | 'awaited' | 'awaitedMs' | 'parts'>} */
const NO_CALLS = Object.freeze({ count: 0, totalMs: 0, awaited: 0, awaitedMs: 0 })

/**
 * Returns the work for requests that nobody waited for any more. The time of this work includes waits for a
 * CPU. They are subtracted by the share of the time that the loop's thread ran.
 *
 * @param {Pick<Reading, 'atMs' | 'wasted'>} earlier @param {Pick<Reading, 'atMs' | 'wasted'>} now
 * @param {Figures['scheduler']} scheduler
 */
function wastedBetween(earlier, now, scheduler) {
  const elapsedMs = Math.max(1, now.atMs - earlier.atMs)
  const mostMs = elapsedMs * (scheduler?.runShare ?? 1)
  return now.wasted?.map(({ method, route, ...later }) => {
    const before = earlier.wasted?.find((each) => each.method === method && each.route === route)
    const loopMs = Math.min(mostMs, (later.loopMs - (before?.loopMs ?? 0)) * ranShare(scheduler))
    const poolMs = later.poolMs - (before?.poolMs ?? 0)
    const requests = later.requests - (before?.requests ?? 0)
    return {
      method,
      route,
      requests,
      loopMs,
      poolMs,
      loopShare: loopMs / elapsedMs,
      connections: poolMs / elapsedMs,
    }
  })
}

/** Characters that Git shows of a revision. */
const SHOWN_OF_REVISION = 12

/**
 * Returns a function that finds a route's figures in the previous release, if known: see features/releases/.
 *
 * @param {OtherDeps} deps
 */
function previousRelease({ startedFeatures: { releases } }) {
  const { version = '', revision = '', routes = [] } = releases?.previous ?? {}
  const release = version === releases?.current.version ? revision.slice(0, SHOWN_OF_REVISION) : version
  /** @param {string} method @param {string} route */
  return (method, route) => {
    const found = routes.find((each) => each.method === method && each.route === route)
    return found && { release, count: found.count, errorRatio: found.errorRatio }
  }
}

/** @param {OtherDeps} deps @returns {Warnings | undefined} */
const warningsOf = ({ warnings }) => warnings?.list()

/** @typedef {Pick<Reading, 'atMs' | 'pools' | 'shed'>} ReadingOfPools */

/**
 * Returns what happened between the first reading and the last.
 *
 * @param {Pick<OtherDeps, 'startedFeatures'>} deps
 * @param {readonly ReadingOfPools[]} readings oldest first
 * @returns {PoolFigures[]}
 */
function poolsOf({ startedFeatures: { pools } }, readings) {
  const earlier = readings[0]
  const now = /** @type {ReadingOfPools} */ (readings.at(-1))
  const elapsedMs = Math.max(1, now.atMs - earlier.atMs)
  return [...(now.pools ?? [])].flatMap(([name, { queries }]) => {
    const state = pools?.samples.stateOf(name)
    if (state === undefined || !state.isTimed) return []
    const { asks, contendedMs, rejected, timeouts, useMs, uses, waitMs } = poolBetween(name, earlier, now)
    return [
      {
        name,
        seconds: elapsedMs / 1000,
        ...state,
        asks,
        meanWaitMs: waitMs / Math.max(1, asks),
        useMs,
        meanUseMs: useMs / Math.max(1, uses),
        waitingShare: Math.min(1, contendedMs / elapsedMs),
        timeouts,
        rejected,
        busiest: busiestOf(name, state.asksPerRequest, readings),
        queries: queries && queriesBetween(earlier.pools?.get(name)?.queries, queries),
      },
    ]
  })
}

/** @param {string} name @param {ReadingOfPools} earlier @param {ReadingOfPools} later */
function poolBetween(name, earlier, later) {
  const [before, after] = [earlier, later].map(({ pools }) => pools?.get(name))
  /** @param {Exclude<keyof PoolReading, 'queries'>} key */
  const between = (key) => (after?.[key] ?? 0) - (before?.[key] ?? 0)
  const reason = POOL_REASON + name
  return {
    asks: between('asks'),
    uses: between('uses'),
    waitMs: between('waitMs'),
    useMs: between('useMs'),
    contendedMs: between('contendedMs'),
    timeouts: between('timeouts'),
    rejected: (later.shed[reason] ?? 0) - (earlier.shed[reason] ?? 0),
  }
}

/** In a shorter span, too few uses end to tell how long they take. */
const SHORTEST_SPAN_MS = 5000

/**
 * Looks at each span between two readings, because a mean over a minute may hide the seconds of a fault.
 *
 * @param {string} name @param {number} asksPerRequest @param {readonly ReadingOfPools[]} readings
 * @returns {number | undefined} by Little's law, the connections in use in the span that needs most.
 *   undefined if a span has callers, but no use that ended
 */
function busiestOf(name, asksPerRequest, readings) {
  let most
  for (const [i, later] of readings.entries()) {
    const elapsedMs = i === 0 ? 0 : later.atMs - readings[i - 1].atMs
    if (elapsedMs < SHORTEST_SPAN_MS) continue
    const { asks, rejected, useMs, uses } = poolBetween(name, readings[i - 1], later)
    if (uses === 0 && asks > 0) return undefined
    const connections = ((asks + rejected * asksPerRequest) * useMs) / Math.max(1, uses) / elapsedMs
    most = Math.max(most ?? 0, connections)
  }
  return most
}

/** @param {Map<object, QuerySums> | undefined} earlier @param {Map<object, QuerySums>} now */
function queriesBetween(earlier, now) {
  return [...now]
    .map(([key, { operation, collection, count, totalMs }]) => {
      const before = earlier?.get(key)
      return {
        operation,
        collection,
        count: count - (before?.count ?? 0),
        totalMs: totalMs - (before?.totalMs ?? 0),
      }
    })
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.totalMs - a.totalMs)
}

module.exports = {
  callsBetween,
  eventsBetween,
  poolsOf,
  previousRelease,
  stallTotals,
  stallsSince,
  warningsOf,
  wastedBetween,
}
