'use strict'
// A map from servers to values that does not keep the servers in memory, and can be iterated. Some applications make a server
// per connection (`http.createServer(app).emit('connection', channel)` behind a tunnel), so a strong map would grow for ever.

class ServerTable {
  /** Weak by key: a value may refer to its server. */
  #values = new WeakMap()
  /** @type {Set<WeakRef<object>>} */
  #servers = new Set()
  #collected = new FinalizationRegistry((/** @type {WeakRef<object>} */ ref) => this.#servers.delete(ref))

  has(server) {
    return this.#values.has(server)
  }

  get(server) {
    return this.#values.get(server)
  }

  set(server, value) {
    if (!this.#values.has(server)) {
      const ref = new WeakRef(server)
      this.#servers.add(ref)
      this.#collected.register(server, ref)
    }
    this.#values.set(server, value)
  }

  *[Symbol.iterator]() {
    for (const ref of this.#servers) {
      const server = ref.deref()
      if (server !== undefined) yield [server, this.#values.get(server)]
    }
  }

  clear() {
    this.#values = new WeakMap()
    this.#servers.clear()
  }
}

exports.ServerTable = ServerTable
