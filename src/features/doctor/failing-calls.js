'use strict'
// Calls that fail, of a route that is slow or fails itself.
// A route may be slow although its calls fail at once. The route then waits between its calls, such as in a
// retry with back-off. A timeout does not help, because the calls are short.
// - At least five calls to a host fail, a tenth of them, and three times the usual share.
// - The calls take less than half of the time until the answer begins, and less than three times as long as
//   usual.
// The failed requests of a route may come from failed calls to a host, if there are as many of these.

const { duration, percent } = require('../../core/readable')
const { ownMsOf } = require('./call-parts')
const { MUCH } = require('./reading')
const { isFarAbove } = require('./usual-errors')

/** @import { CallFigures, Figures, RouteFigures } from './figures' */

const FEWEST = 5
const MOST = 0.5
const MIN_ERROR_STATUS = 500

/**
 * Counts only calls whose route is known.
 *
 * @param {RouteFigures} route @param {Figures['outgoing']} outgoing
 * @returns {CallFigures | undefined} calls to the host with the most failed calls
 */
function failingCallsOf({ count, firstByteMs, method, route }, outgoing = []) {
  const [most] = outgoing
    .filter((call) => call.method === method && call.route === route && isFailing(call))
    .filter((call) => call.totalMs < MOST * count * firstByteMs)
    .sort((a, b) => Number(b.errors) - Number(a.errors))
  return most
}

/** @param {CallFigures} call */
function isFailing(call) {
  const { count, errors = 0, usualErrors, usualMs } = call
  if (errors < FEWEST || usualErrors === undefined || usualMs === undefined) return false
  return isFarAbove(errors / count, usualErrors) && ownMsOf(call) < MUCH * usualMs
}

/**
 * Counts only calls whose route is known. If fewer calls failed than requests, other errors fail requests.
 *
 * @param {{ errors: number, method: string, route: string }} failing @param {Figures['outgoing']} outgoing
 * @returns {CallFigures | undefined} calls to the host with the most failed calls
 */
function callsBehindErrors({ errors, method, route }, outgoing = []) {
  const [most] = outgoing
    .filter((call) => call.method === method && call.route === route && Number(call.errors) >= errors)
    .sort((a, b) => Number(b.errors) - Number(a.errors))
  return most
}

/** @param {CallFigures} call */
const shareOf = ({ count, errors = 0 }) => errors / count

/** @param {CallFigures} call */
function shareFailing(call) {
  const { failedStatus = 0, host } = call
  const last = failedStatus >= MIN_ERROR_STATUS ? `, the last with ${failedStatus}` : ''
  return `${percent(shareOf(call))} of its calls to ${host} fail${last}`
}

/** @param {CallFigures} call */
function describeFailing(call) {
  const { count, totalMs, usualErrors = 0 } = call
  return ` ${shareFailing(call)}. Usually ${percent(usualErrors)} fail. A call takes ${duration(totalMs / count)}: the rest of the wait is outside of these calls, such as in a retry with back-off.`
}

/** @param {CallFigures} call @returns {[name: string, value: number, unit: string]} */
const shareFigure = (call) => [`failed calls to ${call.host}`, shareOf(call), 'share of the calls']

/** @param {CallFigures} call @param {number} requests @returns {[name: string, value: number, unit: string][]} */
const figuresOfFailing = (call, requests) => [
  shareFigure(call),
  ['usually failed', Number(call.usualErrors), 'share of the calls'],
  [`calls to ${call.host}`, call.totalMs / call.count, 'ms on average'],
  ['calls for each request', call.count / requests, ''],
]

/** @param {CallFigures} call @param {string} route */
const adviceOfFailing = ({ host }, route) =>
  `Look at why calls to ${host} fail. A timeout does not help, because these calls are short. Let ${route} retry fewer times, with a shorter back-off, and not at all while most calls fail (a circuit breaker). Where possible, answer from a cache, or without the result of the call.`

module.exports = {
  adviceOfFailing,
  callsBehindErrors,
  describeFailing,
  failingCallsOf,
  figuresOfFailing,
  shareFailing,
  shareFigure,
}
