'use strict'
// Watches one server of Socket.IO: its engines, its namespaces, and their present and future sockets. No
// listener is added to a namespace, because an application may remove or count the listeners.

const { ReplacedMethod } = require('../../core/replaced-method')
const { EngineConnections } = require('./engine-connections')
const { UNHANDLED } = require('./event-table')
const { unwatchIoSocket, watchIoSocket } = require('./io-socket')
const { REJECTED } = require('./watched-socket')

/**
 * @import { Clock } from '../../core/clock'
 * @import { Connection, Engine } from './engine-connections'
 * @import { Packet, Received, Socket, Watcher } from './io-socket'
 * @import { SocketMessage } from './socket-message'
 * @import { HandshakeRequest, Sockets } from './sockets'
 */

/**
 * @typedef {{ engine?: Engine, path(): string, _nsps: Map<string, Namespace> }} Io
 * @typedef {{ sockets: Map<string, Socket> }} Namespace
 */

class IoServer {
  #io
  #sockets
  #priority
  /** Engines, one for each server that `io` is attached to. @type {Map<Engine, EngineConnections>} */
  #engines = new Map()
  /**
   * The replaced `emitReserved` of each namespace. Weak, because clients may name namespaces, which come and
   * go.
   *
   * @type {WeakMap<Namespace, ReplacedMethod>}
   */
  #namespaces = new WeakMap()
  #bind
  #isClosed = false
  /** @type {Watcher} */
  #watcher

  /**
   * @param {Io} io
   * @param {import('../../../index.js').SocketsOptions} options
   * @param {Sockets} sockets
   */
  constructor(io, { priority }, sockets) {
    this.#io = io
    this.#sockets = sockets
    this.#priority = priority
    this.#watcher = { receive: (socket, packet, next) => this.#receive(socket, packet, next) }
    if (io.engine !== undefined) this.#addEngine(io.engine)
    // The engine exists only after `listen()`.
    const { onEngine } = this
    this.#bind = new ReplacedMethod(
      io,
      'bind',
      (method) =>
        /** @this {Io} @param {Engine} engine */
        function (engine) {
          const bound = method.inner.call(this, engine)
          onEngine(engine)
          return bound
        }
    )
    for (const namespace of io._nsps.values()) this.#addNamespace(namespace)
  }

  /** @param {Engine} engine */
  onEngine = (engine) => {
    if (!this.#isClosed && !this.#engines.has(engine)) this.#addEngine(engine)
  }

  /** @param {Engine} engine */
  #addEngine(engine) {
    const io = this.#io
    // Engine.IO adds this slash to `io.path()`, which has no slash at its end.
    const slash = engine.opts.addTrailingSlash === false ? '' : '/'
    this.#engines.set(engine, new EngineConnections(engine, () => io.path() + slash, this.#sockets))
  }

  /** Whether the request belongs to an open session. @param {HandshakeRequest} req */
  hasSession(req) {
    for (const engine of this.#engines.values()) if (engine.has(req) && engine.hasSession(req)) return true
    return false
  }

  /**
   * Whether this server decides about an upgrade. An upgrade that names a session is not decided here: an
   * open session continues, and Engine.IO rejects an unknown session.
   *
   * @param {HandshakeRequest} req
   */
  decidesUpgrade(req) {
    for (const engine of this.#engines.values()) if (engine.has(req)) return !engine.namesSession(req)
    return false
  }

  /**
   * Watches the sockets of a namespace. Socket.IO emits `connect` before `connection`, and before any event
   * of the socket.
   *
   * @param {Namespace} namespace
   */
  #addNamespace(namespace) {
    if (this.#isClosed || this.#namespaces.has(namespace)) return
    for (const socket of namespace.sockets.values()) this.#watch(socket)
    const server = this
    const replaced = new ReplacedMethod(
      namespace,
      'emitReserved',
      (method) =>
        /** @this {Namespace} @param {string} event @param {unknown} given @param {...unknown} rest */
        function (event, given, ...rest) {
          if (event === 'connect') server.#watch(/** @type {Socket} */ (given))
          else if (event === 'new_namespace') server.#addNamespace(/** @type {Namespace} */ (given))
          return method.inner.call(this, event, given, ...rest)
        }
    )
    this.#namespaces.set(namespace, replaced)
  }

  /** @param {Socket} socket */
  #watch(socket) {
    if (this.#isClosed) return
    if (!watchIoSocket(socket, this.#watcher)) this.#sockets.onUnknown()
  }

  /**
   * @param {Socket} socket
   * @param {Packet} packet
   * @param {SocketMessage | undefined} next
   * @returns {Received}
   */
  #receive(socket, packet, next) {
    if (this.#isClosed) return next
    const given = packet.data?.[0]
    // With another parser, a client can send anything in place of the name.
    if (typeof given !== 'string' && typeof given !== 'number')
      return this.#sockets.receive({
        name: UNHANDLED,
        isHandled: false,
        newcomer: undefined,
        next,
      })
    const name = String(given)
    const isHandled = socket.listenerCount(name) > 0
    if (this.#priority !== undefined) {
      const rejection = this.#sockets.rejectionOf(this.#priority, name, socket, isHandled)
      if (rejection !== undefined) {
        answer(socket, packet, rejection)
        return REJECTED
      }
    }
    return this.#sockets.receive({ name, isHandled, newcomer: this.#newcomerOf(socket.conn), next })
  }

  /**
   * Returns the record of a connection that opened a short time ago (newcomers.js). One connection may carry
   * sockets of several namespaces.
   *
   * @param {Connection} connection
   */
  #newcomerOf(connection) {
    for (const engine of this.#engines.values()) {
      const newcomer = engine.newcomerOf(connection)
      if (newcomer !== undefined) return newcomer
    }
    return undefined
  }

  /** @param {Clock} clock */
  goodbye(clock) {
    for (const engine of this.#engines.values()) engine.goodbye(clock)
  }

  close() {
    this.#isClosed = true
    for (const engine of this.#engines.values()) engine.close()
    this.#bind.restore()
    for (const namespace of this.#io._nsps.values()) {
      this.#namespaces.get(namespace)?.restore()
      for (const socket of namespace.sockets.values()) unwatchIoSocket(socket, this.#watcher)
    }
  }
}

/**
 * @param {Socket} socket
 * @param {Packet} packet
 * @param {import('../../../index.js').OverloadedMessage} rejection
 */
function answer(socket, { id }, rejection) {
  if (id !== undefined && id !== null) socket.ack(id)(rejection)
  else socket.emit('spillway:overloaded', rejection)
}

exports.IoServer = IoServer
