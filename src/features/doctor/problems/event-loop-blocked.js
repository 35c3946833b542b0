'use strict'
// Synchronous code holds the loop while everything else waits. Collections and waits for a CPU are
// subtracted, because other rules find them. Turns with many cheap requests mean a full loop, not a blocked
// loop.
// - Found if turns of 50 ms or more take a twentieth of the time. One request in twenty then waits for such a
//   turn. Severity high from a fifth of the time.
// - Also found if turns of 20 ms or more take half of the time, and the loop is busy for at least 70 %. When
//   two requests meet, one waits for 20 ms. When ten meet, the last waits for about 200 ms. An example is a
//   synchronous pbkdf2 of 38 ms at 20 requests a second. Severity high.
// - Also found below these limits if three or more stalls of one place take a hundredth of the time. They are
//   rare, but they decide the p99. Severity low.
// - Turns count only if they took 10 ms or more for each request that ended in them. Other turns consist of
//   many cheap requests.
// - Time for which the loop's thread slept in a synchronous call counts in any case. After such a call, many
//   cheap requests wait, and the next turns consist of them.

const { evidence, mostOfTime, percent, ranShare, sleptShare } = require('../evidence')
const { adviceForPlace, callText, functionName, isOfTimer, originText, placesOf } = require('../stall-places')
const { counted, duration, routeName } = require('../../../core/readable')

/** @import { Figures, RouteFigures, StallFigures, Turns } from '../figures' */

const SOME = 0.05
const MUCH = 0.2
const RARE = 0.01
/** Fewer blocks may be chance. */
const FEWEST_RARE = 3
const BUSY = 0.7
const LONG_SHARE = 0.5
const MIN_MS_OF_ONE = 10
/** Least share of the loop's busy time for a route to be named. */
const MOST = 0.5
/**
 * A place is a function in a route. Unless a place has this share of the stall time in code, other places are
 * mentioned too.
 */
const NEARLY_ALL = 0.9
const MAX_PLACES = 3

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'event-loop-blocked',
  explains: ['cpu-saturated', 'overloaded'],
  find(figures) {
    const { loop, gc, requests, routes, scheduler, seconds } = figures
    /** @param {Turns} turns */
    const netOf = (turns) =>
      isOfFew(turns, seconds) ? Math.max(0, turns.share * ranShare(scheduler) - gc.share) : 0
    const veryLong = Math.max(netOf(loop.veryLong), loop.veryLong.count > 0 ? sleptShare(figures) : 0)
    const long = loop.utilization >= BUSY ? netOf(loop.long) : 0
    const share = Math.max(veryLong, long)
    if (veryLong < SOME && long < LONG_SHARE) return loop.utilization < BUSY ? rareClaims(figures) : []
    const turns = veryLong >= long / 2 ? loop.veryLong : loop.long
    const meanMs = (turns.share * seconds * 1000) / turns.count
    const places = placesOf(figures)
    const { site, route } = culpritOf(figures, places)
    return [
      {
        severity: veryLong >= MUCH || long >= LONG_SHARE ? 'high' : 'medium',
        share,
        route,
        summary: `${subjectOf(site, route)} blocked the event loop for ${percent(share)} of the time${site === undefined ? '' : `, in ${functionName(site)}${callText(site)}${withOthers(places)}`}: ${counted(turns.count, 'loop turn')} of ${duration(meanMs)} on average, the longest ${duration(loop.longestMs)}.`,
        evidence: [
          evidence('long loop turns', turns.share, 'share of the time'),
          evidence('long loop turns', turns.count, 'turns'),
          evidence('longest loop turn', loop.longestMs, 'ms'),
          evidence('event loop busy', loop.utilization, 'share of the time'),
          evidence('garbage collection', gc.share, 'share of the time'),
          ...placeEvidence(places, seconds),
          ...loopEvidence(routes, route),
          ...mostOfTime(routes),
          ...unreadEvidence(routes, requests.count),
          ...(scheduler === undefined
            ? []
            : [evidence('waiting for a CPU', scheduler.waitShare, 'share of the time')]),
        ],
        advice: adviceFor(site, route),
      },
    ]
  },
}

/** Finds stalls in one place that are too rare for the rest of the rule. @param {Figures} figures */
function rareClaims(figures) {
  const [site] = placesOf(figures)
  if (site === undefined) return []
  const meanMs = site.totalMs / site.count
  const count = Math.round(site.ms / meanMs)
  const share = (site.ms / 1000 / figures.seconds) * ranShare(figures.scheduler)
  if (share < RARE || count < FEWEST_RARE) return []
  const route = site.route === null ? null : routeName(site)
  return [
    {
      severity: /** @type {const} */ ('low'),
      share,
      route,
      summary: `${subjectOf(site, route)} blocked the event loop ${counted(count, 'time')} for ${duration(meanMs)} on average, in ${functionName(site)}${callText(site)}: about ${percent(share)} of all requests, the slowest ones, wait for such a block.`,
      evidence: [
        evidence('blocked in this function', share, 'share of the time'),
        evidence('blocks', count),
        evidence('longest loop turn', figures.loop.longestMs, 'ms'),
      ],
      advice: adviceFor(site, route),
    },
  ]
}

/** Loop time of the route's handlers. @param {RouteFigures[]} routes @param {string | null} name */
function loopEvidence(routes, name) {
  const found = routes.find((route) => route.loopShare !== undefined && routeName(route) === name)
  return found === undefined
    ? []
    : [evidence(`handlers of ${name}`, /** @type {number} */ (found.loopShare), 'share of the time')]
}

/**
 * Clients also wait while a request is unread in the socket, but no duration includes this time.
 *
 * @param {RouteFigures[]} routes
 * @param {number} count
 */
function unreadEvidence(routes, count) {
  const known = routes.filter(({ unreadMs }) => unreadMs !== undefined)
  if (known.length === 0 || count === 0) return []
  const unreadMs = known.reduce((sum, route) => sum + Number(route.unreadMs), 0)
  return [
    evidence('upper bound of the mean time that requests were unread in the socket', unreadMs / count, 'ms'),
  ]
}

/** @param {Turns} turns @param {number} seconds */
const isOfFew = ({ count, requests, share }, seconds) =>
  count > 0 && (share * seconds * 1000) / Math.max(count, requests) >= MIN_MS_OF_ONE

/**
 * The route that the stalls name, or else the one whose handlers took most of the loop's time.
 *
 * @param {Figures} figures
 * @param {StallFigures[]} places
 */
function culpritOf({ loop, routes }, [site]) {
  if (site !== undefined) return { site, route: site.route === null ? null : routeName(site) }
  const known = routes.filter(({ loopShare }) => loopShare !== undefined)
  const [first] = known.sort((a, b) => Number(b.loopShare) - Number(a.loopShare))
  const isMost = first !== undefined && Number(first.loopShare) >= MOST * loop.utilization
  return { site: undefined, route: isMost ? routeName(first) : null }
}

/** @param {StallFigures | undefined} site @param {string | null} route */
function subjectOf(site, route) {
  if (route !== null) return route
  if (site === undefined) return 'Synchronous code'
  return isOfTimer(site) ? 'A timer' : `Code in ${originText(site)}`
}

/**
 * If two routes call the same function, the function name alone would not distinguish them.
 *
 * @param {StallFigures} site
 */
function placeName(site) {
  return `${functionName(site)} in ${site.route === null ? originText(site) : routeName(site)}`
}

/**
 * Says how many other places there are, because the finding counts the turns of all places.
 *
 * @param {StallFigures[]} places
 */
function withOthers(places) {
  const totalMs = places.reduce((sum, { ms }) => sum + ms, 0)
  if (places.length < 2 || places[0].ms >= NEARLY_ALL * totalMs) return ''
  return ` and ${counted(places.length - 1, 'other place')}`
}

/** @param {StallFigures[]} places @param {number} seconds */
const placeEvidence = (places, seconds) =>
  withOthers(places) === ''
    ? []
    : places
        .slice(0, MAX_PLACES)
        .map((site) =>
          evidence(`stalls in ${placeName(site)}`, site.ms / 1000 / seconds, 'share of the time')
        )

/** @param {StallFigures | undefined} site @param {string | null} route */
function adviceFor(site, route) {
  if (site === undefined) {
    const where = route === null ? '' : ` in ${route}`
    return `Find the function with a CPU profile (\`npx spillway profile\`)${where}. Then split its work up, use an asynchronous variant, or move the work to a worker thread.`
  }
  return adviceForPlace(site, route)
}

module.exports = rule
