'use strict'
// A pool of tarn, or the instance of knex that has one. tarn emits an event for each step, so nothing is replaced.
// After `destroy()` and `initialize()`, knex has another pool. It is observed from the next look at the figures.

class TarnPool {
  isTimed = true
  #given
  #pool
  #record
  /** By the number that tarn gives a caller. */
  #asking = new Map()

  constructor(given, record) {
    this.#given = given
    this.#record = record
    this.#observe(poolIn(given))
  }

  #observe(pool) {
    this.#pool = pool
    for (const [event, listener] of this.#listeners) pool.on(event, listener)
  }

  /** Takes nothing off the earlier pool: a pool that is destroyed has removed its listeners, and has no caller and no connection. */
  #follow() {
    const pool = poolIn(this.#given)
    if (pool !== undefined && pool !== this.#pool) this.#observe(pool)
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

const isPool = (pool) =>
  ['acquire', 'release', 'on', 'removeListener', 'numUsed', 'numFree', 'numPendingAcquires'].every(
    (name) => typeof pool?.[name] === 'function'
  )

const poolIn = (given) => [given, given.client?.pool].find(isPool)

module.exports = {
  kind: 'tarn',
  accepts: 'an instance of knex, or a Pool of tarn',
  find: (given) => (poolIn(given) === undefined ? undefined : given),
  Adapter: TarnPool,
}
