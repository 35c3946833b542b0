'use strict'
// Clients of a route disconnect before an answer begins: their timeout has passed, or that of a proxy.
// - Found if a tenth of the route's requests are aborted, and at least five. On average, that is after a
//   second or more: `clientsGiveUp` in evidence.js.
// - Event streams do not count, because their answer has begun. Long polls of Socket.IO do not count either,
//   nor routes that `ignore.log` leaves out.
// - A handler that goes on after its client has left does not hang: features/waste/ counts such requests. If
//   there are five, and a tenth of those that gave up, requests wait inside the process.
// - Severity high from a fifth of the requests, as in errors.js, because clients see a timeout as an error.

const { counted, duration, routeName } = require('../../../core/readable')
const { clientsGiveUp, evidence, isMostlyGivenUp, percent } = require('../evidence')

/**
 * @import { RouteFigures } from '../figures'
 * @import { Claim } from '../rules'
 */

const MANY = 0.2
/** Fewest requests whose handler went on after the client had left, and their share of those that gave up. */
const FEWEST_LATE = 5
const LATE = 0.1
const STOP_WORK =
  'Stop work whose client has left: pass `spillway.signal(req)` to what the handler awaits, or call its `throwIfAborted()` after the wait.'

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'aborted-requests',
  find({ routes, wasted = [] }) {
    const left = routes.filter(clientsGiveUp).sort((a, b) => b.gaveUp.count - a.gaveUp.count)
    if (left.length === 0) return []
    const late = wasted.find(({ method, route }) => method === left[0].method && route === left[0].route)
    return [claimOf(left[0], late?.requests ?? 0, left.length - 1)]
  },
}

/**
 * @param {RouteFigures} route
 * @param {number} late requests whose handler went on after its client had left
 * @param {number} others
 * @returns {Claim}
 */
function claimOf(route, late, others) {
  const { answeredMs, count, errors, gaveUp } = route
  const name = routeName(route)
  const share = gaveUp.count / count
  const isAnswered = !Number.isNaN(answeredMs)
  const answers = isAnswered
    ? `it answers the others in ${duration(answeredMs)} on average`
    : `none of its ${counted(count, 'request')} was answered`
  return {
    severity: share >= MANY ? 'high' : 'medium',
    share,
    route: name,
    summary: `Clients of ${name} give up: ${percent(share)} of its requests are aborted after ${duration(gaveUp.meanMs)} on average, and ${answers}${isLate(route, late) ? `. ${counted(late, 'handler')} went on after their clients had left, so requests wait inside the process` : ''}${others === 0 ? '' : `. Clients of ${counted(others, 'other route')} give up too`}.`,
    evidence: [
      evidence('aborted before an answer began', gaveUp.count, 'requests'),
      evidence('requests of the route', count, 'requests'),
      evidence('mean time until a client gave up', gaveUp.meanMs, 'ms'),
      ...(isAnswered ? [evidence('mean duration of an answered request', answeredMs, 'ms')] : []),
      evidence('failed requests of the route', errors, 'requests'),
      ...(late > 0 ? [evidence('handlers that went on after their client had left', late, 'requests')] : []),
    ],
    advice: adviceOf(route, late),
    adviceIfCausedBy: (problem) =>
      `Look at ${problem} first, which makes these clients wait. Meanwhile, set \`errors.timeout\` to less than ${duration(gaveUp.meanMs)}, so that clients get an answer. ${STOP_WORK}`,
  }
}

/** @param {RouteFigures} route @param {number} late */
const isLate = (route, late) =>
  isMostlyGivenUp(route) && late >= FEWEST_LATE && late >= LATE * route.gaveUp.count

/** @param {RouteFigures} route @param {number} late */
function adviceOf(route, late) {
  const { answeredMs, gaveUp } = route
  const name = routeName(route)
  const patience = duration(gaveUp.meanMs)
  if (isLate(route, late))
    return `Look for what requests of ${name} wait for: a lock, a queue, a limiter or a pool of the application, or a slow call. ${STOP_WORK} Set \`errors.timeout\` to less than ${patience}, so that clients get an answer.`
  if (Number.isNaN(answeredMs))
    return `Look in ${name} for a path that does not answer: a callback that is not called, a promise that never settles, a call without a timeout. Set \`errors.timeout\` to less than ${patience}, so that clients get an answer.`
  return `Look at what ${name} awaits, and give each call a timeout shorter than ${patience}, so that clients get an answer. ${STOP_WORK}`
}

module.exports = rule
