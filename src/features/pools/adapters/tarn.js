'use strict'
// A pool of tarn, also the one inside of knex or of a ConnectionPool of mssql. The pool emits an event for
// each step, so no method is replaced. After `destroy()` and `initialize()`, knex has another pool, and so
// has mssql after `close()` and `connect()`. The new pool is observed from the next reading of the figures
// on.

/**
 * @import { PoolRecord, PoolUse } from '../pool-record'
 */

/**
 * @typedef {(event: string, listener: Listener) => unknown} Listen
 * @typedef {(id: unknown, given?: unknown) => void} Listener
 * @typedef {{ acquire: unknown, release: unknown, on: Listen, removeListener: Listen, numUsed: () => number,
 *   numFree: () => number, numPendingAcquires: () => number, max?: number }} Pool
 * @typedef {Partial<Pool> & { client?: { pool?: Partial<Pool>, connectionSettings?: { database?: string } },
 *   pool?: Partial<Pool> }} Given a pool, an instance of knex, or a ConnectionPool of mssql
 */

class TarnPool {
  isTimed = true
  #given
  /** A Pool. The type is `any`, because `#observe` sets it and not the constructor itself. @type {any} */
  #pool
  #record
  /** Waiting callers by the number that tarn gives them. @type {Map<unknown, PoolUse>} */
  #asking = new Map()

  /** @param {Given} given @param {PoolRecord} record */
  constructor(given, record) {
    this.#given = given
    this.#record = record
    this.#observe(/** @type {Pool} */ (poolIn(given)))
  }

  /** @param {Pool} pool */
  #observe(pool) {
    this.#pool = pool
    for (const [event, listener] of this.#listeners) pool.on(event, listener)
  }

  /**
   * Observes a new pool. The earlier pool needs no clean-up: a destroyed pool has removed its listeners, and
   * has no callers and no connections.
   */
  #follow() {
    const pool = poolIn(this.#given)
    if (pool !== undefined && pool !== this.#pool) this.#observe(pool)
  }

  /** @type {[event: string, listener: Listener][]} */
  #listeners = [
    ['acquireRequest', (id) => this.#asking.set(id, this.#record.ask())],
    ['acquireSuccess', (id, connection) => this.#answer(id, (use) => this.#record.grant(use, connection))],
    ['acquireFail', (id, error) => this.#answer(id, (use) => this.#record.fail(use, error))],
    ['release', (connection) => this.#record.release(connection)],
    ['destroyRequest', (_id, connection) => this.#record.release(connection)],
  ]

  /** @param {unknown} id @param {(use: PoolUse) => void} tell */
  #answer(id, tell) {
    const use = this.#asking.get(id)
    this.#asking.delete(id)
    if (use !== undefined) tell(use)
  }

  get max() {
    return this.#pool.max ?? 0
  }

  get waiting() {
    return this.#pool.numPendingAcquires()
  }

  figures() {
    this.#follow()
    return {
      used: this.#pool.numUsed(),
      idle: this.#pool.numFree(),
      waiting: this.waiting,
      max: this.max,
    }
  }

  close() {
    for (const [event, listener] of this.#listeners) this.#pool.removeListener(event, listener)
    this.#asking.clear()
  }
}

/** @param {Partial<Record<string, unknown>> | undefined} pool @returns {pool is Pool} */
const isPool = (pool) =>
  ['acquire', 'release', 'on', 'removeListener', 'numUsed', 'numFree', 'numPendingAcquires'].every(
    (name) => typeof pool?.[name] === 'function'
  )

/** @param {Given} given */
const poolIn = (given) => [given, given.client?.pool, given.pool].find(isPool)

module.exports = {
  kind: /** @type {const} */ ('tarn'),
  accepts: 'an instance of knex, a connected ConnectionPool of mssql, or a Pool of tarn',
  /** @param {Given} given */
  find: (given) => (poolIn(given) === undefined ? undefined : given),
  /** @param {Given} given */
  nameOf: ({ client }) => client?.connectionSettings?.database,
  Adapter: TarnPool,
}
