'use strict'
// The timeouts of a server that only proxies reach. The race is between closing an idle connection and its
// next request. If the server closes, a request may be on its way, and the client gets 502. A proxy that
// closes first knows that no request is.

const http = require('node:http')

/**
 * Five seconds longer than Envoy keeps an idle connection. Of the proxies in docs/proxies.md Envoy keeps them
 * longest, and each closes its own. All three timeouts close an unused connection: a proxy may open one for a
 * request that another connection then takes.
 */
const LONGEST_MS = 3_605_000
const TIMEOUTS = Object.freeze(
  /** @type {const} */ (['keepAliveTimeout', 'headersTimeout', 'requestTimeout'])
)

/** @typedef {{ [Name in (typeof TIMEOUTS)[number]]?: number }} Timeouts of a server of Node */

/** By how many instances, and what it was. @type {WeakMap<object, { count: number, before: Timeouts }>} */
const raised = new WeakMap()

/**
 * Raises the timeouts that still have Node's default.
 *
 * @param {object} server
 * @returns {() => void} puts back those that are still ours. An open connection keeps what it has.
 */
function setTimeouts(server) {
  const known = raised.get(server) ?? { count: 0, before: raise(server) }
  known.count++
  raised.set(server, known)
  // The instance that keeps this must not keep the server.
  const ref = new WeakRef(server)
  return () => {
    const own = /** @type {Timeouts | undefined} */ (ref.deref())
    if (--known.count > 0 || own === undefined) return
    raised.delete(own)
    for (const name of TIMEOUTS) {
      const before = known.before[name]
      if (before !== undefined && own[name] === Math.max(before, LONGEST_MS)) own[name] = before
    }
  }
}

/** @param {object} server @returns {Timeouts} what they were */
function raise(server) {
  const own = /** @type {Timeouts} */ (server)
  const defaults = http.createServer()
  /** @type {Timeouts} */
  const before = {}
  for (const name of TIMEOUTS) {
    if (own[name] !== defaults[name] || defaults[name] === 0) continue
    before[name] = defaults[name]
    own[name] = Math.max(defaults[name], LONGEST_MS)
  }
  return before
}

exports.TIMEOUTS = TIMEOUTS
exports.setTimeouts = setTimeouts
