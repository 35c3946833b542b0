'use strict'
// Whether requests come through proxies that keep connections to this process. One request a second is
// sampled: the next one after a loop turn. If a server is attached, core/http/connection-events.js counts the
// connections of these proxies that this process closed.

const { namesProxy } = require('../../core/gate/measurements/clients')

/**
 * @import { Server } from 'node:http'
 * @import { ConnectionEvents } from '../../core/http/connection-events'
 * @import { InFlight } from '../../core/request/in-flight'
 * @import { RequestRecord } from '../../core/request/request-record'
 */

const EVERY_MS = 1000

class ProxiedConnections {
  #requests
  #closes
  #dueMs = Number.NEGATIVE_INFINITY
  #isWaiting = false
  /**
   * Sampled requests; those of them that came through a proxy; and those of the latter on a kept connection.
   */
  #looked = 0
  #proxied = 0
  #kept = 0
  /**
   * The server of the last request through a proxy. The reference is weak, because a server may be closed.
   *
   * @type {WeakRef<Server> | undefined}
   */
  #server

  /**
   * @param {Pick<InFlight, 'onNextRequest'>} requests
   * @param {Pick<ConnectionEvents, 'idleCloses' | 'unusedCloses' | 'addProxy'>} closes
   */
  constructor(requests, closes) {
    this.#requests = requests
    this.#closes = closes
  }

  // Hot path: once a loop turn.
  /** @param {number} nowMs */
  onTurn(nowMs) {
    if (nowMs < this.#dueMs || this.#isWaiting) return
    this.#dueMs = nowMs + EVERY_MS
    this.#isWaiting = true
    this.#requests.onNextRequest(this.#look)
  }

  /**
   * Samples a request. HTTP/2 is left out, because its GOAWAY says which requests were not read.
   *
   * @type {(request: RequestRecord) => void}
   */
  #look = ({ req, res, session, socket }) => {
    this.#isWaiting = false
    if (session !== undefined) return
    this.#looked++
    if (!namesProxy(req.headers)) return
    this.#proxied++
    if (!res.shouldKeepAlive || socket?.server === undefined) return
    this.#kept++
    this.#closes.addProxy(socket.remoteAddress)
    if (this.#server?.deref() !== socket.server) this.#server = new WeakRef(socket.server)
  }

  sample() {
    const { idleCloses, unusedCloses } = this.#closes
    const server = this.#server?.deref()
    return {
      looked: this.#looked,
      proxied: this.#proxied,
      kept: this.#kept,
      idleCloses,
      unusedCloses,
      server,
    }
  }
}

exports.EVERY_MS = EVERY_MS
exports.ProxiedConnections = ProxiedConnections
