'use strict'
// Finds the host that a route calls while it holds a connection of a short pool. The calls are compared with
// the time that the connections are held. The whole time of the route would include the wait for the pool.
//
// Nothing records whether a connection is held during a call. So the rest of the route's time limits how long
// its calls can last outside of the hold. That rest is neither hold nor wait for a connection. The time until
// the answer begins is used, because clients that give up waited for the pool far longer than its mean.

/**
 * @import { CallFigures, Figures } from './figures'
 * @import { Held } from './slow-routes'
 * @typedef {{ call: CallFigures, share: number }} HeldCall `share`: of the time that connections are held
 */

/** As in evidence.js: a host with less than half of the time explains nothing. */
const MOST = 0.5
/** Calls for each use, with a margin for retries. */
const ONE_CALL = 1.1

/**
 * Counts only calls whose route is known.
 *
 * @param {Held} held @param {Figures['outgoing']} outgoing
 * @returns {HeldCall | undefined} the host that takes at least half of the held time
 */
function callWhileHeld({ pool, route, use }, outgoing = []) {
  const heldMs = use.totalMs
  const { count, firstByteMs } = route
  const elsewhereMs = Math.max(0, count * firstByteMs - use.count * pool.meanWaitMs - heldMs)
  const [most] = outgoing
    .filter((call) => call.method === route.method && call.route === route.route)
    .map((call) => ({ call, share: Math.min(1, (inProgressMs(call, use.count) - elsewhereMs) / heldMs) }))
    .filter(({ share }) => share >= MOST)
    .sort((a, b) => b.share - a.share)
  return most
}

/**
 * Calls at the same time count once. With one call for each use there are none. Then calls of clients that
 * gave up count too, although `awaitedMs` lacks them.
 *
 * @param {CallFigures} call @param {number} uses
 */
function inProgressMs({ awaited, awaitedMs, count, totalMs }, uses) {
  if (count <= ONE_CALL * uses) return totalMs
  return awaited > 0 ? (awaitedMs * count) / awaited : 0
}

module.exports = { callWhileHeld }
