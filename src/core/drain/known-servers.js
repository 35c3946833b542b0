'use strict'
// Owns the servers that an instance knows, and the connections of each. A server becomes known by `attach` or
// by its first request. Parts that keep something for each server have a `ServerTable`.

const { Connections } = require('./connections')

/**
 * @import { Http2Session } from 'node:http2'
 * @import { Server } from 'node:net'
 * @import { ConnectionOwner, ServerSocket } from './connections'
 */

/**
 * A map from servers to values that does not keep the servers in memory, and can be iterated. Some
 * applications make a server per connection (`http.createServer(app).emit('connection', channel)` behind a
 * tunnel), so a strong map would grow for ever.
 *
 * @template {WeakKey} Server @template Value
 */
class ServerTable {
  /** Weak by key: a value may refer to its server. @type {WeakMap<Server, Value>} */
  #values = new WeakMap()
  /** @type {Set<WeakRef<Server>>} */
  #servers = new Set()
  #collected = new FinalizationRegistry((/** @type {WeakRef<Server>} */ ref) => this.#servers.delete(ref))

  /** @param {Server} server */
  has(server) {
    return this.#values.has(server)
  }

  /** @param {Server | undefined} server */
  get(server) {
    return this.#values.get(/** @type {Server} */ (server))
  }

  /** @param {Server} server @param {Value} value */
  set(server, value) {
    if (!this.#values.has(server)) {
      const ref = new WeakRef(server)
      this.#servers.add(ref)
      this.#collected.register(server, ref)
    }
    this.#values.set(server, value)
  }

  /** @returns {Generator<[Server, Value], void>} */
  *[Symbol.iterator]() {
    for (const ref of this.#servers) {
      const server = ref.deref()
      if (server !== undefined) yield [server, /** @type {Value} */ (this.#values.get(server))]
    }
  }

  clear() {
    this.#values = new WeakMap()
    this.#servers.clear()
  }
}

class KnownServers {
  /** @type {ServerTable<Server, Connections>} */
  #connections = new ServerTable()
  #isClosed = false
  #onClose
  #onListen
  #isInListen

  /**
   * @param {{ onClose?: () => void, onListen?: (server: Server) => void, isInListen?: boolean | undefined }}
   *   [parts] `onClose`: a known server closes. `onListen`: a known server begins to listen, or listens when
   *   it becomes known. `isInListen`: whether servers become known during their `listen()`
   */
  constructor({ onClose = () => {}, onListen = () => {}, isInListen = false } = {}) {
    this.#onClose = onClose
    this.#onListen = onListen
    this.#isInListen = isInListen
  }

  /** @param {Server} server @param {ConnectionOwner} [req] the request that makes the server known */
  add(server, req) {
    if (this.#connections.has(server) || this.#isClosed) return
    const connections = new Connections(server, {
      onClose: this.#onClose,
      onListen: () => this.#onListen(server),
      isInListen: this.#isInListen,
    })
    this.#connections.set(server, connections)
    if (req !== undefined) connections.addFrom(req)
  }

  /**
   * Adds an HTTP/2 session at its first request: the session may be older than the instance's knowledge of
   * the server.
   *
   * @param {{ session: Http2Session | undefined, socket: ServerSocket | undefined }} request
   */
  addSession({ session, socket }) {
    this.#connections.get(socket?.server)?.addSession(/** @type {Http2Session} */ (session))
  }

  *[Symbol.iterator]() {
    for (const [, connections] of this.#connections) yield connections
  }

  /** The number of connections that all known servers accepted. */
  get accepted() {
    let accepted = 0
    for (const connections of this) accepted += connections.accepted
    return accepted
  }

  /** The number of connections to all known servers that are open now. */
  get open() {
    let open = 0
    for (const connections of this) open += connections.open
    return open
  }

  /** The number of HTTP/2 sessions among the open connections. */
  get sessions() {
    let sessions = 0
    for (const connections of this) sessions += connections.sessions
    return sessions
  }

  get areDone() {
    for (const connections of this) if (!connections.isDone) return false
    return true
  }

  close() {
    this.#isClosed = true
    for (const connections of this) connections.release()
    this.#connections.clear()
  }
}

exports.KnownServers = KnownServers
exports.ServerTable = ServerTable
