'use strict'
// Reports connections to the admission: accepted, and for TLS the end of the handshake. An attached server passes these events
// on. Any other server is watched from its first request on, with listeners.

const cluster = require('node:cluster')
const tls = require('node:tls')
const { ServerTable } = require('../drain/server-table')

const EVENTS = new Set(['connection', 'secureConnection', 'tlsClientError'])

/** Whether the primary accepts connections for this worker. A worker cannot read the policy, but its handle is a placeholder. */
const isHandedOver = (server) =>
  /** @type {any} */ (cluster).isWorker && typeof server._handle?.open !== 'function'

class ConnectionEvents {
  #admission
  #known
  #watched = new ServerTable()

  /** @param {{ admission: any, known: any }} parts `known`: the servers to drain */
  constructor({ admission, known }) {
    this.#admission = admission
    this.#known = known
  }

  /** The server will pass its events to `onEvent`. */
  attach(server) {
    this.#watched.set(server, [])
    this.#known.add(server)
  }

  has(event) {
    return EVENTS.has(event)
  }

  onEvent(event, server) {
    const isSecure = server instanceof tls.Server
    this.#admission.onConnectionEvent(event, { isSecure, isHandedOver: isHandedOver(server) })
  }

  // Hot path: once a request if no server is attached.
  watch(server, req) {
    if (server === undefined || this.#watched.has(server)) return
    this.#known.add(server, req)
    const listeners = new Map()
    for (const event of server instanceof tls.Server ? EVENTS : ['connection']) {
      listeners.set(event, () => this.onEvent(event, server))
    }
    this.#watched.set(server, listeners)
    for (const [event, listener] of listeners) server.on(event, listener)
  }

  close() {
    for (const [server, listeners] of this.#watched) {
      for (const [event, listener] of listeners) server.off(event, listener)
    }
    this.#watched.clear()
  }
}

exports.ConnectionEvents = ConnectionEvents
