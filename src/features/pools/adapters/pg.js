'use strict'
// `pg.Pool`, and `pg-pool` by itself. `pool.query` calls `pool.connect`, so one method sees every caller. The
// pool emits `release` for each connection that is given back, and `remove` for each closed connection. A
// pg-pool before 3.6 lacks the event `release`, so the method `_release` is observed too. It stays observed.
// If a property of the pool were deleted, V8 would keep the pool's properties in a hash table. Each use would
// then take twice as long.

const { ReplacedMethod } = require('../../../core/replaced-method')
const { nameOfQuery } = require('../query-names')

/** @import { PoolRecord } from '../pool-record' */

/**
 * @typedef {(event: string, listener: (...given: never[]) => void) => unknown} Listen
 * @typedef {{ connect: unknown, _release?: unknown, on: Listen, off: Listen, totalCount: number,
 *   idleCount: number, waitingCount: number, options?: { max?: number, database?: string,
 *   connectionString?: string } }} Pool
 * @typedef {(error: unknown, client: unknown, done: unknown) => unknown} Callback
 */

class PgPool {
  isTimed = true
  #pool
  #record
  #connect
  /** @type {ReplacedMethod | undefined} */
  #release
  #isOpen = true

  /** @param {Pool} pool @param {PoolRecord} record */
  constructor(pool, record) {
    this.#pool = pool
    this.#record = record
    this.#connect = new ReplacedMethod(pool, 'connect', (method) => this.#observeConnect(method))
    if (typeof pool._release === 'function')
      this.#release = new ReplacedMethod(pool, '_release', (method) => this.#observeRelease(method))
    pool.on('release', this.#onRelease)
    pool.on('remove', this.#onRemove)
  }

  /** @param {ReplacedMethod} method */
  #observeConnect(method) {
    const adapter = this
    const record = this.#record
    // Hot path: once a use.
    /** @this {unknown} @param {Callback | undefined} callback */
    return function connect(callback) {
      if (!adapter.#isOpen) return Reflect.apply(method.inner, this, arguments)
      const use = record.ask()
      const given =
        typeof callback !== 'function'
          ? []
          : [
              /** @type {Callback} */
              (error, client, done) => {
                if (error) record.fail(use, error)
                else record.grant(use, client)
                return callback(error, client, done)
              },
            ]
      return record.call(use, method.inner, this, given)
    }
  }

  /** @param {ReplacedMethod} method */
  #observeRelease(method) {
    const adapter = this
    /** @this {unknown} @param {unknown} client */
    return function release(client) {
      // Record the release before the pool hands the connection to the next caller.
      if (adapter.#isOpen) adapter.#record.release(client)
      return Reflect.apply(method.inner, this, arguments)
    }
  }

  /** @param {unknown} _error @param {unknown} client */
  #onRelease = (_error, client) => {
    this.#record.release(client)
  }

  /** @param {unknown} client */
  #onRemove = (client) => this.#record.release(client)

  get max() {
    return this.#pool.options?.max ?? 0
  }

  get waiting() {
    return this.#pool.waitingCount
  }

  figures() {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, max: this.max }
  }

  close() {
    this.#isOpen = false
    this.#release?.restore()
    this.#connect.restore()
    this.#pool.off('release', this.#onRelease)
    this.#pool.off('remove', this.#onRemove)
  }
}

/** @param {string | undefined} url such as `postgres://host/orders` */
const databaseIn = (url) => (URL.canParse(url ?? '') ? new URL(url ?? '').pathname.slice(1) : undefined)

module.exports = {
  kind: /** @type {const} */ ('pg'),
  accepts: 'a Pool of pg',
  /** @param {Partial<Pool>} pool */
  find: (pool) =>
    typeof pool.connect === 'function' &&
    typeof pool.on === 'function' &&
    typeof pool.totalCount === 'number' &&
    typeof pool.idleCount === 'number' &&
    typeof pool.waitingCount === 'number'
      ? pool
      : undefined,
  /** @param {Pool} pool */
  nameOf: ({ options }) => options?.database ?? databaseIn(options?.connectionString),
  Adapter: PgPool,
  queries: { system: 'postgresql', methods: ['query'], nameOf: nameOfQuery, takesCallback: true },
}
