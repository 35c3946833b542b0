'use strict'
// Requests wait for a connection of a pool. A pool that was given to `pool()` is measured (short-pools.js).
// For other pools the wait is inferred: requests wait for each other, for a connection, a lock or a
// semaphore, although the loop has time. Then the duration grows in proportion to the requests in flight
// (core/request/load-slope.js). Behind a slow dependency it does not grow.
// - The elasticity must be 0.4: on the fitted line, twice the mean number in flight means 1.4 times the mean
//   duration. The correlation must be 0.5: requests in flight explain a quarter of the variance, which chance
//   does not reach with fifty requests.
// - The mean duration must be 50 ms, with three requests in flight on average. Below that no request waits
//   long.
// - Nothing is inferred if the loop is busy for eight tenths of the time, because requests then wait for each
//   other on the loop. The same applies while the thread waits for a CPU. It does not apply to a route whose
//   clients give up, and which is slower than usual even without the time lost to other processes. Requests
//   that were rejected for a pool are a finding all the same, because no other rule counts them.
// - While most clients give up, the slope of the last answered requests stays, so the finding stays too. The
//   time until clients leave is then a lower bound of the duration.
// - Severity high from a mean of 250 ms, because the wait is then most of the duration.
// - Nothing is inferred for a route that spends its time in a pool given to `pool()`, because the wait
//   for this pool is measured.
// - If a pool is short because its uses are slow, this finding is an effect of the slow uses: slow-routes.js.
//   It then advises no size, because uses will be quicker again.

const {
  clientsGiveUp,
  costliestCall,
  evidence,
  isMostlyGivenUp,
  isMostlyInPool,
  mayWaitOutside,
  mostOfTime,
  percent,
} = require('../evidence')
const { counted, duration, routeName } = require('../../../core/readable')
const { isLeaking, rejectingPools, shortPools } = require('../short-pools')
const { isSlowerThanUsual, slowRoutes } = require('../slow-routes')

/**
 * @import { Figures, RouteFigures } from '../figures'
 * @import { Claim } from '../rules'
 * @import { NamedClaim } from '../short-pools'
 * @typedef {(pool: import('../feature-figures').PoolFigures) => boolean} IsEffect whether slow uses make the
 *   pool short
 */

const ELASTICITY = 0.4
const CORRELATION = 0.5
const FEWEST = 50
const MIN_MS = 50
const MIN_IN_FLIGHT = 3
const MAX_BUSY = 0.8
const MAX_STARVED = 0.2
/** As in slow-dependency.js. */
const MAX_STARVED_IF_SLOW = 0.5
const FULL_SHARE = 0.5
const LONG_MS = 250
/** Share of the time of all requests. One small route with its own lock is only a hint. */
const MIN_SHARE = 0.1

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'pool-exhausted',
  explains: ['slow-dependency', 'orphaned-requests', 'aborted-requests'],
  makesOthersWait: ({ pools = [] }) => pools.some(isLeaking),
  find(figures) {
    const { holding } = slowRoutes(figures)
    const held = new Set(holding.map(({ pool }) => pool.name))
    const known = knownOf(figures, ({ name }) => held.has(name))
    if (known.length > 0)
      return known.map(({ pool, ...claim }) =>
        held.has(pool) ? { ...claim, causedBy: 'slow-dependency' } : claim
      )
    return inferredOf(figures)
  },
}

/** @param {Figures} figures */
const isStarved = ({ scheduler }) => (scheduler?.waitShare ?? 0) >= MAX_STARVED

/** Whether a full loop, or the wait for a CPU, may be what requests wait for. @param {Figures} figures */
const isHeldUp = (figures) => isStarved(figures) || figures.loop.utilization >= MAX_BUSY

/**
 * Finds pools that were given to `pool()`.
 *
 * @param {Figures} figures @param {IsEffect} isEffect @returns {NamedClaim[]}
 */
function knownOf(figures, isEffect) {
  if (!isHeldUp(figures)) return shortPools(figures, isEffect)
  const rejecting = rejectingPools(figures, isEffect)
  return rejecting.length > 0 || !isStarved(figures) ? rejecting : fullPools(figures, isEffect)
}

/**
 * A process that waits for a CPU gives its connections back late, and everything takes longer. A pool given
 * to `pool()` is still short in one case: all its connections are in use, and callers wait for half of the
 * time. The mean wait must also be longer than a use.
 *
 * @param {Figures} figures
 * @param {IsEffect} isEffect
 * @returns {NamedClaim[]}
 */
function fullPools({ pools = [], ...figures }, isEffect) {
  const full = pools.filter(
    ({ held, max, meanUseMs, meanWaitMs, waitingShare }) =>
      held.count >= max && waitingShare >= FULL_SHARE && meanWaitMs >= meanUseMs
  )
  return shortPools({ ...figures, pools: full }, isEffect).map((claim) => ({ ...claim, severity: 'medium' }))
}

/**
 * Whether a full loop, or the wait for a CPU, may explain that requests of the route wait for each other.
 *
 * @param {RouteFigures} route @param {Figures} figures
 */
function mayBeHeldUp(route, figures) {
  if (!isHeldUp(figures)) return false
  const { loop, scheduler } = figures
  if (loop.utilization >= MAX_BUSY || (scheduler?.waitShare ?? 0) >= MAX_STARVED_IF_SLOW) return true
  return !(clientsGiveUp(route) && isSlowerThanUsual(route, figures))
}

/** @param {Figures} figures @returns {Claim[]} */
function inferredOf(figures) {
  const { loop, routes, seconds, outgoing, poolUses } = figures
  const waiting = routes.filter(
    (route) =>
      isWaiting(route, seconds) &&
      !mayBeHeldUp(route, figures) &&
      mayWaitOutside(route, loop) &&
      // If calls to another host take most of the time, these calls are slow, and not a pool.
      costliestCall(route, outgoing) === undefined &&
      // Here a pool that was given to `pool()` is not short, so long uses are slow queries.
      !isMostlyInPool(route, poolUses) &&
      route.timeShare >= MIN_SHARE
  )
  if (waiting.length === 0) return []
  const [first, ...others] = waiting
  const share = waiting.reduce((sum, { timeShare }) => sum + timeShare, 0)
  const inFlight = (first.count * first.meanMs) / 1000 / seconds
  const name = routeName(first)
  return [
    {
      severity: first.meanMs >= LONG_MS ? 'high' : 'medium',
      share,
      route: name,
      summary: `Requests of ${name}${others.length === 0 ? '' : ` and ${counted(others.length, 'other route')}`} wait for each other. They take ${isMostlyGivenUp(first) ? 'at least ' : ''}${duration(first.meanMs)} on average, and longer in proportion to the requests in flight, although the event loop is idle for ${percent(1 - loop.utilization)} of the time.`,
      evidence: [
        evidence('mean duration', first.meanMs, 'ms'),
        ...mostOfTime([first]),
        evidence('in flight, on average', inFlight, 'requests'),
        evidence(
          'duration with twice as many requests in flight',
          1 + first.load.elasticity,
          'times as long'
        ),
        evidence('requests', first.count, 'requests'),
        evidence('event loop busy', loop.utilization, 'share of the time'),
      ],
      advice: `Look for what ${name} has too few of. It may be a pool, or a lock, a queue or a limiter of the application's own, such as a mutex or \`p-limit\`. Hold it as briefly as possible, best not while a call is awaited, and release it on every path. Then allow more at a time, as far as the database or service behind it can bear. If it is a pool, give it to \`spillway.pool()\`: the finding then names the route that holds its connections longest.`,
    },
  ]
}

/** @param {RouteFigures} route @param {number} seconds */
function isWaiting({ count, meanMs, load }, seconds) {
  if (count < FEWEST || load.count < FEWEST || meanMs < MIN_MS) return false
  if ((count * meanMs) / 1000 / seconds < MIN_IN_FLIGHT) return false
  return load.elasticity >= ELASTICITY && load.correlation >= CORRELATION
}

module.exports = rule
