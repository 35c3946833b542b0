'use strict'
// Tells services how long is left, by a header on the outgoing calls that a request makes. The calls are
// those of `fetch`, undici and `node:http` to the hosts that are named. It is set on the message of one call,
// and not in the options of the caller. A redirect makes a new message, whose host is looked at again. A
// header that the application has set stays.

const { subscribe, unsubscribe } = require('node:diagnostics_channel')
const http = require('node:http')
const { ReplacedMethod } = require('../../core/replaced-method')
const { timeoutText } = require('./timeout-header')

/**
 * @import { ChannelListener } from 'node:diagnostics_channel'
 * @import { ClientRequest } from 'node:http'
 * @import { InternalErrors } from '../../core/request/internal-errors'
 *
 * @typedef {{ origin: unknown, headers: unknown, addHeader: (name: string, value: string) => unknown }}
 *   UndiciRequest
 */

const MOST_ORIGINS = 200
const WITH_PORT = /:\d+$/
/**
 * From 22.12 on Node tells of a request before its head is made. Before that nothing does, and
 * `_implicitHeader` makes the head.
 */
const [MAJOR, MINOR] = process.versions.node.split('.').map(Number)
const IS_TOLD = MAJOR > 22 || (MAJOR === 22 && MINOR >= 12)

class Forwarding {
  #parts
  #hosts
  /** @type {Map<string, boolean>} */
  #isNamedByOrigin = new Map()
  /** @type {ReplacedMethod | undefined} */
  #replaced
  /** @type {ReplacedMethod | undefined} */
  #asked
  /**
   * The port that a request goes to. The request itself does not say.
   *
   * @type {WeakMap<ClientRequest, unknown>}
   */
  #ports = new WeakMap()

  /**
   * @param {{ header: string, hosts: readonly string[], internalErrors: InternalErrors, leftMs: () => number,
   *   onForward: () => void }} parts
   *   `leftMs`: of the request that the running code works for, or Infinity
   */
  constructor(parts) {
    this.#parts = parts
    this.#hosts = new Set(parts.hosts.map((host) => host.toLowerCase()))
  }

  start() {
    subscribe('undici:request:create', this.#onUndici)
    if (IS_TOLD) subscribe('http.client.request.created', this.#onHttp)
    else this.#replaceHead()
    if (this.#parts.hosts.some((host) => WITH_PORT.test(host))) this.#watchPorts()
  }

  close() {
    unsubscribe('undici:request:create', this.#onUndici)
    unsubscribe('http.client.request.created', this.#onHttp)
    this.#replaced?.restore()
    this.#asked?.restore()
  }

  /** An agent is asked for a connection before the head is made. */
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

  /** Node 20 has no other place. */
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

  /** Node throws what a subscriber throws as an uncaught exception. @param {() => void} callback */
  #guard(callback) {
    try {
      callback()
    } catch (error) {
      this.#parts.internalErrors.report('deadline.forward', error)
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
    const { header } = this.#parts
    // A head that is made from an array of headers, or for `Expect`, is ready by now. A socket in the file
    // system has no host.
    if (request.headersSent || request.socketPath) return
    if (!this.#isNamed(request.host, this.#ports.get(request)) || request.hasHeader(header)) return
    const text = this.#text()
    if (text !== undefined) request.setHeader(header, text)
  }

  /** @param {UndiciRequest} request */
  #tellUndici(request) {
    const { header } = this.#parts
    if (!this.#isOriginNamed(String(request.origin)) || hasHeader(request.headers, header)) return
    const text = this.#text()
    if (text !== undefined) request.addHeader(header, text)
  }

  #text() {
    const { header, leftMs, onForward } = this.#parts
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
    if (this.#isNamedByOrigin.size < MOST_ORIGINS) this.#isNamedByOrigin.set(origin, isNamed)
    return isNamed
  }

  /**
   * The host that is connected to decides, and its port. The header belongs to the application.
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
 * undici keeps names and values in turn, or before version 6 a text.
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
