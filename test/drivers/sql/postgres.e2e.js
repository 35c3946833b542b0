// The libraries that applications with Express reach a Postgres by, on a real one.

const assert = require('node:assert/strict')
const { before, describe, test } = require('node:test')
const { NO_POSTGRES, hasPostgres, startPostgres } = require('../../../bench/healthy/postgres')
const { testLibraries } = require('../support/libraries')
const { QUERY_SECONDS, SIZE, loadedService } = require('../support/loaded-service')
const { serverOfSuite } = require('../support/server-of-suite')
const { POSTGRES } = require('./libraries')

const SLEEP = `select id from orders, pg_sleep(${QUERY_SECONDS})`

describe('on a real Postgres', { skip: !hasPostgres() && NO_POSTGRES, concurrency: 4 }, () => {
  const server = serverOfSuite(startPostgres)
  before(async () => {
    const client = new (require('pg').Client)({ connectionString: server.url })
    await client.connect()
    await client.query('create table orders (id int primary key); insert into orders values (1)')
    await client.end()
  })
  testLibraries(POSTGRES, { server, sleep: SLEEP, wrong: 'select no_column from orders' })

  test('Sequelize: a transaction is one use, and a caller that times out is counted', async (t) => {
    const { Sequelize } = require('sequelize')
    const sequelize = new Sequelize(server.url, { logging: false, pool: { max: 1, min: 0, acquire: 1000 } })
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
    const { hostname: host, port, username, password, pathname } = new URL(server.url)
    const one = { host, port, username, password, database: pathname.slice(1) }
    const sequelize = new Sequelize({
      dialect: 'postgres',
      logging: false,
      replication: { read: [one], write: one },
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
    const sql = require('postgres')(server.url, { max: SIZE, onnotice() {} })
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
