'use strict'
// A pool of generic-pool. `use` calls `acquire` and `release`. A destroyed resource is not also released, so
// `destroy` is observed too. The pool of Sequelize has the same methods: sequelize.js.

const { ReplacedMethod } = require('../../../core/replaced-method')

/** @import { PoolRecord } from '../pool-record' */

/**
 * @typedef {{ acquire: unknown, release: unknown, destroy: unknown, borrowed: number, available: number,
 *   pending: number, max?: number }} Pool
 */

class GenericPool {
  isTimed = true
  /** Used by sequelize.js, whose pools have other names for the figures. */
  pool
  #record
  #methods
  #isOpen = true

  /** @param {Pool} pool @param {PoolRecord} record */
  constructor(pool, record) {
    this.pool = pool
    this.#record = record
    /** @param {ReplacedMethod} method */
    const observeEnd = (method) => this.#observeEnd(method)
    this.#methods = [
      new ReplacedMethod(pool, 'acquire', (method) => this.#observeAcquire(method)),
      new ReplacedMethod(pool, 'release', observeEnd),
      new ReplacedMethod(pool, 'destroy', observeEnd),
    ]
  }

  /** @param {ReplacedMethod} method */
  #observeAcquire(method) {
    const adapter = this
    const record = this.#record
    /** @this {unknown} */
    return function acquire() {
      if (!adapter.#isOpen) return Reflect.apply(method.inner, this, arguments)
      return record.call(record.ask(), method.inner, this, arguments)
    }
  }

  /** @param {ReplacedMethod} method */
  #observeEnd(method) {
    const adapter = this
    /** @this {unknown} @param {unknown} resource */
    return function end(resource) {
      if (adapter.#isOpen) adapter.#record.release(resource)
      return Reflect.apply(method.inner, this, arguments)
    }
  }

  get max() {
    return this.pool.max ?? 0
  }

  get waiting() {
    return this.pool.pending
  }

  figures() {
    const { borrowed, available, pending } = this.pool
    return { used: borrowed, idle: available, waiting: pending, max: this.max }
  }

  close() {
    this.#isOpen = false
    for (const method of this.#methods) method.restore()
  }
}

module.exports = {
  kind: /** @type {const} */ ('generic-pool'),
  accepts: 'a pool of generic-pool',
  /** @param {Record<string, unknown>} pool */
  find: (pool) =>
    ['acquire', 'release', 'destroy'].every((name) => typeof pool[name] === 'function') &&
    ['borrowed', 'available', 'pending'].every((name) => typeof pool[name] === 'number')
      ? pool
      : undefined,
  Adapter: GenericPool,
}
