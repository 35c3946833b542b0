'use strict'
// The calls to other hosts on which the requests of a route spent their time. A call whose request is not known may be of any route:
// Node 20 and 22 know the request only until the first `await`.

/** @import { CallFigures, RouteFigures } from './figures' */

const MOST = 0.5

/**
 * @param {Pick<RouteFigures, 'count' | 'meanMs' | 'method' | 'route'>} of
 * @param {readonly CallFigures[] | undefined} outgoing
 * @returns {CallFigures | undefined} the host that took at least half of the time of the route
 */
function costliestCall({ count, meanMs, method, route }, outgoing = []) {
  /** @type {Map<string, CallFigures>} */
  const byHost = new Map()
  for (const call of outgoing) {
    if (call.route !== null && (call.route !== route || call.method !== method)) continue
    const sum = byHost.get(call.host) ?? { ...call, count: 0, totalMs: 0 }
    sum.count += call.count
    sum.totalMs += call.totalMs
    byHost.set(call.host, sum)
  }
  return [...byHost.values()]
    .filter(({ totalMs }) => totalMs >= MOST * count * meanMs)
    .sort((a, b) => b.totalMs - a.totalMs)[0]
}

module.exports = { costliestCall }
