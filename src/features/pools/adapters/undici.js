'use strict'
// A Pool or Client of undici, measured by its `stats`. A pool does not show how many connections it may open.
// The time of calls is measured by host: features/outgoing/outgoing-calls.js.

/**
 * @typedef {{ dispatch: unknown, stats: { connected: number | boolean, free?: number, pending: number,
 *   running: number } }} Pool
 */

class UndiciPool {
  isTimed = false
  max = 0
  #pool

  /** @param {Pool} pool */
  constructor(pool) {
    this.#pool = pool
  }

  get waiting() {
    return this.#pool.stats.pending
  }

  figures() {
    const { connected, free, pending, running } = this.#pool.stats
    const open = Number(connected)
    // A client has no `free`, so its connection counts as used while a request runs.
    const used = free === undefined ? Math.min(open, running) : open - free
    return { used, idle: open - used, waiting: pending, max: 0 }
  }

  close() {}
}

module.exports = {
  kind: /** @type {const} */ ('undici'),
  accepts: 'a Pool or Client of undici (7 or newer for a Client)',
  /** @param {Partial<Pool>} pool */
  find: (pool) =>
    typeof pool.dispatch === 'function' &&
    typeof pool.stats?.pending === 'number' &&
    typeof pool.stats.running === 'number'
      ? pool
      : undefined,
  Adapter: UndiciPool,
}
