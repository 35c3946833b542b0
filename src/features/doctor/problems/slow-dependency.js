'use strict'
// Requests wait for something outside of the process while the loop has time: the answer begins late, and
// nothing here computes.
// - Found if at least ten requests of a route are slower than usual. They take three times as long as in the
//   last hour, and 100 ms more. A cold cache, or more rows in the evening, seldom make a route three times as
//   slow.
// - A route that takes two seconds or longer is found even if this is usual, because people leave by then.
// - Routes that `ignore.log` leaves out are skipped: they wait on purpose, as a long poll does.
// - A route with many calls for each request is left to many-calls.js. It is found here only if a call takes
//   three times as long as usual.
// - If most clients of a route give up, the time until they leave is a lower bound of its wait. Such a route
//   is found only if it is slower than usual. Other routes that answer less than half of their requests are
//   skipped.
// - Nothing is found if the loop is busy for seven tenths of the time, because requests may then wait for the
//   loop. Waiting for a CPU does not count as busy.
// - Time lost to other processes is subtracted: a request is taken to lose the same share of its time as the
//   loop loses. If that share is more than half, the host is the larger cause, and nothing is found.
// - If routes only wait for a connection of an exhausted pool, or for a free socket, the finding is an effect
//   of this shortage: slow-routes.js.
// - If the finding names a host, a query or a shortage, it explains why clients give up.
// - A handler that computes is not a dependency. If parts are measured, the wait must be at least half of the
//   time until the answer begins, times the idle share of the loop.
// - If most of the time is not in calls, and calls to a host fail, the finding says so: failing-calls.js.
// - Severity high if the routes became slower, and account for a fifth of all requests, or for half of the
//   time that all requests take. Clients that wait send few requests, so their number alone would be small.

const {
  costliestCall,
  costliestQuery,
  evidence,
  isMostlyGivenUp,
  isMostlyInPool,
  mostOfTime,
  ownBusyShare,
  percent,
} = require('../evidence')
const { adviceOfCall, describeCall, figuresOfCall } = require('../call-parts')
const { adviceOfFailing, describeFailing, failingCallsOf, figuresOfFailing } = require('../failing-calls')
const { callWhileHeld } = require('../held-calls')
const { mayShowQueries } = require('../pool-queries')
const { counted, duration, routeName } = require('../../../core/readable')
const { isSlowerThanUsual, slowRoutes, waitOf } = require('../slow-routes')

/**
 * @import { Evidence } from '../evidence'
 * @import { CallFigures, Figures, RouteFigures, UseFigures } from '../figures'
 * @import { HeldCall } from '../held-calls'
 * @import { Claim } from '../rules'
 * @import { Held, SlowRoutes, Waiting } from '../slow-routes'
 * @typedef {{ mostly: string, more: string, figures: Evidence[] }
 *   & Pick<Claim, 'advice' | 'adviceIfCausedBy'>} Cause the cause of the wait, in words
 */

const MAX_BUSY = 0.7
const MAX_STARVED = 0.5
const MANY = 0.2
const MAX_TIME = 0.5
/** Of the time that connections of a pool are held. */
const MIN_HELD = 0.5

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'slow-dependency',
  explains: (figures) => (saysWhy(slowRoutes(figures), figures) ? ['aborted-requests'] : []),
  find(figures) {
    const { loop, scheduler } = figures
    const starvedShare = scheduler?.waitShare ?? 0
    if (ownBusyShare(loop, scheduler) >= MAX_BUSY || starvedShare >= MAX_STARVED) return []
    const { own, holding, waiting, forSockets } = slowRoutes(figures)
    if (own.length > 0) {
      // A route that exhausts a pool comes first, because it also slows requests of other routes.
      const [held] = holding
      const first = held?.route ?? own[0]
      return [
        claimOf([first, ...own.filter((route) => route !== first)], ownCause(first, held, figures), figures),
      ]
    }
    if (forSockets.length > 0) {
      const cause = ownCause(forSockets[0], undefined, figures)
      return [{ ...claimOf(forSockets, cause, figures), causedBy: 'many-calls' }]
    }
    if (waiting.length === 0) return []
    const quick = waiting.filter(({ isQuick }) => isQuick)
    const routes = (quick.length > 0 ? quick : waiting).map(({ route }) => route)
    return [{ ...claimOf(routes, waitForPlace(waiting, quick), figures), causedBy: 'pool-exhausted' }]
  },
}

/**
 * Whether the finding names what the route waits for. Without a name it does not say more than that clients
 * give up.
 *
 * @param {SlowRoutes} slow @param {Figures} figures
 */
function saysWhy({ own, holding }, { outgoing, poolUses }) {
  if (own.length === 0 || holding.length > 0) return true
  return costliestCall(own[0], outgoing) !== undefined || costliestQuery(own[0], poolUses) !== undefined
}

/** @param {RouteFigures} first @param {Held | undefined} held @param {Figures} figures @returns {Cause} */
function ownCause(first, held, { outgoing, poolUses }) {
  // If a slow query is known, it is the cause. Calls are skipped then, because a call without a known route
  // may belong to another request.
  const isQuery = held?.query !== undefined
  const heldCall = held === undefined || isQuery ? undefined : callWhileHeld(held, outgoing)
  const costliest = isQuery ? undefined : costliestCall(first, outgoing)
  const call = heldCall?.call ?? costliest
  const query = call === undefined ? costliestQuery(first, poolUses) : undefined
  const isKnown = held !== undefined || call !== undefined || query !== undefined
  const failing = isKnown || isMostlyInPool(first, poolUses) ? undefined : failingCallsOf(first, outgoing)
  if (failing !== undefined) return failingCause(first, failing)
  const where = call === undefined ? lookAt(first, query ?? held?.query, held) : adviceOfCall(call)
  return {
    mostly: mostlyOf(costliest?.host ?? query?.query),
    more: `${held === undefined ? '' : describeHeld(first, held, heldCall)}${call === undefined ? '' : describeCall(call)}`,
    figures: [
      ...(call === undefined ? [] : figuresOfCall(call).map((figure) => evidence(...figure))),
      ...(held === undefined ? [] : figuresOfHeld(held)),
    ],
    advice: `${where} ${heldCall === undefined ? '' : `Hold no connection during the call. `}Give the call a timeout, so that its slowness does not fill this process. Where possible, answer from a cache, or without the result of the call.`,
    ...(isKnown ? {} : { adviceIfCausedBy: (problem) => lookAtCause(problem, routeName(first)) }),
  }
}

/** @param {string} problem @param {string} name */
const lookAtCause = (problem, name) =>
  `Look at ${problem} first, which makes these requests slow. The services that ${name} calls need not be slow themselves.`

/** @param {RouteFigures} route @param {CallFigures} calls @returns {Cause} */
const failingCause = (route, calls) => ({
  mostly: '',
  more: describeFailing(calls),
  figures: figuresOfFailing(calls, route.count).map((figure) => evidence(...figure)),
  advice: adviceOfFailing(calls, routeName(route)),
})

/**
 * The cause of routes whose dependency only looks slow. A route that may be slow itself is named apart.
 *
 * @param {readonly Waiting[]} waiting @param {readonly Waiting[]} quick @returns {Cause}
 */
function waitForPlace(waiting, quick) {
  const [{ pool }] = quick.length > 0 ? quick : waiting
  const what =
    quick.length > 0
      ? 'The services that these routes call are not slow: the routes wait for a connection.'
      : 'Most of the wait is for a connection.'
  return {
    mostly: `, most of it for a connection of the pool '${pool.name}'`,
    more: '',
    figures: [],
    advice: `${what} Look at the pool '${pool.name}', and at ${holderOf(waiting, pool.name)}.`,
  }
}

/**
 * Names the route whose uses take longer than usual, if its uses take most of the time.
 *
 * @param {readonly Waiting[]} waiting @param {string} pool
 */
function holderOf(waiting, pool) {
  const [longest] = waiting
    .filter((each) => each.pool.name === pool && !each.isQuick)
    .sort((a, b) => b.use.totalMs - a.use.totalMs)
  const usualMs = longest?.use.usualMs
  if (usualMs === undefined) return 'what holds its connections'
  const useMs = longest.use.totalMs / longest.use.count
  return useMs > usualMs && longest.use.totalMs >= MIN_HELD * longest.pool.useMs
    ? `${routeName(longest.route)}: it holds a connection for ${duration(useMs)}, and usually for ${duration(usualMs)}`
    : 'what holds its connections'
}

/**
 * @param {readonly RouteFigures[]} slow @param {Cause} cause @param {Figures} figures
 * @returns {Claim}
 */
function claimOf(slow, { mostly, more, figures: ofCause, ...advice }, figures) {
  const { loop, requests, scheduler } = figures
  const [first, ...others] = slow
  const starvedShare = scheduler?.waitShare ?? 0
  const share = slow.reduce((sum, { count }) => sum + count, 0) / requests.count
  const ofTime = slow.reduce((sum, { timeShare }) => sum + timeShare, 0)
  const isMuch = share >= MANY || ofTime >= MAX_TIME
  const isSlower = slow.some((route) => isSlowerThanUsual(route, figures))
  const name = routeName(first)
  const waitMs = waitOf(first)
  const isBound = isMostlyGivenUp(first)
  const than = isSlowerThanUsual(first, figures)
    ? ` Usually they wait ${duration(Number(first.usualMs))}.`
    : ''
  return {
    severity: isMuch && isSlower ? 'high' : 'medium',
    share: ofTime,
    route: name,
    summary: `Requests of ${name}${others.length === 0 ? '' : ` and ${counted(others.length, 'other route')}`} wait ${isBound ? 'at least ' : ''}${duration(waitMs)} on average${mostly}.${isBound ? ' Most of their clients leave before an answer.' : ''}${than}${more} The event loop is idle for ${percent(1 - loop.utilization)} of the time.`,
    evidence: [
      evidence(`until the answer begins${isBound ? ', or the client leaves' : ''}`, waitMs, 'ms'),
      // A process that is slow from its start soon has this duration as its usual one.
      ...(than === '' ? [] : [evidence('usual duration', Number(first.usualMs), 'ms')]),
      ...(first.quantiles === undefined ? [] : [evidence('p99', first.quantiles.p99Ms, 'ms')]),
      ...mostOfTime([first]),
      evidence('share of all requests', share, 'share of requests'),
      evidence('event loop busy', loop.utilization, 'share of the time'),
      ...(starvedShare === 0 ? [] : [evidence('waiting for a CPU', starvedShare, 'share of the time')]),
      ...ofCause,
    ],
    ...advice,
  }
}

/**
 * Says what holds a connection, and that other requests wait meanwhile.
 *
 * @param {RouteFigures} route @param {Held} held @param {HeldCall | undefined} heldCall
 */
function describeHeld(route, { pool, query, use }, heldCall) {
  const what =
    query === undefined
      ? `${routeName(route)} uses a connection for ${duration(use.totalMs / use.count)}${use.usualMs === undefined ? '' : `, and usually for ${duration(use.usualMs)}`}${duringHold(heldCall)}`
      : `The query ${query.query} takes ${duration(query.totalMs / query.count)}`
  return ` ${what}. So all connections of the pool '${pool.name}' are in use, and requests wait for one.`
}

/** @param {HeldCall | undefined} heldCall */
function duringHold(heldCall) {
  if (heldCall === undefined) return ''
  const { call, share } = heldCall
  return `: ${percent(share)} of that time it calls ${call.host} (${duration(call.totalMs / call.count)} a call)`
}

/** @param {Held} held */
const figuresOfHeld = ({ pool, query, use }) => [
  evidence(`mean time of a use of the pool '${pool.name}'`, use.totalMs / use.count, 'ms'),
  ...(query === undefined
    ? []
    : [evidence(`mean time of ${query.query}`, query.totalMs / query.count, 'ms')]),
  evidence('mean wait for a connection', pool.meanWaitMs, 'ms'),
]

/** @param {string | undefined} what */
const mostlyOf = (what) => (what === undefined ? '' : `, most of it for ${what}`)

/** @param {RouteFigures} route @param {UseFigures | undefined} query @param {Held | undefined} held */
function lookAt(route, query, held) {
  if (query !== undefined)
    return `Look at the plan of ${query.query}, over the pool '${query.pool}': a missing index, or more rows than are needed.`
  const name = routeName(route)
  if (held === undefined) {
    const orNever = isMostlyGivenUp(route) ? ', or a promise that never settles' : ''
    return `Look at what ${name} awaits: a database, another service, a file system${orNever}. If it waits on purpose, as a long poll does, leave it out with \`ignore.log\`.`
  }
  const shown = mayShowQueries(held.pool) ? ' `queries: true` shows the time of each query.' : ''
  return `Look at what ${name} does with a connection of the pool '${held.pool.name}'.${shown}`
}

module.exports = rule
