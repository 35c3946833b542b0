'use strict'
// Reports connections to the admission: accepted, and for TLS the end of the handshake. An attached server
// passes these events on. Any other server is watched from its first request on, with listeners.

const cluster = require('node:cluster')
const tls = require('node:tls')
const { ClientErrors } = require('../errors/error-table')
const { isAnswering } = require('../servers/connections')
const { WeakTable } = require('../weak-table')
const { endedMsOf } = require('../request/connection-record')

/**
 * @import { Cluster } from 'node:cluster'
 * @import { Server } from 'node:net'
 * @import { ConnectionOwner, ServerSocket } from '../servers/connections'
 * @import { KnownServers } from '../servers/known-servers'
 * @import { Admission } from '../gate/admission'
 * @import { Connection } from '../request/connection-record'
 *
 * @typedef {Server & { _handle?: { open?: unknown } | null }} HandedServer
 * @typedef {'connection' | 'secureConnection' | 'tlsClientError'} ConnectionEvent
 */

/** Any client can look like a proxy, so the addresses are bounded. At the bound, all are forgotten. */
const MAX_PROXIES = 256
/** @type {Set<ConnectionEvent>} */
const EVENTS = new Set(['connection', 'secureConnection', 'tlsClientError'])

/**
 * Whether the primary accepts connections for this worker. A worker cannot read the scheduling policy. But
 * the handle of its server is a placeholder if the primary accepts.
 *
 * @param {HandedServer} server
 */
const isHandedOver = (server) =>
  /** @type {Cluster} */ (/** @type {unknown} */ (cluster)).isWorker &&
  typeof server._handle?.open !== 'function'

class ConnectionEvents {
  /** What clients sent that is not valid HTTP. */
  clientErrors = new ClientErrors()
  /**
   * Addresses of known proxies; `undefined` for a Unix socket.
   *
   * @type {Set<string | undefined>}
   */
  #proxies = new Set()
  /**
   * Connections of proxies that attached servers closed: idle after a request, and before a first request.
   */
  idleCloses = 0
  unusedCloses = 0
  #admission
  #knownServers
  /** @type {WeakTable<Server, Iterable<[ConnectionEvent, () => void]>>} */
  #watched = new WeakTable()

  /** @param {{ admission: Admission, knownServers: KnownServers }} deps */
  constructor({ admission, knownServers }) {
    this.#admission = admission
    this.#knownServers = knownServers
  }

  /** Counts closes of connections from this address from now on. @param {string | undefined} address */
  addProxy(address) {
    if (this.#proxies.size === MAX_PROXIES) this.#proxies.clear()
    this.#proxies.add(address)
  }

  /** The server will pass its events to `onEvent`. @param {Server} server */
  attach(server) {
    this.#watched.set(server, [])
    this.#knownServers.add(server)
  }

  /** @param {string | symbol} event @returns {event is ConnectionEvent} */
  has(event) {
    return EVENTS.has(/** @type {ConnectionEvent} */ (event))
  }

  /**
   * Called when a connection is idle, or a request on it takes too long. Node closes the connection unless
   * somebody listens.
   *
   * @param {Server} server
   * @param {ServerSocket} socket
   */
  onTimeout(server, socket) {
    if (!this.#proxies.has(socket.remoteAddress)) return
    const hasCarriedRequest = Number.isFinite(endedMsOf(/** @type {Connection} */ (socket)))
    if (server.listenerCount('timeout') === 0 && hasCarriedRequest && !isAnswering(socket)) this.idleCloses++
  }

  /**
   * Called for what is not valid HTTP, and when Node answers 408 on a connection that did not get its first
   * request in time.
   *
   * @param {NodeJS.ErrnoException | undefined} error
   * @param {ServerSocket | undefined} socket
   */
  onClientError(error, socket) {
    this.clientErrors.record(error)
    if (error?.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || socket?.bytesRead !== 0) return
    if (this.#proxies.has(socket.remoteAddress)) this.unusedCloses++
  }

  /** @param {ConnectionEvent} event @param {Server} server */
  onEvent(event, server) {
    const isSecure = server instanceof tls.Server
    this.#admission.onConnectionEvent(event, { isSecure, isHandedOver: isHandedOver(server) })
  }

  // Hot path: once a request if no server is attached.
  /** @param {Server | undefined} server @param {ConnectionOwner} req */
  watch(server, req) {
    if (server === undefined || this.#watched.has(server)) return
    this.#knownServers.add(server, req)
    /** @type {Map<ConnectionEvent, () => void>} */
    const listeners = new Map()
    for (const event of /** @type {Iterable<ConnectionEvent>} */ (
      server instanceof tls.Server ? EVENTS : ['connection']
    )) {
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
