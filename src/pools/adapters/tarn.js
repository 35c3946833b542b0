'use strict'
// A pool of tarn, or the instance of knex that has one. tarn emits an event for each step, so nothing is replaced.

class TarnPool {
  isTimed = true
  #pool
  #record
  /** By the number that tarn gives a caller. */
  #asking = new Map()

  constructor(pool, record) {
    this.#pool = pool
    this.#record = record
    for (const [event, listener] of this.#listeners) pool.on(event, listener)
  }

  /** @type {[event: string, listener: (id: any, given?: any) => void][]} */
  #listeners = [
    ['acquireRequest', (id) => this.#asking.set(id, this.#record.ask())],
    ['acquireSuccess', (id, connection) => this.#answer(id, (use) => this.#record.grant(use, connection))],
    ['acquireFail', (id, error) => this.#answer(id, (use) => this.#record.fail(use, error))],
    ['release', (connection) => this.#record.release(connection)],
    ['destroyRequest', (_id, connection) => this.#record.release(connection)],
  ]

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

const isPool = (pool) =>
  ['acquire', 'release', 'on', 'removeListener', 'numUsed', 'numFree', 'numPendingAcquires'].every(
    (name) => typeof pool?.[name] === 'function'
  )

module.exports = {
  kind: 'tarn',
  accepts: 'an instance of knex, or a Pool of tarn',
  find: (given) => [given, given.client?.pool].find(isPool),
  Adapter: TarnPool,
}
