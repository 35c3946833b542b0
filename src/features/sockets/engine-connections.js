'use strict'
// Watches one server of Engine.IO, which Socket.IO runs on. It sees when connections open and close, their
// messages, and which sessions are open. `allowRequest` decides on new connections.

const { ReplacedMethod } = require('../../core/replaced-method')
const { reasonOfEngine } = require('./close-reasons')
const { sizeOf } = require('./socket-message')

/**
 * @import { EventEmitter } from 'node:events'
 * @import { Clock } from '../../core/clock'
 * @import { Newcomer } from './newcomers'
 * @import { HandshakeRequest, Sockets } from './sockets'
 */

/**
 * @typedef {EventEmitter & { transport: { name: string }, readyState: string,
 *   close(discard?: boolean): void }} Connection
 * @typedef {(error: string | null, isAllowed: boolean) => void} OnAllowed
 * @typedef {EventEmitter & { clients: Record<string, Connection>, opts: { addTrailingSlash?: boolean } }}
 *   Engine
 * @typedef {{ type: string, data?: unknown }} Packet
 */

const SID = /[?&]sid=([^&#]+)/
/** How long a close may take to reach the client. */
const GOODBYE_MS = 2000

class EngineConnections {
  #engine
  #pathOf
  #sockets
  #allowRequest
  /** The name of each connection's transport. @type {Map<Connection, string>} */
  #transports = new Map()
  /** Connections that opened since this instance watches. @type {WeakMap<Connection, Newcomer>} */
  #newcomers = new WeakMap()
  #isClosed = false
  /** Set by `goodbye()`. @type {Clock | undefined} */
  #goodbyeClock
  /** @param {Connection} connection */
  #onConnection = (connection) => this.#add(connection, true)
  #onPacket
  #onPacketCreate
  #onUpgrade
  #onClose

  /**
   * @param {Engine} engine
   * @param {() => string} pathOf the path that its requests begin with
   * @param {Sockets} sockets
   */
  constructor(engine, pathOf, sockets) {
    this.#engine = engine
    this.#pathOf = pathOf
    this.#sockets = sockets
    const { connections } = sockets
    const engines = this
    /** @param {Packet} packet */
    this.#onPacket = ({ type, data }) => {
      if (type === 'message') connections.onReceive(sizeOf(data))
    }
    /** @param {Packet} packet */
    this.#onPacketCreate = ({ type, data }) => {
      if (type === 'message') connections.onSend(sizeOf(data))
    }
    /** @param {{ name: string }} transport @this {Connection} */
    this.#onUpgrade = function ({ name }) {
      connections.onUpgrade(/** @type {string} */ (engines.#transports.get(this)), name)
      engines.#transports.set(this, name)
    }
    /** @this {Connection} @param {string} reason */
    this.#onClose = function (reason) {
      // Another listener of this event may have ended the watch.
      if (!engines.#transports.has(this)) return
      connections.onClose(/** @type {string} */ (engines.#transports.get(this)), reasonOfEngine(reason))
      sockets.newcomers.remove(engines.newcomerOf(this))
      engines.#transports.delete(this)
    }
    engine.prependListener('connection', this.#onConnection)
    for (const connection of Object.values(engine.clients)) this.#add(connection, false)
    this.#allowRequest = new ReplacedMethod(
      engine.opts,
      'allowRequest',
      (method) =>
        /** @this {unknown} @param {HandshakeRequest} req @param {OnAllowed} callback */
        function (req, callback) {
          engines.#openOrRefuse(req, () =>
            method.inner === undefined ? callback(null, true) : method.inner.call(this, req, callback)
          )
        }
    )
  }

  /** @param {Connection} connection @param {boolean} isNew */
  #add(connection, isNew) {
    if (this.#transports.has(connection)) return
    const { name } = connection.transport
    const { connections } = this.#sockets
    this.#transports.set(connection, name)
    if (isNew) {
      connections.onOpen(name)
      this.#newcomers.set(connection, this.#sockets.newcomers.add())
    } else connections.onFound(name)
    connection.on('packet', this.#onPacket)
    connection.on('packetCreate', this.#onPacketCreate)
    connection.on('upgrade', this.#onUpgrade)
    connection.on('close', this.#onClose)
    // The connection's handshake was in progress when all other connections were closed.
    if (isNew) this.#goodbyeClock?.afterTurn(() => this.#dismiss([connection]))
  }

  /** @param {HandshakeRequest} req @param {() => void} open */
  #openOrRefuse(req, open) {
    if (this.#isClosed) return open()
    this.#sockets.openOrRefuse(req, { owner: this, res: req.res, socket: req.socket }, open)
  }

  /** Whether the request belongs to the engine, by its path. @param {HandshakeRequest} req */
  has({ url }) {
    return /** @type {string} */ (url).startsWith(this.#pathOf())
  }

  /**
   * The newcomer of a connection; undefined if it opened before this instance watched.
   *
   * @param {Connection} connection
   */
  newcomerOf(connection) {
    return this.#newcomers.get(connection)
  }

  /** Whether the request names a session, so it does not begin one. @param {HandshakeRequest} req */
  namesSession({ url }) {
    return SID.test(/** @type {string} */ (url))
  }

  /**
   * Whether the request belongs to an open session. A client cannot invent one, because the engine gives the
   * ids.
   *
   * @param {HandshakeRequest} req
   */
  hasSession({ url }) {
    const sid = SID.exec(/** @type {string} */ (url))?.[1]
    if (sid === undefined) return false
    const { clients } = this.#engine
    // Ids of the application's `generateId` may need to be decoded.
    return Object.hasOwn(clients, sid) || (/[%+]/.test(sid) && Object.hasOwn(clients, decoded(sid)))
  }

  /**
   * Closes every connection as if the server was lost. So clients of Socket.IO connect again, to another
   * process.
   *
   * @param {Clock} clock
   */
  goodbye(clock) {
    this.#goodbyeClock = clock
    this.#dismiss([...this.#transports.keys()])
  }

  /** @param {Connection[]} leaving */
  #dismiss(leaving) {
    for (const connection of leaving) this.#sockets.guard(() => connection.close())
    if (leaving.length === 0) return
    this.#goodbyeClock?.after(GOODBYE_MS, () => {
      for (const connection of leaving)
        if (connection.readyState !== 'closed') this.#sockets.guard(() => connection.close(true))
    })
  }

  close() {
    this.#isClosed = true
    const engine = this.#engine
    engine.off('connection', this.#onConnection)
    this.#allowRequest.restore()
    this.#sockets.open(this)
    for (const [connection, transport] of this.#transports) {
      connection.off('packet', this.#onPacket)
      connection.off('packetCreate', this.#onPacketCreate)
      connection.off('upgrade', this.#onUpgrade)
      connection.off('close', this.#onClose)
      this.#sockets.connections.onForget(transport)
      this.#sockets.newcomers.remove(this.newcomerOf(connection))
    }
    this.#transports.clear()
  }
}

/** Decodes as Engine.IO decodes a query. A malformed escape does not throw. @param {string} sid */
const decoded = (sid) => String(new URLSearchParams(`sid=${sid}`).get('sid'))

exports.EngineConnections = EngineConnections
