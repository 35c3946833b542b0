'use strict'
// Distinguishes routes whose own calls are slow from routes that only wait for a connection of a short pool.
// A pool is short for one of two reasons. If its uses are slow, the routes that hold its connections are the
// cause. If it is too small, routes that wait for it only look as if their dependency were slow.
// - Uses are slow if they take three times as long as in the last hour, or two seconds. They are also slow if
//   they are mostly one slow query (pool-queries.js). Together, routes with slow uses must account for half
//   of the time that connections are held.
// - A route waits for the pool if the wait takes at least half of the time until its answer begins. The wait
//   is the mean of all callers, because a pool serves its callers in turn.

const { isMostlyWaiting, ownMsOf } = require('./call-parts')
const { costliestCall, isMostlyGivenUp, manyCallsOf, mayWaitOutside } = require('./evidence')
const { longestQuery } = require('./pool-queries')
const { MUCH } = require('./reading')
const { isLeaking, isShort } = require('./short-pools')
const { fanOuts, isOfSameSockets } = require('./short-sockets')

/**
 * @import { CallFigures, Figures, RouteFigures, UseFigures } from './figures'
 * @import { PoolFigures } from './feature-figures'
 * @import { FanOut } from './short-sockets'
 * @typedef {{ route: RouteFigures, pool: PoolFigures, use: UseFigures, query: UseFigures | undefined }} Held
 *   a short pool, and a route with slow uses that holds it. `query`: the slow query that most of these uses
 *   are
 * @typedef {{ route: RouteFigures, pool: PoolFigures, use: UseFigures, isQuick: boolean }} Waiting a route that
 *   waits for a short pool. `isQuick`: its calls, and its uses of the pool, are as quick as usual
 * @typedef {{ own: RouteFigures[], holding: Held[], waiting: Waiting[], forSockets: RouteFigures[] }}
 *   SlowRoutes `own`: routes whose own calls are slow. `holding`: those of them that make a pool short.
 *   `forSockets`: routes that wait for sockets because of another route's calls
 */

const MIN_MORE_MS = 100
const MIN_MORE_OF_USE_MS = 10
const LONG_MS = 2000
/** Below this, a use or a call is as quick as usual. It is also as quick with less than 10 ms more. */
const LONGER = 1.5
const FEWEST = 10
const MOST = 0.5

/** @param {Figures} figures @returns {SlowRoutes} */
function slowRoutes(figures) {
  const { loop, pools = [], routes } = figures
  const slow = routes.filter((route) => isSlow(route, figures) && mayWaitOutside(route, loop))
  const short = slow.length === 0 ? [] : pools.filter((pool) => isShort(pool) && !isLeaking(pool))
  const holding = short.flatMap((pool) => holdersOf(pool, slow, figures))
  const waiting = slow.flatMap((route) => {
    if (holding.some((held) => held.route === route)) return []
    const pool = short.find((each) => isWaiting(route, each, figures))
    const use = pool && useOf(route, pool, figures)
    return pool && use ? [{ route, pool, use, isQuick: isQuick(route, use, figures) }] : []
  })
  const found = slow.length === 0 ? [] : fanOuts(figures)
  const queued = slow.filter((route) => isInQueueOf(found, route, figures))
  const own = slow.filter((route) => waiting.every((each) => each.route !== route) && !queued.includes(route))
  // many-calls.js claims the routes of the calls.
  const forSockets = queued.filter((route) => found.every((each) => each.route !== route))
  return { own, holding, waiting, forSockets }
}

/**
 * Whether most of the route's time is the wait for sockets that calls of a fan-out use.
 *
 * @param {readonly FanOut[]} found @param {RouteFigures} route @param {Pick<Figures, 'outgoing'>} figures
 */
function isInQueueOf(found, route, { outgoing }) {
  const call = costliestCall(route, outgoing)
  if (call === undefined || !isMostlyWaiting(call)) return false
  return found.some(({ calls }) => isOfSameSockets(calls, call))
}

/**
 * Returns the slow routes that make the pool short, if they account for most of the time that its connections
 * are held.
 *
 * @param {PoolFigures} pool @param {readonly RouteFigures[]} slow @param {Figures} figures
 * @returns {Held[]}
 */
function holdersOf(pool, slow, figures) {
  const holding = slow.flatMap((route) => {
    const use = useOf(route, pool, figures)
    if (use === undefined) return []
    const query = slowQueryIn(use, pool, figures)
    return query !== undefined || isSlowUse(use) ? [{ route, pool, use, query }] : []
  })
  const heldMs = holding.reduce((sum, { use }) => sum + use.totalMs, 0)
  return heldMs >= MOST * pool.useMs ? holding : []
}

/** @param {RouteFigures} route @param {PoolFigures} pool @param {Pick<Figures, 'poolUses'>} figures */
const useOf = ({ method, route }, pool, { poolUses = [] }) =>
  poolUses.find(
    (use) => use.query === undefined && use.pool === pool.name && use.method === method && use.route === route
  )

/**
 * @param {UseFigures} use a use of connections, not of queries
 * @param {PoolFigures} pool
 * @param {Pick<Figures, 'poolUses'>} figures
 */
function slowQueryIn({ method, route, totalMs }, pool, { poolUses = [] }) {
  const longest = longestQuery(pool)
  if (!longest?.isSlow) return undefined
  return poolUses.find(
    (use) =>
      use.query === longest.name &&
      use.pool === pool.name &&
      use.method === method &&
      use.route === route &&
      use.totalMs >= MOST * totalMs
  )
}

/** @param {UseFigures} use */
function isSlowUse({ count, totalMs, usualMs }) {
  const meanMs = totalMs / count
  return meanMs >= LONG_MS || isMuchLonger(meanMs, usualMs, MIN_MORE_OF_USE_MS)
}

/** @param {RouteFigures} route @param {PoolFigures} pool @param {Pick<Figures, 'poolUses'>} figures */
function isWaiting(route, pool, figures) {
  const use = useOf(route, pool, figures)
  return use !== undefined && (use.count / route.count) * pool.meanWaitMs >= MOST * waitOf(route)
}

/**
 * Whether the route's uses of the pool, and its calls to other hosts, are known to be as quick as usual.
 *
 * @param {RouteFigures} route @param {UseFigures} use @param {Pick<Figures, 'outgoing'>} figures
 */
function isQuick({ method, route }, use, { outgoing }) {
  if (outgoing === undefined) return false
  const calls = outgoing.filter((call) => call.method === method && call.route === route)
  return [use, ...calls].every(isAsUsual)
}

/** @param {UseFigures | CallFigures} calls */
function isAsUsual(calls) {
  const { usualMs } = calls
  if (usualMs === undefined) return false
  const meanMs = ownMsOf(calls)
  return meanMs < LONGER * usualMs || meanMs - usualMs < MIN_MORE_OF_USE_MS
}

/** @param {number} ms @param {number | undefined} usualMs @param {number} leastMoreMs */
const isMuchLonger = (ms, usualMs, leastMoreMs) =>
  usualMs !== undefined && ms >= MUCH * usualMs && ms - usualMs >= leastMoreMs

/**
 * Time until the first byte. If most clients give up, the time until they leave counts as a lower bound. A
 * finding would otherwise end when nobody is answered any more.
 *
 * @param {RouteFigures} route
 */
const waitOf = (route) => (isMostlyGivenUp(route) ? route.leastWaitMs : route.firstByteMs)

/**
 * Time until the first byte, without time lost to other processes. A request loses the same share of its time
 * as the loop.
 *
 * @param {RouteFigures} route @param {Pick<Figures, 'scheduler'>} figures
 */
const ownWaitOf = (route, { scheduler }) => waitOf(route) * (1 - (scheduler?.waitShare ?? 0))

/** @param {RouteFigures} route @param {Pick<Figures, 'scheduler'>} figures */
const isSlowerThanUsual = (route, figures) =>
  isMuchLonger(ownWaitOf(route, figures), route.usualMs, MIN_MORE_MS)

/** @param {RouteFigures} route @param {Figures} figures */
function isSlow(route, figures) {
  if (route.isLeftOut || route.count < FEWEST) return false
  // A route that has never answered has no dependency that became slow: aborted-requests.js finds it.
  const isLong = !isMostlyGivenUp(route) && ownWaitOf(route, figures) >= LONG_MS
  if (!isLong && !isSlowerThanUsual(route, figures)) return false
  const calls = manyCallsOf(route, figures)
  return calls === undefined || ownMsOf(calls) >= MUCH * Number(calls.usualMs)
}

module.exports = { isSlowerThanUsual, slowRoutes, waitOf }
