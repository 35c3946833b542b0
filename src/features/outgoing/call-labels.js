'use strict'
// The port of an outgoing call and its `error.type`, by OpenTelemetry's conventions. The port is that of the
// URL. The `Host` header contains it, unless it is the default port of the protocol.

/** @type {Readonly<Record<string, string>>} */
const DEFAULT_PORTS = { 'http:': '80', 'https:': '443' }
const PORT = /:(\d{1,5})$/
/** Names that look like code. Other names may contain data. */
const ERROR_NAME = /^[A-Za-z]\w{0,49}$/
/** For a client, each of these statuses is an error. */
const LEAST_ERROR_STATUS = 400

/**
 * Returns the port of a request of `node:http`, or an empty text for a Unix socket.
 *
 * @param {{ protocol?: string, socketPath?: string | undefined, getHeader?(name: string): unknown }} request
 */
function portOf(request) {
  if (request.socketPath != null) return ''
  const named = PORT.exec(String(request.getHeader?.('host')))
  return named?.[1] ?? DEFAULT_PORTS[request.protocol ?? ''] ?? ''
}

/** @param {string} origin @returns {import('./call').Target} */
function targetOfOrigin(origin) {
  try {
    const { hostname: host, port, protocol } = new URL(origin)
    return { host, port: port || (DEFAULT_PORTS[protocol] ?? '') }
  } catch {
    return { host: origin, port: '' }
  }
}

/**
 * The `error.type` of a call: what failed, `cut_off` if the response was not whole, or the status. Empty
 * without an error.
 *
 * @param {{ error: unknown, isCut: boolean, status: number }} end
 */
function callErrorOf({ error, isCut, status }) {
  if (error !== undefined) return nameOf(error)
  if (isCut) return 'cut_off'
  return status >= LEAST_ERROR_STATUS ? String(status) : ''
}

/** @param {unknown} error */
function nameOf(error) {
  const { code, name } = /** @type {{ code?: unknown, name?: unknown }} */ (Object(error))
  for (const each of [code, name]) if (typeof each === 'string' && ERROR_NAME.test(each)) return each
  return '_OTHER'
}

module.exports = { callErrorOf, portOf, targetOfOrigin }
