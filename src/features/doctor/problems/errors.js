'use strict'
// A route, or most of the process, answers with errors: a status of 500 or more, an answer that was cut off,
// or a timeout.
// - Found if a twentieth of a route's requests fail, and at least five. Retries hide fewer errors than that.
// - Severity high from a fifth of a route, or a twentieth of all requests.
// - An event of a socket is judged like a route: a failed message counts as a failed request.
// - The sentence compares the share with the share of this process until a minute ago. If the route failed as
//   much before, or had fewer than twenty requests, it compares with the previous release.
// - The sentence names a host that the route calls, if as many of these calls fail as requests.

const { counted, routeName } = require('../../../core/readable')
const { evidence, percent } = require('../evidence')
const { callsBehindErrors, shareFailing, shareFigure } = require('../failing-calls')

/** @import { Figures, RouteFigures } from '../figures' */

const SOME = 0.05
const FEWEST = 5
const MANY = 0.2
/** If the share has grown by this factor, the route has begun to fail. */
const BEGUN = 3
const FEWEST_BEFORE = 20

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'errors',
  find({ errorKinds, events, outgoing, requests, routes }) {
    const failing = [...routes, ...events]
      .filter(({ count, errors }) => errors >= FEWEST && errors / count >= SOME)
      .sort((a, b) => b.errors - a.errors)
    if (failing.length === 0) return []
    const [first, ...others] = failing
    const all = sumsOf(requests, events)
    const share = all.errors / all.count
    const name = routeName(first)
    const ratio = first.errors / first.count
    const kind = errorKinds.find(({ route }) => route === first.route || route === name)
    const calls = callsBehindErrors(first, outgoing)
    const { before } = first
    const ratioBefore = before.count >= FEWEST_BEFORE ? before.errors / before.count : undefined
    const hasBegun = ratioBefore !== undefined && ratio >= BEGUN * ratioBefore
    const previous = hasBegun ? undefined : betterRelease(first, ratio)
    return [
      {
        severity: ratio >= MANY || share >= SOME ? 'high' : 'medium',
        share,
        route: name,
        summary: `${name} ${hasBegun ? 'has begun to fail' : previous === undefined ? 'fails' : 'fails since this release'}: ${percent(ratio)} of its requests${beforeOf(ratioBefore, previous)}${kindOf(kind)}${calls === undefined ? '' : `. ${shareFailing(calls)}`}${others.length === 0 ? '' : `. ${counted(others.length, 'other route')} fail too`}.`,
        evidence: [
          evidence('failed requests of the route', first.errors, 'requests'),
          evidence('requests of the route', first.count, 'requests'),
          evidence('failed requests of all routes', all.errors, 'requests'),
          ...(ratioBefore === undefined ? [] : [evidence('before', ratioBefore, 'share of requests')]),
          ...(previous === undefined
            ? []
            : [evidence('in the previous release', previous.errorRatio, 'share of requests')]),
          ...(kind === undefined ? [] : [evidence(`${kind.type} (${kind.status})`, kind.count, 'errors')]),
          ...(calls === undefined ? [] : [evidence(...shareFigure(calls))]),
        ],
        advice: `${calls === undefined ? '' : `Look at why calls to ${calls.host} fail. `}Look for ${kind === undefined ? 'errors' : kind.type} of ${name} in the log${reasonOf(hasBegun, previous)}.`,
      },
    ]
  },
}

/**
 * Returns the previous release, if the route failed much less in it. For events of sockets it is not known.
 *
 * @param {RouteFigures | Figures['events'][number]} first @param {number} ratio
 */
function betterRelease(first, ratio) {
  const previous = 'previous' in first ? first.previous : undefined
  if (previous === undefined || previous.count < FEWEST_BEFORE) return undefined
  return ratio >= BEGUN * previous.errorRatio ? previous : undefined
}

/** @param {number | undefined} ratioBefore @param {RouteFigures['previous']} previous */
function beforeOf(ratioBefore, previous) {
  if (previous === undefined) return ratioBefore === undefined ? '' : `, ${percent(ratioBefore)} before`
  const { errorRatio, release } = previous
  return `, ${percent(errorRatio)} in the previous release${release === '' ? '' : ` ${release}`}`
}

/** @param {Figures['errorKinds'][number] | undefined} kind */
function kindOf(kind) {
  if (kind === undefined) return ''
  return `, mostly with ${kind.type} (${kind.status})${kind.place === null ? '' : ` thrown at ${kind.place}`}`
}

/** @param {boolean} hasBegun @param {RouteFigures['previous']} previous */
function reasonOf(hasBegun, previous) {
  if (previous !== undefined)
    return '. Then look at what this release has changed. Until that is fixed, roll back to the previous release'
  return hasBegun ? '. Then look at what has changed: the last deploy, or a dependency of this route' : ''
}

/** Sums requests and messages. @param {Figures['requests']} requests @param {Figures['events']} events */
function sumsOf(requests, events) {
  /** @param {'count' | 'errors'} key */
  const sum = (key) => events.reduce((total, event) => total + event[key], requests[key])
  return { count: sum('count'), errors: sum('errors') }
}

module.exports = rule
