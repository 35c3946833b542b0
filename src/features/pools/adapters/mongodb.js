'use strict'
// A `MongoClient` of the MongoDB driver 6 or newer, or a connection of mongoose, which has one. The client
// has a pool for each server. A pool is observed from the event of its creation on, which comes before its
// first use. The methods `checkOut` and `checkIn` are observed, and not their events. An event does not name
// the caller, and a caller that gives up by an AbortSignal causes no event.

const { ReplacedMethod } = require('../../../core/replaced-method')
const { nameOfCommand } = require('../query-names')

/** @import { PoolRecord } from '../pool-record' */

/**
 * @typedef {(event: string, listener: () => void) => unknown} Listen
 * @typedef {{ checkOut: unknown, checkIn: unknown, closed: boolean, address: string, waitQueueSize: number,
 *   availableConnectionCount: number, currentCheckedOutCount: number, options: { maxPoolSize: number } }}
 *   Pool the pool of one server
 * @typedef {{ db: unknown, on: Listen, off: Listen, topology?: { s: { servers: Map<string,
 *   { pool: Pool }> } }, options: { hosts: unknown[], maxPoolSize: number, dbName?: string,
 *   replicaSet?: string, srvHost?: string } }} Client
 * @typedef {{ openUri: unknown, on: Listen, off: Listen, client?: Client | null, name?: string }} Mongoose a
 *   connection
 * @typedef {Partial<Client> & Partial<Mongoose> & { connection?: Partial<Mongoose> }} Given
 */

class MongoPool {
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
      new ReplacedMethod(pool, 'checkOut', (method) => this.#observeCheckOut(method)),
      new ReplacedMethod(pool, 'checkIn', (method) => this.#observeCheckIn(method)),
    ]
  }

  /** @param {ReplacedMethod} method */
  #observeCheckOut(method) {
    const adapter = this
    const record = this.#record
    // Hot path: once a use.
    /** @this {unknown} */
    return function checkOut() {
      if (!adapter.#isOpen) return Reflect.apply(method.inner, this, arguments)
      return record.call(record.ask(), method.inner, this, arguments)
    }
  }

  /** @param {ReplacedMethod} method */
  #observeCheckIn(method) {
    const adapter = this
    /** @this {unknown} @param {unknown} connection */
    return function checkIn(connection) {
      // Recorded before the pool passes the connection to the next caller.
      if (adapter.#isOpen) adapter.#record.release(connection)
      return Reflect.apply(method.inner, this, arguments)
    }
  }

  get max() {
    return this.#pool.options.maxPoolSize
  }

  /**
   * Callers that wait. The pool's queue still contains callers that timed out, so the record's count is a
   * bound.
   */
  get waiting() {
    return Math.min(this.#pool.waitQueueSize, this.#record.asking)
  }

  figures() {
    const { availableConnectionCount: idle, currentCheckedOutCount: used } = this.#pool
    return { used, idle, waiting: this.waiting, max: this.max }
  }

  close() {
    this.#isOpen = false
    for (const method of this.#methods) method.restore()
  }
}

const EVENTS = ['connectionPoolCreated', 'connectionPoolClosed']

/** The pools of one client, which come and go. */
class ClientPools {
  #client
  #onPool
  /** By pool, the function that removes it. @type {Map<Pool, () => void>} */
  #observed = new Map()

  /** @param {Client} client @param {OnPool} onPool */
  constructor(client, onPool) {
    this.#client = client
    this.#onPool = onPool
    for (const event of EVENTS) client.on(event, this.#follow)
    this.#follow()
  }

  /** Whether the client knows only one server, as most do. Otherwise each pool is named after its server. */
  get #hasOneServer() {
    const { hosts, replicaSet, srvHost } = this.#client.options
    return hosts.length === 1 && !replicaSet && !srvHost
  }

  #follow = () => {
    for (const [pool, close] of this.#observed)
      if (pool.closed) {
        this.#observed.delete(pool)
        close()
      }
    for (const { pool } of this.#client.topology?.s.servers.values() ?? [])
      if (!pool.closed && !this.#observed.has(pool)) {
        // If the one server leads to a replica set, only further pools are named after their server.
        const isFirst = this.#hasOneServer && this.#observed.size === 0
        this.#observed.set(pool, this.#onPool(pool, isFirst ? undefined : pool.address))
      }
  }

  close() {
    for (const event of EVENTS) this.#client.off(event, this.#follow)
    for (const close of this.#observed.values()) close()
    this.#observed.clear()
  }
}

/** A connection of mongoose makes a client each time that it connects. */
class MongoosePools {
  #connection
  #onPool
  #isOpen = true
  /** @type {ClientPools | undefined} */
  #pools
  /** @type {Client | undefined} */
  #client

  /** @param {Mongoose} connection @param {OnPool} onPool */
  constructor(connection, onPool) {
    this.#connection = connection
    this.#onPool = onPool
    connection.on('connecting', this.#onConnecting)
    this.#follow()
  }

  /** The connection has its client only at the end of the method that emits the event. */
  #onConnecting = () => queueMicrotask(() => this.#follow())

  #follow() {
    const { client } = this.#connection
    if (!this.#isOpen || !client || client === this.#client) return
    this.#pools?.close()
    this.#client = client
    this.#pools = new ClientPools(client, this.#onPool)
  }

  close() {
    this.#connection.off('connecting', this.#onConnecting)
    this.#isOpen = false
    this.#pools?.close()
  }
}

/** @param {Given} given @returns {given is Client} */
const isClient = (given) =>
  [given.db, given.on, given.off].every((each) => typeof each === 'function') &&
  Array.isArray(given.options?.hosts) &&
  typeof given.options.maxPoolSize === 'number'

/** @param {Given | Partial<Mongoose> | undefined} given @returns {given is Mongoose} */
const isMongoose = (given) =>
  typeof given?.openUri === 'function' && typeof given.on === 'function' && typeof given.off === 'function'

/** @typedef {(pool: Pool, server: string | undefined) => () => void} OnPool */

module.exports = {
  kind: /** @type {const} */ ('mongodb'),
  accepts: 'a MongoClient of mongodb, or a connection of mongoose',
  /** `mongoose` itself has a default connection. @param {Given} given */
  find: (given) => (isClient(given) ? given : [given, given.connection].find(isMongoose)),
  /** @param {Client | Mongoose} found */
  nameOf: (found) => ('openUri' in found ? found.name || found.client?.options.dbName : found.options.dbName),
  /** @param {Client | Mongoose} found @param {OnPool} onPool */
  follow: (found, onPool) =>
    'openUri' in found ? new MongoosePools(found, onPool) : new ClientPools(found, onPool),
  Adapter: MongoPool,
  queries: { system: 'mongodb', methods: ['command'], nameOf: nameOfCommand },
}
