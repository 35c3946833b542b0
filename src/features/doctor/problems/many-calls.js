'use strict'
// Each request of a route calls one host, or uses one pool, many times, and spends most of its duration on
// these calls. An example is a query in a loop (N+1). The thresholds are in evidence.js. The severity is
// never high, because such a route becomes slower over weeks, as the data grows.

const { counted, duration, routeName } = require('../../../core/readable')
const { evidence, manyCallsOf } = require('../evidence')

/**
 * @import { Calls } from '../evidence'
 * @import { RouteFigures } from '../figures'
 * @import { Claim } from '../rules'
 */

/** Mean number of concurrent calls. With fewer, calls were made one after another. */
const AT_ONCE = 1.5
/** People notice a wait of half a second. For shorter requests the severity is low. */
const NOTICED_MS = 500

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'many-calls',
  find(figures) {
    const found = figures.routes.flatMap((route) => {
      const calls = manyCallsOf(route, figures)
      return calls === undefined ? [] : [{ route, calls }]
    })
    return found.length === 0 ? [] : [claimOf(found[0], found.length - 1)]
  },
}

/** @param {{ route: RouteFigures, calls: Calls }} found @param {number} others @returns {Claim} */
function claimOf({ route, calls }, others) {
  const name = routeName(route)
  const perRequest = calls.awaited / route.count
  const callMs = calls.totalMs / calls.count
  // Requests in flight have made calls but have not ended, so the sum may exceed the duration.
  const awaitedMs = Math.min(route.meanMs, calls.awaitedMs / route.count)
  const atOnce = (calls.awaited * callMs) / calls.awaitedMs
  const isPool = 'pool' in calls
  const many = Math.round(perRequest)
  const what = whatOf(calls, many)
  const [noun, plural] = !isPool ? CALL : calls.query === undefined ? USE : QUERY
  const how = atOnce < AT_ONCE ? 'one after another' : `about ${Math.round(atOnce)} at a time`
  return {
    severity: route.meanMs >= NOTICED_MS ? 'medium' : 'low',
    share: route.timeShare,
    route: name,
    summary: `${name} ${what} for each request, ${how}: they take ${duration(awaitedMs)} of its ${duration(route.meanMs)}${others === 0 ? '' : `. ${counted(others, 'other route')} ${others === 1 ? 'does' : 'do'} the same`}.`,
    evidence: [
      evidence(`${plural} for each request`, perRequest),
      evidence(`mean time of a ${noun}`, callMs, 'ms'),
      evidence('at the same time', atOnce, plural),
      evidence(`time while a request has a ${noun} in progress`, awaitedMs, 'ms'),
      evidence('mean duration of the route', route.meanMs, 'ms'),
      evidence('requests of the route', route.count, 'requests'),
    ],
    advice: adviceOf(name, isPool, atOnce),
  }
}

const CALL = ['call', 'calls']
const USE = ['use', 'uses']
const QUERY = ['query', 'queries']

/** @param {Calls} calls @param {number} many */
function whatOf(calls, many) {
  if (!('pool' in calls)) return `makes ${many} calls to ${calls.host}`
  return calls.query === undefined
    ? `uses the pool '${calls.pool}' ${many} times`
    : `makes the query ${calls.query} ${many} times, over the pool '${calls.pool}',`
}

/** @param {string} name @param {boolean} isPool @param {number} atOnce */
function adviceOf(name, isPool, atOnce) {
  const fewer = isPool
    ? 'Ask for all rows in one query: a JOIN, `WHERE id = ANY(...)`, or `$in` of MongoDB; a DataLoader collects the ids.'
    : 'Ask for all items in one call, with a list of their ids; a DataLoader collects the ids.'
  const atLeast =
    atOnce < AT_ONCE && !isPool
      ? ' If that is not possible, make several calls at a time: `Promise.all` over a few of them.'
      : ''
  return `Look in ${name} for a call in a loop. ${fewer}${atLeast}`
}

module.exports = rule
