'use strict'
// Owns the servers that an instance knows, and the connections of each. A server becomes known by `attach` or
// by its first request.

const { WeakTable } = require('../weak-table')
const { Connections } = require('./connections')

/**
 * @import { Http2Session } from 'node:http2'
 * @import { Server } from 'node:net'
 * @import { ConnectionOwner, ServerSocket } from './connections'
 */

class KnownServers {
  /** @type {WeakTable<Server, Connections>} */
  #connections = new WeakTable()
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

  /** About how many connections to all known servers are open now. */
  get open() {
    let open = 0
    for (const connections of this) open += connections.open
    return open
  }

  /** About how many of them are HTTP/2 sessions. */
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
