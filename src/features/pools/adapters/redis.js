'use strict'
// A client of redis (node-redis): one connection, over which any number of commands are sent, as in
// ioredis.js. The diagnostics channels of redis would show the same figures. But with a subscriber to these
// channels, each client of the process copies the arguments of each command. Reading the length of the queue
// costs nothing.

/**
 * @typedef {{ sendCommand: unknown, isReady: boolean, _getQueue: () => { pendingCount: number } }} Client
 */

class RedisClient {
  isTimed = false
  max = 1
  #client

  /** @param {Client} client */
  constructor(client) {
    this.#client = client
  }

  get waiting() {
    return this.figures().waiting
  }

  figures() {
    const { pendingCount } = this.#client._getQueue()
    const used = pendingCount > 0 ? 1 : 0
    return { used, idle: this.#client.isReady ? 1 - used : 0, waiting: pendingCount - used, max: 1 }
  }

  close() {}
}

module.exports = {
  kind: /** @type {const} */ ('redis'),
  accepts: 'a client of redis 5.12 or newer',
  /** @param {Partial<Client>} client */
  find: (client) =>
    typeof client.sendCommand === 'function' &&
    typeof client.isReady === 'boolean' &&
    typeof client._getQueue === 'function' &&
    typeof client._getQueue()?.pendingCount === 'number'
      ? client
      : undefined,
  Adapter: RedisClient,
}
