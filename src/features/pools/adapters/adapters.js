'use strict'
// All kinds of pools, and how they are recognized. A pool is recognized by its shape, so no package is
// loaded, and any version with the same shape is accepted. A new kind is a file beside this one, listed in
// KINDS.

const { SpillwayError } = require('../../../core/errors/errors')
const givenFigures = require('./given-figures')

/**
 * @import { PoolRecord } from '../pool-record'
 * @import { QueryName } from '../query-names'
 */

/**
 * @typedef {object} Adapter observes one pool for one record. The record converts the figures to numbers
 * @property {boolean} isTimed whether the adapter sees each use, and not only the number of connections
 * @property {number} max the most connections that the pool opens; 0 if not known
 * @property {number} waiting callers that wait for a connection
 * @property {() => { used: number, idle: number, waiting: number, max: number }} figures
 * @property {() => void} close removes what the adapter has added to the pool
 * @typedef {object} Kind
 * @property {import('../../../../index.js').PoolSnapshot['kind']} kind
 * @property {string} accepts what to pass to `pool()`, for an error message
 * @property {(pool: never) => unknown} find returns the pool inside of the given object; undefined if that is
 *   of another kind
 * @property {new (pool: never, record: PoolRecord) => Adapter} Adapter
 * @property {(pool: never) => unknown} [nameOf] returns the name that the driver knows, such as that of the
 *   database
 * @property {(pool: never, onPool: any) => { close: () => void }} [follow] for an object with several pools,
 *   which come and go. Calls an OnPool for each; `Adapter` observes each
 * @property {QueryMethods} [queries] how queries are sent over its connections, for `queries: true`
 * @typedef {(pool: never, server: string | undefined) => () => void} OnPool
 *   called for each pool, and returns a function that removes the pool; `server`: distinguishes it from the
 *   other pools
 * @typedef {{ system: string, methods: readonly string[],
 *   nameOf: (given: ArrayLike<any>) => QueryName | undefined, takesCallback?: boolean,
 *   commandCallback?: string }} QueryMethods
 *   `system`: OpenTelemetry's `db.system.name`. `methods`: methods of a connection that send a query, and
 *   return a promise or take a callback. `nameOf`: returns the query that a call sends. `commandCallback`:
 *   property of a command object that has its callback, if commands are passed to the method. Then it returns
 *   no promise
 */

/** Figures that the user gives come last, because they may have any shape. @type {readonly Kind[]} */
const KINDS = Object.freeze([
  require('./mongodb'),
  require('./pg'),
  require('./mysql2'),
  require('./mariadb'),
  require('./tarn'),
  require('./generic-pool'),
  require('./sequelize'),
  require('./redis-pool'),
  require('./redis'),
  require('./ioredis'),
  require('./undici'),
  require('./bullmq'),
  givenFigures,
])

/** Where libraries keep the pool of the driver. */
const INSIDE = Object.freeze([
  // Sequelize
  ['connectionManager', 'pool'],
  // A DataSource of TypeORM: `master` for Postgres and SQL Server, `pool` for MySQL.
  ['driver', 'master'],
  ['driver', 'pool'],
  // Drizzle
  ['$client'],
])

/**
 * @param {unknown} given
 * @returns {Kind & { found: never }}
 */
function adapterOf(given) {
  for (const pool of [given, ...INSIDE.map((names) => withoutThrowing(() => inside(given, names)))]) {
    const adapter = isObject(pool) ? kindOf(pool) : undefined
    if (adapter !== undefined) return adapter
  }
  throw unknownPool(given)
}

/** @param {unknown} given @param {readonly string[]} names @returns {unknown} */
const inside = (given, names) =>
  names.reduce((from, name) => (isObject(from) ? from[name] : undefined), given)

/** @param {object} pool @returns {Kind & { found: never } | undefined} */
function kindOf(pool) {
  for (const kind of KINDS) {
    const found = withoutThrowing(() => kind.find(/** @type {never} */ (pool)))
    if (found !== undefined) return { ...kind, found: /** @type {never} */ (found) }
  }
  return undefined
}

/**
 * Reads a property safely. The figures of mssql are getters that throw before it is connected.
 *
 * @template T
 * @param {() => T} read
 */
function withoutThrowing(read) {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** @param {unknown} pool */
function unknownPool(pool) {
  if (isPostgresJs(pool) || (isObject(pool) && isPostgresJs(pool.$client)))
    return new SpillwayError(
      'ERR_SPILLWAY_UNKNOWN_POOL',
      'The second argument of pool() is postgres.js, which does not show its pool: give { size, idle, waiting, max } instead, see docs/pools.md.'
    )
  const accepted = KINDS.map(({ accepts }) => accepts).join('; ')
  const missing = isObject(pool) ? withoutThrowing(() => givenFigures.missingIn(pool)) : undefined
  const without = missing === undefined ? '' : `, which lacks ${missing} as a number or function`
  return new SpillwayError(
    'ERR_SPILLWAY_UNKNOWN_POOL',
    `The second argument of pool() is not a pool that can be observed: got ${describe(pool)}${without}. Accepted are: ${accepted}.`
  )
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function'

/** @param {unknown} sql */
const isPostgresJs = (sql) =>
  typeof sql === 'function' && ['begin', 'unsafe', 'reserve'].every((name) => name in sql)

/** @param {unknown} value */
function describe(value) {
  if (!isObject(value)) return `${String(value)} (${value === null ? 'null' : typeof value})`
  const name = value.constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object' && name !== 'Function'
    ? `an object of class ${name}`
    : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value} with ${Object.keys(value).slice(0, 5).join(', ') || 'no properties'}`
}

module.exports = { adapterOf }
