'use strict'
// What is kept of each server, for as long as somebody else keeps the server. Some applications make one for every connection
// (`http.createServer(app).emit('connection', channel)` behind a tunnel), every test of many does: each stayed for ever (3 kB).

class ServerTable {
  /** A server holds what is kept of it, which may hold the server. */
  #kept = new WeakMap()
  #servers = new Set()
  #gone = new FinalizationRegistry((held) => this.#servers.delete(held))

  has(server) {
    return this.#kept.has(server)
  }

  get(server) {
    return this.#kept.get(server)
  }

  set(server, kept) {
    if (!this.#kept.has(server)) {
      const held = new WeakRef(server)
      this.#servers.add(held)
      this.#gone.register(server, held)
    }
    this.#kept.set(server, kept)
  }

  *[Symbol.iterator]() {
    for (const held of this.#servers) {
      const server = held.deref()
      if (server !== undefined) yield [server, this.#kept.get(server)]
    }
  }

  clear() {
    this.#kept = new WeakMap()
    this.#servers.clear()
  }
}

module.exports = { ServerTable }
