'use strict'
// The timeouts of a server that only proxies reach. Whoever closes an idle connection first decides the race with the next request: if
// the server does, a request may be on its way, and the client gets 502. A proxy that closes first knows that no request is.

const http = require('node:http')

/**
 * Five seconds longer than Envoy keeps an idle connection. Of the proxies in docs/proxies.md Envoy keeps them longest, and each closes
 * its own. All three timeouts close an unused connection: a proxy may open one for a request that another connection then takes.
 */
const LONGEST_MS = 3_605_000
const TIMEOUTS = Object.freeze(
  /** @type {const} */ (['keepAliveTimeout', 'headersTimeout', 'requestTimeout'])
)

/** @typedef {{ [Name in (typeof TIMEOUTS)[number]]?: number }} Timeouts of a server of Node */

/** Raises the timeouts that still have Node's default. @param {object} server */
function setTimeouts(server) {
  const own = /** @type {Timeouts} */ (server)
  const defaults = http.createServer()
  for (const name of TIMEOUTS) {
    if (own[name] !== defaults[name] || defaults[name] === 0) continue
    own[name] = Math.max(defaults[name], LONGEST_MS)
  }
}

exports.TIMEOUTS = TIMEOUTS
exports.setTimeouts = setTimeouts
