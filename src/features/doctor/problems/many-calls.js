'use strict'
// Each request of a route calls one host, or uses one pool, many times, and spends most of its duration on
// these calls. An example is a query in a loop (N+1). The thresholds are in evidence.js. Or a route makes so
// many calls at a time that they wait for a free socket: short-sockets.js. The severity is never high,
// because such a route becomes slower over weeks, as the data grows.

const { counted, duration, routeName } = require('../../../core/readable')
const { ownMsOf } = require('../call-parts')
const { evidence, manyCallsOf } = require('../evidence')
const { fanOuts } = require('../short-sockets')

/**
 * @import { Calls } from '../evidence'
 * @import { CallFigures, RouteFigures } from '../figures'
 * @import { Claim } from '../rules'
 * @import { FanOut } from '../short-sockets'
 */

/** Mean number of concurrent calls. With fewer, calls were made one after another. */
const AT_ONCE = 1.5
/** People notice a wait of half a second. For shorter requests the severity is low. */
const NOTICED_MS = 500

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'many-calls',
  find(figures) {
    const waiting = fanOuts(figures)
    const found = figures.routes.flatMap((route) => {
      const calls = waiting.some((each) => each.route === route) ? undefined : manyCallsOf(route, figures)
      return calls === undefined ? [] : [{ route, calls }]
    })
    return [
      ...waiting.map(claimOfWaiting),
      ...(found.length === 0 ? [] : [claimOf(found[0], found.length - 1)]),
    ]
  },
}

/** @param {{ route: RouteFigures, calls: Calls }} found @param {number} others @returns {Claim} */
function claimOf({ route, calls }, others) {
  const name = routeName(route)
  const perRequest = calls.awaited / route.count
  const callMs = calls.totalMs / calls.count
  // The sum includes calls of requests that have not ended, so the quotient may exceed the mean duration.
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

/** @param {FanOut} fanOut @returns {Claim} */
function claimOfWaiting({ route, calls, atOnce, others }) {
  const name = routeName(route)
  const { host } = calls
  const sockets = calls.waitedFor?.sockets ?? 0
  const perRequest = calls.awaited / route.count
  const waitMs = meanWaitMs([calls])
  const over = sockets > 0 ? ` over ${counted(sockets, 'socket')}` : ''
  return {
    severity: route.meanMs >= NOTICED_MS ? 'medium' : 'low',
    share: route.timeShare,
    route: name,
    summary: `${name} makes ${Math.round(perRequest)} calls to ${host} for each request, about ${Math.round(atOnce)} at a time${over}: each waits ${duration(waitMs)} for a free socket${othersOf(others)}.`,
    evidence: [
      evidence('calls for each request', perRequest),
      evidence('at the same time', atOnce, 'calls'),
      ...(sockets > 0 ? [evidence('sockets of the agent', sockets, 'sockets')] : []),
      evidence('wait of a call for a free socket', waitMs, 'ms on average'),
      evidence('time of a call without the wait', ownMsOf(calls), 'ms on average'),
      ...(others.length > 0
        ? [evidence('wait of other routes for a free socket', meanWaitMs(others), 'ms on average')]
        : []),
      evidence('mean duration of the route', route.meanMs, 'ms'),
      evidence('requests of the route', route.count, 'requests'),
    ],
    advice: `Ask ${host} for all items in one call, with a list of their ids. If that is not possible, make ${fewer(sockets)} at a time (\`Promise.all\` over a few of them), so that calls of other routes find a free socket. Or open more sockets, if ${host} can answer as many calls at a time: ${larger(sockets, Math.round(perRequest))}.`,
  }
}

/** @param {readonly CallFigures[]} calls */
const meanWaitMs = (calls) =>
  sumOf(calls, ({ parts }) => parts?.waitMs ?? 0) / sumOf(calls, (each) => each.count)

/** @param {readonly CallFigures[]} calls @param {(calls: CallFigures) => number} figureOf */
const sumOf = (calls, figureOf) => calls.reduce((sum, each) => sum + figureOf(each), 0)

/** @param {readonly CallFigures[]} others */
function othersOf(others) {
  if (others.length === 0) return ''
  const [first, second] = others.map(({ method, route }) =>
    routeName({ method: String(method), route: String(route) })
  )
  const rest = others.length === 2 ? second : counted(others.length - 1, 'other route')
  return `, and calls of ${first}${others.length === 1 ? '' : ` and ${rest}`} wait ${duration(meanWaitMs(others))}`
}

/** Half of the sockets are left to other routes. @param {number} sockets */
const fewer = (sockets) => (sockets > 0 ? `at most ${Math.max(1, Math.floor(sockets / 2))} of them` : 'a few')

/** @param {number} sockets @param {number} perRequest */
const larger = (sockets, perRequest) =>
  sockets > 0
    ? `\`maxSockets\` of the agent allows ${sockets}, and ${perRequest} would let all calls of a request start at once`
    : `\`connections\` of the undici dispatcher limits them, and ${perRequest} would let all calls of a request start at once`

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
