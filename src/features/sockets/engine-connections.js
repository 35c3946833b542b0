'use strict'
// Watches the connections of one Engine.IO server, which Socket.IO speaks through: opens, closes and messages; whether a session is known; and whether a
// new connection may open, which `allowRequest` decides.

const { ReplacedMethod } = require('../../core/replaced-method')
const { reasonOfEngine } = require('./close-reasons')
const { sizeOf } = require('./payload-size')

/** @import { Sockets } from './sockets' */

const SID = /[?&]sid=([^&#]+)/
/** How long a goodbye may take to reach the client. */
const GOODBYE_MS = 2000

class EngineConnections {
  #engine
  #pathOf
  #sockets
  #allowRequest
  /** By connection: the name of its transport. */
  #transports = new Map()
  /** Of those that opened since this instance watches. @type {WeakMap<object, import('./newcomers').Newcomer>} */
  #newcomers = new WeakMap()
  #isClosed = false
  /** Set by `goodbye()`. @type {import('../../core/clock').Clock | undefined} */
  #goodbyeClock
  #onConnection = (connection) => this.#add(connection, true)
  #onPacket
  #onPacketCreate
  #onUpgrade
  #onClose

  /** @param {any} engine @param {() => string} pathOf the path that its requests begin with @param {Sockets} sockets */
  constructor(engine, pathOf, sockets) {
    this.#engine = engine
    this.#pathOf = pathOf
    this.#sockets = sockets
    const { connections } = sockets
    const engines = this
    this.#onPacket = ({ type, data }) => {
      if (type === 'message') connections.onReceive(sizeOf(data))
    }
    this.#onPacketCreate = ({ type, data }) => {
      if (type === 'message') connections.onSend(sizeOf(data))
    }
    /** @this {any} */
    this.#onUpgrade = function ({ name }) {
      connections.onUpgrade(engines.#transports.get(this), name)
      engines.#transports.set(this, name)
    }
    /** @this {any} */
    this.#onClose = function (reason) {
      // Another listener of the same close may have closed the watch.
      if (!engines.#transports.has(this)) return
      connections.onClose(engines.#transports.get(this), reasonOfEngine(reason))
      sockets.newcomers.remove(engines.newcomerOf(this))
      engines.#transports.delete(this)
    }
    engine.prependListener('connection', this.#onConnection)
    for (const connection of Object.values(engine.clients)) this.#add(connection, false)
    this.#allowRequest = new ReplacedMethod(
      engine.opts,
      'allowRequest',
      (method) =>
        /** @this {unknown} */
        function (req, callback) {
          engines.#decide(req, () =>
            method.inner === undefined ? callback(null, true) : method.inner.call(this, req, callback)
          )
        }
    )
  }

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
    // Its handshake was under way when the process said goodbye.
    if (isNew) this.#goodbyeClock?.afterTurn(() => this.#dismiss([connection]))
  }

  #decide(req, open) {
    if (this.#isClosed) return open()
    this.#sockets.decide(req, { owner: this, res: req.res, socket: req.socket }, open)
  }

  /** Whether the request is of the engine, by its path. */
  has({ url }) {
    return url.startsWith(this.#pathOf())
  }

  /** What is known of the connection if this instance has seen it open. */
  newcomerOf(connection) {
    return this.#newcomers.get(connection)
  }

  /** Whether the request begins no session. */
  namesSession({ url }) {
    return SID.test(url)
  }

  /** Whether the request belongs to a session that is open: only the engine gives the ids of sessions. */
  hasSession({ url }) {
    const sid = SID.exec(url)?.[1]
    if (sid === undefined) return false
    const { clients } = this.#engine
    // Ids of the application's `generateId` may need to be decoded.
    return Object.hasOwn(clients, sid) || (/[%+]/.test(sid) && Object.hasOwn(clients, decoded(sid)))
  }

  /** Closes every connection, as a lost server does: a client of Socket.IO then connects again, and finds another process. */
  goodbye(clock) {
    this.#goodbyeClock = clock
    this.#dismiss([...this.#transports.keys()])
  }

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

/** As Engine.IO decodes a query: nothing is malformed. */
const decoded = (sid) => String(new URLSearchParams(`sid=${sid}`).get('sid'))

exports.EngineConnections = EngineConnections
