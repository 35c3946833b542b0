'use strict'
// All kinds of pools, and which kind an object is. It is recognized by its shape: no package is required, and
// any version with the same shape is accepted. A new kind is a file beside this one, listed in KINDS.

const { SpillwayError } = require('../../../core/errors/errors')
const givenFigures = require('./given-figures')

/**
 * @import { PoolRecord } from '../pool-record'
 * @import { QueryName } from '../query-names'
 */

/**
 * @typedef {object} Adapter observes one pool for one record, which makes numbers of the figures
 * @property {boolean} isTimed whether it sees each use, and not only how many connections there are
 * @property {number} max the most connections that the pool opens; 0 if it does not say
 * @property {number} waiting callers that wait for a connection
 * @property {() => { used: number, idle: number, waiting: number, max: number }} figures
 * @property {() => void} close takes off what it has put on the pool
 * @typedef {object} Kind
 * @property {import('../../../../index.js').PoolSnapshot['kind']} kind
 * @property {string} accepts for the message of an error
 * @property {(pool: never) => unknown} find the pool inside of what was given; undefined if it is of another
 *   kind
 * @property {new (pool: never, record: PoolRecord) => Adapter} Adapter
 * @property {(pool: never) => unknown} [nameOf] the name that the driver knows, such as that of the database
 * @property {(pool: never, onPool: any) => { close: () => void }} [follow] with an OnPool, of an object that
 *   has several pools, which come and go. `Adapter` observes each of them
 * @property {QueryMethods} [queries] how its connections are asked, for `queries: true`
 * @typedef {(pool: never, server: string | undefined) => () => void} OnPool
 *   is called for each pool, and returns what takes it off; `server`: what tells it from the others
 * @typedef {{ system: string, methods: readonly string[],
 *   nameOf: (given: ArrayLike<any>) => QueryName | undefined, takesCallback?: boolean,
 *   commandCallback?: string }} QueryMethods
 *   `system`: OpenTelemetry's `db.system.name`. `methods`: those of a connection that send a query, and
 *   return a promise or take a callback. `nameOf`: what a call of one asks for. `commandCallback`: where a
 *   command has its callback that is given instead of a text; then nothing returns a promise
 */

/** Any shape may come last: figures that the user gives. @type {readonly Kind[]} */
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

/** Where a library keeps the pool of the driver below it. */
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

/** The figures of mssql are getters that throw until it is connected. @template T @param {() => T} read */
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
      'The second argument of pool() is postgres.js, which does not show its pool: give { size, idle, waiting, max } as docs/pools.md says.'
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
