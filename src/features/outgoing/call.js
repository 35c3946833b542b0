'use strict'
// One outgoing call in progress, and the property that a request has for it.

/**
 * @import { Opening } from './opening'
 * @typedef {{ host: string, port: string }} Target `port`: empty if it is not known
 * @typedef {{ method: string, route: string | undefined, request?: object | undefined }} Asker `request`: set
 *   until the request has ended
 */

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
  /** The agent whose socket it waited for: see sockets.js. */
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

exports.Call = Call
exports.OwnProperty = OwnProperty
