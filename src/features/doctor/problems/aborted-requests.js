'use strict'
// Clients of a route disconnect before an answer begins: their timeout has passed, or that of a proxy.
// - Found if a tenth of the route's requests are aborted, and at least five. On average, that is after a
//   second or more: `clientsGiveUp` in evidence.js.
// - Event streams do not count, because their answer has begun. Long polls of Socket.IO do not count either,
//   nor routes that `ignore.log` leaves out.
// - Severity high from a fifth of the requests, as in errors.js, because clients see a timeout as an error.

const { counted, duration, percent, routeName } = require('../../../core/readable')
const { clientsGiveUp, evidence } = require('../evidence')

/**
 * @import { RouteFigures } from '../figures'
 * @import { Claim } from '../rules'
 */

const MANY = 0.2

/** @type {import('../rules').Rule} */
const rule = {
  problem: 'aborted-requests',
  find({ routes }) {
    const left = routes.filter(clientsGiveUp).sort((a, b) => b.gaveUp.count - a.gaveUp.count)
    return left.length === 0 ? [] : [claimOf(left[0], left.length - 1)]
  },
}

/** @param {RouteFigures} route @param {number} others @returns {Claim} */
function claimOf(route, others) {
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
    summary: `Clients of ${name} give up: ${percent(share)} of its requests are aborted after ${duration(gaveUp.meanMs)} on average, and ${answers}${others === 0 ? '' : `. Clients of ${counted(others, 'other route')} give up too`}.`,
    evidence: [
      evidence('aborted before an answer began', gaveUp.count, 'requests'),
      evidence('requests of the route', count, 'requests'),
      evidence('mean time until a client gave up', gaveUp.meanMs, 'ms'),
      ...(isAnswered ? [evidence('mean duration of an answered request', answeredMs, 'ms')] : []),
      evidence('failed requests of the route', errors, 'requests'),
    ],
    advice: isAnswered
      ? `Look at what ${name} awaits, and give each call a timeout shorter than ${duration(gaveUp.meanMs)}, so that clients get an answer. Stop the work when a client disconnects: pass \`spillway.signal(req)\` to what it awaits.`
      : `Look in ${name} for a path that does not answer: a callback that is not called, a promise that never settles, a call without a timeout. Set \`errors.timeout\` to less than ${duration(gaveUp.meanMs)}, so that clients get an answer.`,
  }
}

module.exports = rule
