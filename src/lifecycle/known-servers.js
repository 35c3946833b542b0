'use strict'
// The servers an instance has met: given to `attach`, or found behind a request. Each with its connections.

const { Connections } = require('./connections')
const { ServerTable } = require('./server-table')

class KnownServers {
  #connections = new ServerTable()
  #isClosed = false
  /** Told when one of them has closed. */
  onClose = () => {}
  /** Told when one of them listens, or does so when it is met. */
  onListen = (_server) => {}

  /** @param {any} [req] the request by which it was met */
  know(server, req) {
    if (this.#connections.has(server) || this.#isClosed) return
    const connections = new Connections(server, {
      onClose: () => this.onClose(),
      onListen: () => this.onListen(server),
    })
    this.#connections.set(server, connections)
    if (req !== undefined) connections.addFrom(req)
    if (server.listening) this.onListen(server)
  }

  /** A session that was opened before its server was met is known from its first request on. */
  addSession({ session, socket }) {
    this.#connections.get(socket?.server)?.addSession(session)
  }

  *[Symbol.iterator]() {
    for (const [, connections] of this.#connections) yield connections
  }

  /** How many connections were accepted by all of them, ever. */
  get accepted() {
    let accepted = 0
    for (const connections of this) accepted += connections.accepted
    return accepted
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

module.exports = { KnownServers }
