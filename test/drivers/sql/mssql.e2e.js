// mssql has no server here: its real ConnectionPool has connections that do nothing.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { SIZE, QUERY_SECONDS, checkUnderLoad, loadedService } = require('../support/loaded-service')

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
