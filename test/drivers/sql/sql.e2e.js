// The libraries that applications with Express reach a database by, on a real Postgres: docs/pools.md says what
// to give to `spillway.pool()`, and what is measured. mssql has no server here: its real ConnectionPool has
// connections that do nothing.

const assert = require('node:assert/strict')
const { after, before, describe, test } = require('node:test')
const { hasPostgres, startPostgres } = require('../../../bench/healthy/postgres')
const { SIZE, QUERY_SECONDS, checkUnderLoad, loadedService } = require('../loaded-service')
const { LIBRARIES, SLEEP } = require('./libraries')

const skip = !hasPostgres() && 'needs initdb and postgres: see bench/healthy/postgres.js'

describe('on a real Postgres', { skip, concurrency: 4 }, () => {
  /** @type {string} */
  let url
  /** @type {Awaited<ReturnType<typeof startPostgres>>} */
  let postgres
  before(async () => {
    postgres = await startPostgres()
    assert.ok(postgres, 'Postgres has started')
    url = postgres.url
    const { Client } = require('pg')
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query('create table "Order" (id int primary key)')
    await client.end()
  })
  after(() => postgres?.stop())

  for (const [name, library] of Object.entries(LIBRARIES)) {
    test(`${name}: under .5 to 5 times what its pool serves`, async (t) => {
      const { pool, query, close } = await library.open(url)
      t.after(close)
      await checkUnderLoad(t, { kind: library.kind, pool, query })
    })

    test(`${name}: a query that fails gives its connection back`, async (t) => {
      const { pool, query, fail, close } = await library.open(url)
      t.after(close)
      const { handle, now } = await loadedService(t, { pool, query })
      await assert.rejects(async () => fail())
      await query()
      const { used, waiting, use, wait } = now()
      assert.deepEqual([used, waiting], [0, 0])
      assert.deepEqual([use.sinceStart.count, wait.sinceStart.count], [2, 2])
      handle.close()
      await query()
    })
  }

  test('Sequelize: a transaction is one use, and a caller that times out is counted', async (t) => {
    const { Sequelize } = require('sequelize')
    const sequelize = new Sequelize(url, { logging: false, pool: { max: 1, min: 0, acquire: 1000 } })
    t.after(() => sequelize.close())
    const { now } = await loadedService(t, { pool: sequelize, query: () => sequelize.query(SLEEP) })
    await sequelize.transaction(async (transaction) => {
      await sequelize.query('select 1', { transaction })
      await sequelize.query('select 2', { transaction })
      await assert.rejects(sequelize.query('select 3'), { name: 'SequelizeConnectionAcquireTimeoutError' })
    })
    const { timeouts, use, wait, used } = now()
    assert.deepEqual([timeouts, use.sinceStart.count, wait.sinceStart.count, used], [1, 1, 1, 0])
  })

  test('Sequelize with replication: each of its pools is given by itself', async (t) => {
    const { Sequelize } = require('sequelize')
    const { hostname: host, port, username, password, pathname } = new URL(url)
    const server = { host, port, username, password, database: pathname.slice(1) }
    const sequelize = new Sequelize({
      dialect: 'postgres',
      logging: false,
      replication: { read: [server], write: server },
      pool: { max: 2, min: 0 },
    })
    t.after(() => sequelize.close())
    const { spillway } = await loadedService(t, {
      pool: { size: 0, idle: 0, waiting: 0 },
      query: async () => {},
    })
    assert.throws(() => spillway.pool('both', sequelize), /connectionManager\.pool\.read/)
    const { pool } = /** @type {any} */ (sequelize).connectionManager
    spillway.pool('reads', pool.read)
    spillway.pool('writes', pool.write)
    await sequelize.query('select 1', { type: 'SELECT' })
    const [, reads, writes] = spillway.snapshot().pools
    assert.deepEqual([reads.use.sinceStart.count, writes.use.sinceStart.count], [1, 0])
  })

  test('postgres.js: queries that are counted are its figures, and nothing is rejected', async (t) => {
    const sql = require('postgres')(url, { max: SIZE, onnotice() {} })
    t.after(() => sql.end())
    // As docs/pools.md has it.
    let running = 0
    const counted = async (query) => {
      running++
      try {
        return await query
      } finally {
        running--
      }
    }
    const query = () => counted(sql.unsafe(SLEEP))
    const { load, now, spillway } = await loadedService(t, {
      pool: {
        max: sql.options.max,
        size: sql.options.max,
        idle: () => Math.max(0, sql.options.max - running),
        waiting: () => Math.max(0, running - sql.options.max),
      },
      query,
    })
    const queries = Array.from({ length: SIZE + 3 }, query)
    assert.deepEqual([now().kind, now().used, now().idle, now().waiting], ['given', SIZE, 0, 3])
    await Promise.all(queries)
    const { dbRejected } = await load(5 * SIZE, 40)
    assert.deepEqual([dbRejected, spillway.snapshot().admission.shed], [0, []])
    assert.deepEqual([now().used, now().waiting], [0, 0])
    assert.throws(() => spillway.pool('sql', sql), /postgres\.js, which does not show its pool/)
    const { drizzle } = require('drizzle-orm/postgres-js')
    assert.throws(() => spillway.pool('db', drizzle(sql)), /postgres\.js, which does not show its pool/)
  })
})

/** The real ConnectionPool of mssql, on connections to nothing. */
async function mssqlPool(options) {
  const { ConnectionPool } = require('mssql/lib/base')
  class Pool extends ConnectionPool {
    _poolCreate = async () => ({})
    _poolValidate = async () => true
    _poolDestroy = async () => {}
  }
  const config = { server: 'none', pool: { max: SIZE, min: 0, ...options } }
  return new Pool(/** @type {any} */ (config))
}

const sleep = () => new Promise((resolve) => setTimeout(resolve, QUERY_SECONDS * 1000))

test('mssql: under .5 to 5 times what its pool serves', async (t) => {
  const pool = await mssqlPool()
  await pool.connect()
  t.after(() => pool.close())
  const query = async () => {
    const connection = await pool.acquire({})
    await sleep()
    pool.release(connection)
  }
  await checkUnderLoad(t, { kind: 'tarn', pool, query })
})

test('mssql: it is an error before it is connected, and its next pool is observed', async (t) => {
  const pool = await mssqlPool({ max: 1, acquireTimeoutMillis: 20 })
  const { spillway } = await loadedService(t, { pool: { size: 0, idle: 0, waiting: 0 }, query: sleep })
  assert.throws(() => spillway.pool('mssql', pool), /a connected ConnectionPool of mssql/)
  await pool.connect()
  spillway.pool('mssql', pool)
  const now = () => spillway.snapshot().pools[1]
  const first = await pool.acquire({})
  pool.on('error', () => {})
  await assert.rejects(pool.acquire({}))
  assert.deepEqual([now().used, now().timeouts, now().max], [1, 1, 1])
  pool.release(first)
  await pool.close()
  assert.equal(now().used, 0)
  await pool.connect()
  t.after(() => pool.close())
  assert.equal(now().used, 0)
  pool.release(await pool.acquire({}))
  assert.equal(now().use.sinceStart.count, 2)
})
