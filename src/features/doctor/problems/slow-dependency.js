'use strict'
// Requests wait for something outside of the process, while the loop has time: the answer begins late, and
// nothing here computes.
// - Slower than usual: three times what the route took in the last hour, and 100 ms more, for at least ten
//   requests. A cache that is
//   cold, or more rows in the evening, seldom make it three times.
// - Or two seconds, usual or not: by then people leave.
// - A route with many calls for each request is claimed by many-calls.js, and here only if a call takes three
//   times as long as usual.
// - Routes that answer less than half of their requests are skipped: their duration is the timeout of their
//   clients.
// - A loop that is busy for seven tenths may be what they wait for. Waiting for a CPU does not count as busy.
// - Time lost to other processes is discounted: a request loses the same share of its time as the loop. Above
//   half, the host is the larger cause, and the rule is silent.
// - A handler that computes is not a dependency. Where parts are measured, half of the time that a free loop
//   leaves is a wait. High: a fifth of all requests are of such routes, and they became slower.

const {
  costliestCall,
  costliestQuery,
  evidence,
  manyCallsOf,
  mayWaitOutside,
  mostOfTime,
  ownBusyShare,
} = require('../evidence')
const { adviceOfCall, describeCall, figuresOfCall } = require('../call-parts')
const { counted, duration, percent, routeName } = require('../../../core/readable')
const { MUCH } = require('../reading')

/** @import { Figures, RouteFigures } from '../figures' */

const LEAST_MORE_MS = 100
const LONG_MS = 2000
const FEWEST = 10
const MOST_BUSY = 0.7
const MOST_STARVED = 0.5
const MANY = 0.2

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'slow-dependency',
  find(figures) {
    const { loop, outgoing, requests, routes, scheduler } = figures
    const starvedShare = scheduler?.waitShare ?? 0
    if (ownBusyShare(loop, scheduler) >= MOST_BUSY || starvedShare >= MOST_STARVED) return []
    /** @param {RouteFigures} route */
    const ownWaitOf = ({ firstByteMs }) => firstByteMs * (1 - starvedShare)
    const slow = routes.filter(
      (route) => isSlow(route, ownWaitOf(route), figures) && mayWaitOutside(route, loop)
    )
    if (slow.length === 0) return []
    const [first, ...others] = slow
    const share = slow.reduce((sum, { count }) => sum + count, 0) / requests.count
    const isSlower = slow.some((route) => isSlowerThanUsual(route, ownWaitOf(route)))
    const name = routeName(first)
    const call = costliestCall(first, outgoing)
    const query = call === undefined ? costliestQuery(first, figures.poolUses) : undefined
    const waitMs = first.firstByteMs
    const than = isSlowerThanUsual(first, ownWaitOf(first))
      ? `, ${duration(Number(first.usualMs))} usually`
      : ''
    return [
      {
        severity: share >= MANY && isSlower ? 'high' : 'medium',
        share: slow.reduce((sum, { timeShare }) => sum + timeShare, 0),
        route: name,
        summary: `Requests of ${name}${others.length === 0 ? '' : ` and ${counted(others.length, 'other route')}`} wait ${duration(waitMs)} on average${than}${mostlyOf(call?.host ?? query?.query)}.${call === undefined ? '' : describeCall(call)} The event loop is idle for ${percent(1 - loop.utilization)} of the time.`,
        evidence: [
          evidence('until the answer begins', waitMs, 'ms'),
          ...(first.usualMs === undefined ? [] : [evidence('usual duration', first.usualMs, 'ms')]),
          ...(first.quantiles === undefined ? [] : [evidence('p99', first.quantiles.p99Ms, 'ms')]),
          ...mostOfTime([first]),
          evidence('share of all requests', share, 'share of requests'),
          evidence('event loop busy', loop.utilization, 'share of the time'),
          ...(starvedShare === 0 ? [] : [evidence('waiting for a CPU', starvedShare, 'share of the time')]),
          ...(call === undefined ? [] : figuresOfCall(call).map((figure) => evidence(...figure))),
        ],
        advice: `${call === undefined ? lookAt(name, query) : adviceOfCall(call)} Give the call a timeout, so that its slowness does not fill this process. Answer from a cache or without it where possible.`,
      },
    ]
  },
}

/** @param {string | undefined} what */
const mostlyOf = (what) => (what === undefined ? '' : `, most of it for ${what}`)

/** @param {string} name @param {import('../figures').UseFigures | undefined} query */
const lookAt = (name, query) =>
  query === undefined
    ? `Look at what ${name} awaits: a database, another service, a file system.`
    : `Look at the plan of ${query.query}, over the pool '${query.pool}': a missing index, or more rows than are needed.`

/** @param {RouteFigures} route @param {number} ms */
const isSlowerThanUsual = ({ usualMs }, ms) =>
  usualMs !== undefined && ms >= MUCH * usualMs && ms - usualMs >= LEAST_MORE_MS

/** @param {RouteFigures} route @param {number} ms its own wait @param {Figures} figures */
function isSlow(route, ms, figures) {
  if (route.count < FEWEST || !(isSlowerThanUsual(route, ms) || ms >= LONG_MS)) return false
  const calls = manyCallsOf(route, figures)
  return calls === undefined || calls.totalMs / calls.count >= MUCH * Number(calls.usualMs)
}

module.exports = rule
