'use strict'
// One outgoing call in progress, and the property that a request has for it. The port and the `error.type` of
// a call follow OpenTelemetry's conventions. OpenTelemetry's own instrumentation may measure the calls too.
// It also has the metric `http.client.request.duration`, and two such metrics would count each call twice.

const { channel } = require('node:diagnostics_channel')
const http = require('node:http')

/**
 * @import { Opening } from './opening'
 * @typedef {{ host: string, port: string }} Target `port`: empty if it is not known
 * @typedef {{ method: string, route: string | undefined, request?: object | undefined }} Asker `request`: set
 *   until the request has ended
 */

/** @type {Readonly<Record<string, string>>} */
const DEFAULT_PORTS = { 'http:': '80', 'https:': '443' }
const PORT = /:(\d{1,5})$/
/** Names that look like code. Other names may contain data. */
const ERROR_NAME = /^[A-Za-z]\w{0,49}$/
/** For a client, each of these statuses is an error. */
const MIN_ERROR_STATUS = 400
/** The method that UndiciInstrumentation subscribes. It is bound, so its name begins with `bound `. */
const UNDICI_SUBSCRIBER = /onRequestCreated$/

class Call {
  /** Status of the response; 0 before its head has come. */
  status = 0
  /**
   * Time when the whole request was sent. On a new connection of `node:http`, the time when it was passed to
   * the socket.
   */
  sentMs = Number.NaN
  /** Time when the head of the response came. */
  headMs = Number.NaN
  /** The connection that was opened for the call. @type {Opening | undefined} */
  opening = undefined
  /** The wait for a free socket of an agent, or for a connection of undici. */
  waitMs = 0
  /** The agent whose socket it waited for: see outgoing-table.js. */
  agent = 0
  /** Limit of sockets of that agent. 0 if not known. */
  sockets = 0

  /**
   * @param {Target} target
   * @param {number} method
   * @param {Asker | undefined} asker
   * @param {number} startedMs
   */
  constructor({ host, port }, method, asker, startedMs) {
    this.host = host
    this.port = port
    this.method = method
    this.asker = asker
    this.startedMs = startedMs
  }

  /**
   * Returns the parts of the call's time, as if it ends now.
   *
   * @param {number} nowMs
   * @returns {import('./outgoing-table').CallParts}
   */
  parts(nowMs) {
    const firstByteMs = this.#firstByteMs(nowMs)
    const { waitMs } = this
    if (this.opening === undefined) return { waitMs, connections: 0, lookupMs: 0, connectMs: 0, firstByteMs }
    const { lookupMs, connectMs } = this.opening.parts(this.startedMs, nowMs)
    return { waitMs, connections: 1, lookupMs, connectMs, firstByteMs }
  }

  /** @param {number} nowMs */
  #firstByteMs(nowMs) {
    const { headMs, opening, sentMs } = this
    if (Number.isNaN(sentMs) || opening?.isOpen === false) return 0
    const sinceMs = opening === undefined ? sentMs : Math.max(sentMs, opening.endMs)
    return Math.max(0, (Number.isNaN(headMs) ? nowMs : headMs) - sinceMs)
  }
}

/**
 * A property that objects of others get. It costs less than an entry in a WeakMap, which also makes each
 * collection longer.
 *
 * @template Value
 */
class OwnProperty {
  #key

  /** @param {string} description */
  constructor(description) {
    this.#key = Symbol(description)
  }

  /** @param {object} object @returns {Value | undefined} */
  get(object) {
    return /** @type {Record<symbol, Value | undefined>} */ (object)[this.#key]
  }

  /** @param {object} object @param {Value | undefined} value */
  set(object, value) {
    const owner = /** @type {Record<symbol, Value | undefined>} */ (object)
    owner[this.#key] = value
  }
}

/**
 * Returns the port of a request of `node:http`, or an empty text for a Unix socket. The port is that of the
 * URL. The `Host` header contains it, unless it is the default port of the protocol.
 *
 * @param {{ protocol?: string, socketPath?: string | undefined, getHeader?(name: string): unknown }} request
 */
function portOf(request) {
  if (request.socketPath != null) return ''
  const named = PORT.exec(String(request.getHeader?.('host')))
  return named?.[1] ?? DEFAULT_PORTS[request.protocol ?? ''] ?? ''
}

/** @param {string} origin @returns {Target} */
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
  return status >= MIN_ERROR_STATUS ? String(status) : ''
}

/** @param {unknown} error */
function nameOf(error) {
  const { code, name } = /** @type {{ code?: unknown, name?: unknown }} */ (Object(error))
  for (const each of [code, name]) if (typeof each === 'string' && ERROR_NAME.test(each)) return each
  return '_OTHER'
}

/**
 * The shape that OpenTelemetry's `isWrapped` looks for.
 *
 * @param {typeof http.request & { __wrapped?: unknown, __original?: unknown, __unwrap?: unknown }} method
 */
const isWrapped = (method) =>
  method?.__wrapped === true &&
  typeof method.__original === 'function' &&
  typeof method.__unwrap === 'function'

/** Whether OpenTelemetry's instrumentation measures the calls of `node:http`. */
const isHttpInstrumented = () => isWrapped(http.request) || isWrapped(http.get)

/**
 * The same for undici. Looks for OpenTelemetry among the subscribers of undici's channel. Node has no API
 * that lists them.
 */
function isUndiciInstrumented() {
  const { _subscribers: subscribers } = /** @type {{ _subscribers?: { name: string }[] }} */ (
    channel('undici:request:create')
  )
  return Array.isArray(subscribers) && subscribers.some(({ name }) => UNDICI_SUBSCRIBER.test(name))
}

exports.Call = Call
exports.OwnProperty = OwnProperty
exports.callErrorOf = callErrorOf
exports.isHttpInstrumented = isHttpInstrumented
exports.isUndiciInstrumented = isUndiciInstrumented
exports.portOf = portOf
exports.targetOfOrigin = targetOfOrigin
