'use strict'
// The pool of Sequelize 4 to 6: a Pool of sequelize-pool. With replication Sequelize has one pool for reads
// and one for writes, and each is passed to `pool()` separately.

const { Adapter: GenericPool } = require('./generic-pool')

/**
 * @typedef {{ acquire: unknown, release: unknown, destroy: unknown, using: number, available: number,
 *   waiting: number, maxSize: number }} Pool
 */

class SequelizePool extends GenericPool {
  get #own() {
    return /** @type {Pool} */ (/** @type {unknown} */ (this.pool))
  }

  /** @override */
  get max() {
    return this.#own.maxSize
  }

  /** @override */
  get waiting() {
    return this.#own.waiting
  }

  /** @override */
  figures() {
    const { using, available, waiting, maxSize } = this.#own
    return { used: using, idle: available, waiting, max: maxSize }
  }
}

module.exports = {
  kind: /** @type {const} */ ('sequelize'),
  accepts:
    'an instance of Sequelize, or with replication its connectionManager.pool.read and connectionManager.pool.write',
  /** @param {Record<string, unknown>} pool */
  find: (pool) =>
    ['acquire', 'release', 'destroy'].every((name) => typeof pool[name] === 'function') &&
    ['using', 'available', 'waiting', 'maxSize'].every((name) => typeof pool[name] === 'number')
      ? pool
      : undefined,
  Adapter: SequelizePool,
}
