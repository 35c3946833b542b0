'use strict'
// A pool of redis (node-redis): `createClientPool()` or `client.createPool()`. Every command, transaction and
// task goes through `execute(task)`, which calls the task with a client. The pool takes the client back once
// the promise of the task is settled. `withCommandOptions()` derives other objects from `_self`, so the
// method is replaced on `_self`.

const { ReplacedMethod } = require('../../../core/replaced-method')

/** @import { PoolRecord, PoolUse } from '../pool-record' */

/**
 * @typedef {{ execute: unknown, totalClients: number, idleClients: number, clientsInUse: number,
 *   tasksQueueLength: number, _self?: Pool }} Pool
 * @typedef {(client: unknown) => unknown} Task
 */

class RedisPool {
  isTimed = true
  #pool
  #record
  #execute
  #isOpen = true
  /** Number of clients when a task had to wait and no client was added; 0 until that happens. */
  #full = 0

  /** @param {Pool} pool @param {PoolRecord} record */
  constructor(pool, record) {
    this.#pool = pool
    this.#record = record
    this.#execute = new ReplacedMethod(pool, 'execute', (method) => this.#observeExecute(method))
  }

  /** @param {ReplacedMethod} method */
  #observeExecute(method) {
    const adapter = this
    const record = this.#record
    // Hot path: once a use.
    /** @this {unknown} @param {Task | undefined} task */
    return function execute(task) {
      if (!adapter.#isOpen || typeof task !== 'function') return Reflect.apply(method.inner, this, arguments)
      const { totalClients, tasksQueueLength } = adapter.#pool
      const use = record.ask()
      /** @type {Task} */
      const observed = (client) => adapter.#run(use, task, client)
      const answer = record.call(use, method.inner, this, [observed])
      if (adapter.#pool.tasksQueueLength > tasksQueueLength && adapter.#pool.totalClients === totalClients)
        adapter.#full = totalClients
      return answer
    }
  }

  /** @param {PoolUse} use @param {Task} task @param {unknown} client */
  #run(use, task, client) {
    const record = this.#record
    record.grant(use, client)
    const end = () => record.release(client)
    let result
    try {
      result = task(client)
    } catch (error) {
      end()
      throw error
    }
    // The pool adds its own callbacks later, so the release is recorded before the next caller gets the
    // client.
    if (result instanceof Promise) result.then(end, end)
    else end()
    return result
  }

  /**
   * The most clients. The pool does not show its `maximum`, but it is reached if a task waits and no client
   * is added.
   */
  get max() {
    return this.#full === 0 ? 0 : Math.max(this.#full, this.#pool.totalClients)
  }

  get waiting() {
    return this.#pool.tasksQueueLength
  }

  figures() {
    const { clientsInUse, idleClients } = this.#pool
    return { used: clientsInUse, idle: idleClients, waiting: this.waiting, max: this.max }
  }

  close() {
    this.#isOpen = false
    this.#execute.restore()
  }
}

module.exports = {
  kind: /** @type {const} */ ('redis'),
  accepts: 'a pool of redis',
  /** @param {Partial<Pool>} pool */
  find: (pool) =>
    typeof pool.execute === 'function' &&
    typeof pool.totalClients === 'number' &&
    typeof pool.idleClients === 'number' &&
    typeof pool.clientsInUse === 'number' &&
    typeof pool.tasksQueueLength === 'number'
      ? (pool._self ?? pool)
      : undefined,
  Adapter: RedisPool,
}
