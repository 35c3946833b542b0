'use strict'
// Finds routes that make so many calls at a time to one host that calls wait for a free socket. The agent has
// few sockets (`maxSockets`), and the host is quick. Calls of other routes wait behind these calls.
// - A call waits 20 ms on average, and at least as long as the rest of the call takes. Requests of the route
//   have calls in progress for a tenth of the time. Calls that wait only now and then are healthy.
// - A request has more calls in progress than the agent has sockets, so the request alone fills the agent. A
//   route that makes a few calls at a time is never the cause. undici does not publish its number of
//   connections. There, five calls at a time are enough.
// - The calls of the route account for half of the wait for these sockets.
// - Without its wait, a call takes less than 100 ms, and less than three times as long as usual. A slower
//   host makes all calls wait, and is the cause.
// - Requests of the route take 200 ms, or calls of another route also wait, for a fifth of their time.

const { isMostlyWaiting, ownMsOf } = require('./call-parts')
const { FEWEST, LONG_MS, MAX_BUSY } = require('./evidence')
const { MUCH } = require('./reading')

/**
 * @import { CallFigures, Figures, RouteFigures } from './figures'
 * @typedef {{ route: RouteFigures, calls: CallFigures, atOnce: number, others: CallFigures[] }} FanOut
 *   `atOnce`: mean number of calls in progress, of a request; `others`: calls of other routes that also wait,
 *   those with the longest wait first
 */

const MIN_WAIT_MS = 20
const MIN_SHARE = 0.1
const MOST = 0.5
/** Mean number of concurrent calls. With fewer, calls were made one after another. */
const AT_ONCE = 1.5
const MIN_AT_ONCE = 5
const QUICK_MS = 100
const OTHERS_SHARE = 0.2

/** @param {Pick<Figures, 'loop' | 'outgoing' | 'routes' | 'seconds'>} figures @returns {FanOut[]} */
function fanOuts({ loop, outgoing = [], routes, seconds }) {
  if (loop.utilization >= MAX_BUSY) return []
  return outgoing.flatMap((calls) => {
    const route = routes.find((each) => isOf(calls, each))
    if (route === undefined || !isHeldUp(calls, seconds)) return []
    const atOnce = (calls.awaited * (calls.totalMs / calls.count)) / calls.awaitedMs
    if (!isFanOut(calls, route, atOnce)) return []
    const waiting = outgoing.filter((each) => isOfSameSockets(each, calls))
    if (waitMsOf(calls) < MOST * waiting.reduce((sum, each) => sum + waitMsOf(each), 0)) return []
    const others = waiting.filter((each) => each !== calls && each.route !== null && isHeldUpToo(each))
    return route.meanMs >= LONG_MS || others.length > 0
      ? [{ route, calls, atOnce, others: others.sort((a, b) => waitMsOf(b) - waitMsOf(a)) }]
      : []
  })
}

/** @param {CallFigures} calls @param {RouteFigures} route */
const isOf = (calls, { method, route }) => calls.method === method && calls.route === route

/** @param {CallFigures} calls */
const waitMsOf = ({ parts }) => parts?.waitMs ?? 0

/** @param {CallFigures} calls @param {number} seconds */
function isHeldUp(calls, seconds) {
  if (!isMostlyWaiting(calls) || waitMsOf(calls) < MIN_WAIT_MS * calls.count) return false
  const ownMs = ownMsOf(calls)
  return (
    ownMs < QUICK_MS &&
    !(ownMs >= MUCH * Number(calls.usualMs)) &&
    calls.awaitedMs >= MIN_SHARE * seconds * 1000
  )
}

/** @param {CallFigures} calls @param {RouteFigures} route @param {number} atOnce */
function isFanOut({ waitedFor }, { count }, atOnce) {
  if (waitedFor === undefined || count < FEWEST) return false
  return waitedFor.sockets > 0 ? atOnce > Math.max(waitedFor.sockets, AT_ONCE) : atOnce >= MIN_AT_ONCE
}

/** @param {CallFigures} calls */
const isHeldUpToo = (calls) => waitMsOf(calls) >= OTHERS_SHARE * calls.totalMs

/** @param {Pick<CallFigures, 'host' | 'waitedFor'>} a @param {Pick<CallFigures, 'host' | 'waitedFor'>} b */
const isOfSameSockets = (a, b) =>
  a.host === b.host && a.waitedFor !== undefined && a.waitedFor.agent === b.waitedFor?.agent

module.exports = { fanOuts, isOfSameSockets }
