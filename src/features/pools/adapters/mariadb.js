'use strict'
// A pool of the `mariadb` driver, measured by its own figures. Its methods ask for a connection internally,
// and its event `acquire` does not name the caller. So neither waits nor holders can be measured.

const { numberOf } = require('../pool-values')

/**
 * @typedef {{ totalConnections: () => number, activeConnections: () => number,
 *   idleConnections: () => number, taskQueueSize: () => number }} Pool
 */

/** The bound is only in the pool's text: `poolPromise(active=0 idle=1 limit=10)`. */
const LIMIT = /\blimit=(\d+)/

class MariadbPool {
  isTimed = false
  max
  #pool

  /** @param {Pool} pool */
  constructor(pool) {
    this.#pool = pool
    this.max = numberOf(Number(LIMIT.exec(String(pool))?.[1]))
  }

  get waiting() {
    return this.#pool.taskQueueSize()
  }

  figures() {
    const pool = this.#pool
    return {
      used: pool.activeConnections(),
      idle: pool.idleConnections(),
      waiting: pool.taskQueueSize(),
      max: this.max,
    }
  }

  close() {}
}

/** @type {(keyof Pool)[]} */
const FIGURES = ['totalConnections', 'activeConnections', 'idleConnections', 'taskQueueSize']

module.exports = {
  kind: /** @type {const} */ ('mariadb'),
  accepts: 'a pool of mariadb',
  /** @param {Partial<Pool>} pool */
  find: (pool) => (FIGURES.every((name) => typeof pool[name] === 'function') ? pool : undefined),
  Adapter: MariadbPool,
}
