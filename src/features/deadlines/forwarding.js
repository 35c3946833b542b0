'use strict'
// Tells services how much time is left, by a header on the outgoing calls that a request makes. The calls are
// those of `fetch`, undici and `node:http` to the named hosts. The header is set on the message of one call,
// and not in the options of the caller. A redirect makes a new message, and its host is checked again. A
// header that the application has set stays.

const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const http = require('node:http')
const { ReplacedMethod } = require('../../core/replaced-method')
const { timeoutText } = require('./timeout-header')

/**
 * @import { ChannelListener } from 'node:diagnostics_channel'
 * @import { ClientRequest } from 'node:http'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 *
 * @typedef {{ origin: unknown, headers: unknown, addHeader: (name: string, value: string) => unknown }}
 *   UndiciRequest
 */

const MAX_ORIGINS = 200
const WITH_PORT = /:\d+$/
/**
 * From 22.12 on, Node publishes a channel message before the head of a request is made. Older versions do
 * not, so `_implicitHeader`, which makes the head, is replaced.
 */
const [MAJOR, MINOR] = process.versions.node.split('.').map(Number)
const IS_TOLD = MAJOR > 22 || (MAJOR === 22 && MINOR >= 12)

class Forwarding {
  #deps
  #hosts
  /** @type {Map<string, boolean>} */
  #isNamedByOrigin = new Map()
  /** @type {ReplacedMethod | undefined} */
  #replaced
  /** @type {ReplacedMethod | undefined} */
  #asked
  /**
   * The port that each request goes to, because the request itself does not have it.
   *
   * @type {WeakMap<ClientRequest, unknown>}
   */
  #ports = new WeakMap()

  /**
   * @param {{ header: string, hosts: readonly string[], internalErrors: InternalErrors, leftMs: () => number,
   *   onForward: () => void }} deps
   *   `leftMs`: returns the time left for the request that the running code works for, or Infinity
   */
  constructor(deps) {
    this.#deps = deps
    this.#hosts = new Set(deps.hosts.map((host) => host.toLowerCase()))
  }

  start() {
    subscribe('undici:request:create', this.#onUndici)
    if (IS_TOLD) subscribe('http.client.request.created', this.#onHttp)
    else this.#replaceHead()
    if (this.#deps.hosts.some((host) => WITH_PORT.test(host))) this.#watchPorts()
  }

  close() {
    unsubscribe('undici:request:create', this.#onUndici)
    unsubscribe('http.client.request.created', this.#onHttp)
    this.#replaced?.restore()
    this.#asked?.restore()
  }

  /** Learns the ports from the agent, which is asked for a connection before the head is made. */
  #watchPorts() {
    const ports = this.#ports
    this.#asked = new ReplacedMethod(http.Agent.prototype, 'addRequest', (method) => {
      /**
       * @this {http.Agent}
       * @param {ClientRequest} request
       * @param {{ port?: unknown } | undefined} options
       * @param {unknown[]} others
       */
      return function (request, options, ...others) {
        ports.set(request, options?.port)
        return method.inner.call(this, request, options, ...others)
      }
    })
  }

  /** Sets the header just before the head is made. Node 20 has no other place for this. */
  #replaceHead() {
    const forwarding = this
    this.#replaced = new ReplacedMethod(http.ClientRequest.prototype, '_implicitHeader', (method) => {
      /** @this {ClientRequest} */
      return function () {
        forwarding.#guard(() => forwarding.#tellHttp(this))
        return method.inner.call(this)
      }
    })
  }

  /**
   * Catches errors, because Node rethrows the error of a subscriber as an uncaught exception.
   *
   * @param {() => void} callback
   */
  #guard(callback) {
    try {
      callback()
    } catch (error) {
      this.#deps.internalErrors.report('deadline.forward', error)
    }
  }

  /** @type {ChannelListener} */
  #onHttp = (message) =>
    this.#guard(() => this.#tellHttp(/** @type {{ request: ClientRequest }} */ (message).request))

  /** @type {ChannelListener} */
  #onUndici = (message) =>
    this.#guard(() => this.#tellUndici(/** @type {{ request: UndiciRequest }} */ (message).request))

  /** @param {ClientRequest & { socketPath?: string }} request */
  #tellHttp(request) {
    const { header } = this.#deps
    // If the headers were given as an array, or there is an `Expect`, the head is already made. A Unix socket
    // has no host.
    if (request.headersSent || request.socketPath) return
    if (!this.#isNamed(request.host, this.#ports.get(request)) || request.hasHeader(header)) return
    const text = this.#text()
    if (text !== undefined) request.setHeader(header, text)
  }

  /** @param {UndiciRequest} request */
  #tellUndici(request) {
    const { header } = this.#deps
    if (!this.#isOriginNamed(String(request.origin)) || hasHeader(request.headers, header)) return
    const text = this.#text()
    if (text !== undefined) request.addHeader(header, text)
  }

  #text() {
    const { header, leftMs, onForward } = this.#deps
    const ms = leftMs()
    if (ms === Number.POSITIVE_INFINITY) return undefined
    onForward()
    return timeoutText(header, ms)
  }

  /** @param {string} origin */
  #isOriginNamed(origin) {
    let isNamed = this.#isNamedByOrigin.get(origin)
    if (isNamed !== undefined) return isNamed
    const { hostname, port, protocol } = new URL(origin)
    isNamed = this.#isNamed(hostname, port || (protocol === 'https:' ? 443 : 80))
    if (this.#isNamedByOrigin.size < MAX_ORIGINS) this.#isNamedByOrigin.set(origin, isNamed)
    return isNamed
  }

  /**
   * Whether the host is named. The host and port of the connection decide, and not the header `Host`, which
   * the application may set.
   *
   * @param {string} name @param {unknown} port
   */
  #isNamed(name, port) {
    const bare = String(name).toLowerCase()
    const host = bare.includes(':') && !bare.startsWith('[') ? `[${bare}]` : bare
    if (this.#hosts.has(host)) return true
    return this.#hosts.has(`${host}:${port}`)
  }
}

/**
 * undici has an array of alternating names and values. Before version 6 it had one text.
 *
 * @param {unknown} headers
 * @param {string} name
 */
function hasHeader(headers, name) {
  if (typeof headers === 'string')
    return headers.toLowerCase().includes(`\r\n${name}:`) || headers.toLowerCase().startsWith(`${name}:`)
  if (!Array.isArray(headers)) return false
  return headers.some((each, i) => i % 2 === 0 && String(each).toLowerCase() === name)
}

exports.Forwarding = Forwarding
