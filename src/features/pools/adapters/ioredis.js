'use strict'
// A client of ioredis: one connection, over which any number of commands are sent. The first unanswered
// command uses the connection. Sent commands behind it count as waiting. So do commands that wait for the
// connection.

/**
 * @typedef {{ sendCommand: unknown, status: string, commandQueue: { length: number },
 *   offlineQueue: { length: number } }} Client
 */

class Redis {
  isTimed = false
  max = 1
  #redis

  /** @param {Client} redis */
  constructor(redis) {
    this.#redis = redis
  }

  get waiting() {
    return this.figures().waiting
  }

  figures() {
    const { status, commandQueue, offlineQueue } = this.#redis
    const used = commandQueue.length > 0 ? 1 : 0
    return {
      used,
      idle: status === 'ready' ? 1 - used : 0,
      waiting: commandQueue.length - used + offlineQueue.length,
      max: 1,
    }
  }

  close() {}
}

module.exports = {
  kind: /** @type {const} */ ('ioredis'),
  accepts: 'a client of ioredis',
  /** @param {Partial<Client>} redis */
  find: (redis) =>
    typeof redis.sendCommand === 'function' &&
    typeof redis.commandQueue?.length === 'number' &&
    typeof redis.offlineQueue?.length === 'number'
      ? redis
      : undefined,
  Adapter: Redis,
}
