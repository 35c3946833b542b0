'use strict'
// Sets the timeouts of a server that only proxies reach. If the server closes an idle connection, the next
// request may be on its way, and the client gets 502. A proxy that closes the connection first knows that no
// request is on its way.

const http = require('node:http')

/**
 * Five seconds longer than Envoy keeps an idle connection. Of the proxies in docs/proxies.md, Envoy keeps
 * idle connections longest, and each proxy closes its idle connections. All three timeouts also close an
 * unused connection. A proxy may open one for a request, and then send the request on another connection.
 */
const LONGEST_MS = 3_605_000
const TIMEOUTS = Object.freeze(
  /** @type {const} */ (['keepAliveTimeout', 'headersTimeout', 'requestTimeout'])
)

/** @typedef {{ [Name in (typeof TIMEOUTS)[number]]?: number }} Timeouts of a server of Node */

/**
 * How many instances have raised the timeouts of a server, and the timeouts before.
 *
 * @type {WeakMap<object, { count: number, before: Timeouts }>}
 */
const raised = new WeakMap()

/**
 * Raises the timeouts that still have Node's default.
 *
 * @param {object} server
 * @returns {() => void} restores the timeouts that are still ours. An open connection keeps its timeouts.
 */
function setTimeouts(server) {
  const known = raised.get(server) ?? { count: 0, before: raise(server) }
  known.count++
  raised.set(server, known)
  // The instance keeps the function below, which must not keep the server.
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

/** @param {object} server @returns {Timeouts} the timeouts before */
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
