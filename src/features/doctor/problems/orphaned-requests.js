'use strict'
// Handlers that never answer: a path without `res.end()`, a promise that stays pending, a callback that is
// never called. Their memory and their slot are not freed.
// - Found if requests are unanswered after 30 seconds and after three times the p99 of the route. So a route
//   that usually answers after a minute is not found, because its p99 is long.
// - Routes with fewer than 20 answers are skipped. Routes without any answer need three pending requests.
// - Also found if clients gave up: three of the slowest requests of a route were disconnected before an
//   answer began. They had waited for a second, and for ten times the route's median. If a client gives up
//   after 10 seconds, no request stays in flight for 30 seconds.
// - Such clients do not count if calls to one host, or uses of one pool, took at least half of the route's
//   time. These calls ended, so the handler would have answered.
// - Severity high from ten such requests, because each keeps its memory and its slot for ever.

const { counted, duration, routeName } = require('../../../core/readable')
const { costliestCall, evidence, isMostlyInPool } = require('../evidence')

/**
 * @import { Figures } from '../figures'
 * @import { Claim } from '../rules'
 * @import { Unanswered } from '../waiting-requests'
 */

const TIMES_P99 = 3
const FEWEST_ANSWERED = 20
const FEWEST_NEVER = 3
const GAVE_UP_MS = 1000
const TIMES_P50 = 10
const FEWEST_GAVE_UP = 3
const MANY = 10

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'orphaned-requests',
  explains: ['slow-dependency', 'pool-exhausted', 'aborted-requests'],
  find(figures) {
    const orphans = figures.unanswered.filter(isOrphaned).sort((a, b) => b.count - a.count)
    if (orphans.length > 0) return [inFlightClaim(orphans[0], figures.requests.inFlight)]
    return gaveUpClaims(figures)
  },
}

/** @param {Unanswered} requests */
function isOrphaned({ answered, count, oldestMs, p99Ms }) {
  if (answered === 0) return count >= FEWEST_NEVER
  return answered >= FEWEST_ANSWERED && oldestMs >= TIMES_P99 * p99Ms
}

/** @param {Unanswered} first @param {number} inFlight @returns {Claim} */
function inFlightClaim(first, inFlight) {
  const { answered, count, oldestMs, p99Ms } = first
  const name = routeName(first)
  const others =
    answered === 0
      ? 'No request of this route was ever answered'
      : `99 % of the requests of this route are answered in ${duration(p99Ms)}`
  return {
    severity: count >= MANY ? 'high' : 'medium',
    share: inFlight > 0 ? Math.min(1, count / inFlight) : 0,
    route: name,
    summary: `${counted(count, 'request')} of ${name} ${count === 1 ? 'is' : 'are'} still unanswered; the oldest has waited ${duration(oldestMs)}. ${others}.`,
    evidence: [
      evidence('unanswered for 30 seconds or more', count, 'requests'),
      evidence('age of the oldest', oldestMs / 1000, 's'),
      evidence('p99 of the route', p99Ms, 'ms'),
      evidence('in flight', inFlight, 'requests'),
    ],
    advice: adviceFor(name),
  }
}

/** @param {string} name */
const adviceFor = (name) =>
  `Look in ${name} for a path that does not answer. It may be a callback that is not called on an error, a promise that never settles, or a missing \`return next(error)\`. Set \`errors.timeout\` so that such requests are answered with 503 and release what they hold.`

/** @param {Figures} figures */
function gaveUpClaims({ gaveUp, outgoing, poolUses, routes }) {
  /** @type {Claim[]} */
  const claims = []
  for (const route of routes) {
    if (route.quantiles === undefined) continue
    const leastMs = Math.max(GAVE_UP_MS, TIMES_P50 * route.quantiles.p50Ms)
    const left = gaveUp.filter(
      (each) => each.method === route.method && each.route === route.route && each.durationMs >= leastMs
    )
    if (left.length < FEWEST_GAVE_UP) continue
    if (costliestCall(route, outgoing) !== undefined || isMostlyInPool(route, poolUses)) continue
    const name = routeName(route)
    const longestMs = Math.max(...left.map(({ durationMs }) => durationMs))
    claims.push({
      severity: left.length >= MANY ? 'high' : 'medium',
      share: Math.min(1, route.aborted / route.count),
      route: name,
      summary: `Clients of ${name} gave up without an answer, after up to ${duration(longestMs)}. Half of the requests of this route take ${duration(route.quantiles.p50Ms)}.`,
      evidence: [
        evidence('requests whose client gave up, among the slowest', left.length, 'requests'),
        evidence('aborted', route.aborted, 'requests'),
        evidence('requests', route.count, 'requests'),
        evidence('p50 of the route', route.quantiles.p50Ms, 'ms'),
      ],
      advice: adviceFor(name),
    })
  }
  return claims.slice(0, 1)
}

module.exports = rule
