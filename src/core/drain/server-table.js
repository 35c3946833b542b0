'use strict'
// A map from servers to values that does not keep the servers in memory, and can be iterated. Some
// applications make a server per connection (`http.createServer(app).emit('connection', channel)` behind a
// tunnel), so a strong map would grow for ever.

/** @template {WeakKey} Server @template Value */
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

exports.ServerTable = ServerTable
