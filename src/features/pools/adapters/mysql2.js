'use strict'
// The pools of mysql2, with callbacks or promises, and of mysql. `query` and `execute` call `getConnection`,
// and each connection that is given back or closed passes through `releaseConnection`. If the chosen
// connection is lost, the pool calls `getConnection` again with our callback, for the same caller. Each
// observer of a pool wraps the callback before it calls the next observer. Each wrapper lists the observers
// that have counted the caller. Other copies of this package can read this list.

const { ReplacedMethod } = require('../../../core/replaced-method')
const { nameOfQuery } = require('../query-names')

/** @import { PoolRecord } from '../pool-record' */

const COUNTED_BY = Symbol.for('spillway.mysql2.countedBy')

/**
 * @typedef {{ getConnection: unknown, releaseConnection: unknown, config?: { connectionLimit?: number,
 *   connectionConfig?: { database?: string } },
 *   _allConnections: { length: number }, _freeConnections: { length: number },
 *   _connectionQueue: { length: number } }} Pool with callbacks
 * @typedef {((error: unknown, connection: unknown) => unknown) & { [COUNTED_BY]?: object[] }} Callback
 */

/** @type {object[]} */
const NOBODY = []

class Mysql2Pool {
  isTimed = true
  #pool
  #record
  #methods
  #isOpen = true

  /** @param {Pool} pool @param {PoolRecord} record */
  constructor(pool, record) {
    this.#pool = pool
    this.#record = record
    this.#methods = [
      new ReplacedMethod(pool, 'getConnection', (method) => this.#observeGet(method)),
      new ReplacedMethod(pool, 'releaseConnection', (method) => this.#observeRelease(method)),
    ]
  }

  /** @param {ReplacedMethod} method */
  #observeGet(method) {
    const adapter = this
    const record = this.#record
    // Hot path: once a use.
    /** @this {unknown} @param {Callback | undefined} callback */
    return function getConnection(callback) {
      const countedBy = callback?.[COUNTED_BY] ?? NOBODY
      if (!adapter.#isOpen || typeof callback !== 'function' || countedBy.includes(adapter))
        return Reflect.apply(method.inner, this, arguments)
      const use = record.ask()
      /** @type {Callback} */
      const observed = (error, connection) => {
        if (error) record.fail(use, error)
        else record.grant(use, connection)
        return callback(error, connection)
      }
      observed[COUNTED_BY] = [...countedBy, adapter]
      return record.call(use, method.inner, this, [observed])
    }
  }

  /** @param {ReplacedMethod} method */
  #observeRelease(method) {
    const adapter = this
    /** @this {unknown} @param {unknown} connection */
    return function releaseConnection(connection) {
      // Recorded before the pool passes the connection to the next caller.
      if (adapter.#isOpen) adapter.#record.release(connection)
      return Reflect.apply(method.inner, this, arguments)
    }
  }

  get max() {
    return this.#pool.config?.connectionLimit ?? 0
  }

  get waiting() {
    return this.#pool._connectionQueue.length
  }

  figures() {
    const { _allConnections: all, _freeConnections: free } = this.#pool
    return { used: all.length - free.length, idle: free.length, waiting: this.waiting, max: this.max }
  }

  close() {
    this.#isOpen = false
    for (const method of this.#methods) method.restore()
  }
}

/** @param {Partial<Pool> | undefined} pool */
const isPool = (pool) =>
  typeof pool?.getConnection === 'function' &&
  typeof pool.releaseConnection === 'function' &&
  [pool._allConnections, pool._freeConnections, pool._connectionQueue].every(
    (each) => typeof each?.length === 'number'
  )

module.exports = {
  kind: /** @type {const} */ ('mysql2'),
  accepts: 'a pool of mysql2',
  /**
   * A pool with promises contains the pool with callbacks.
   *
   * @param {Partial<Pool> & { pool?: Partial<Pool> }} given
   */
  find: (given) => [given, given.pool].find(isPool),
  /** @param {Pool} pool */
  nameOf: ({ config }) => config?.connectionConfig?.database,
  Adapter: Mysql2Pool,
  queries: {
    system: 'mysql',
    methods: ['query', 'execute'],
    nameOf: nameOfQuery,
    takesCallback: true,
    commandCallback: 'onResult',
  },
}
