// The libraries that applications with Express reach a MariaDB by, on a real one.

const assert = require('node:assert/strict')
const { before, describe, test } = require('node:test')
const { testLibraries } = require('../support/libraries')
const { QUERY_SECONDS, SIZE, loadedService } = require('../support/loaded-service')
const { isMissing, startMariadb } = require('../support/mariadb')
const { serverOfSuite } = require('../support/server-of-suite')
const { MARIADB, mysql2Pool } = require('./libraries')

const SLEEP = `select id from orders where sleep(${QUERY_SECONDS}) = 0`
const WRONG = 'select no_column from orders'

/** @param {string} url */
function connectorOptions(url) {
  const { hostname: host, port, username: user, password, pathname } = new URL(url)
  const database = pathname.slice(1)
  return { host, port: Number(port), user, password, database, connectionLimit: SIZE, minimumIdle: SIZE }
}

describe('on a real MariaDB', { skip: isMissing(), concurrency: 4 }, () => {
  const server = serverOfSuite(startMariadb)
  before(async () => {
    const connection = await require('mysql2/promise').createConnection(server.url)
    await connection.query('create table orders (id int primary key)')
    await connection.query('insert into orders values (1)')
    await connection.end()
  })
  testLibraries(MARIADB, { server, sleep: SLEEP, wrong: WRONG })

  for (const kind of ['promises', 'callbacks']) {
    test(`mariadb with ${kind}: its figures are shown, and nothing is rejected`, async (t) => {
      const { createPool } = require(kind === 'promises' ? 'mariadb' : 'mariadb/callback')
      const pool = createPool(connectorOptions(server.url))
      const ask = (/** @type {string} */ sql) =>
        kind === 'promises'
          ? pool.query(sql)
          : new Promise((resolve, reject) =>
              pool.query(sql, (error, rows) => (error ? reject(error) : resolve(rows)))
            )
      t.after(() => (kind === 'promises' ? pool.end() : new Promise((resolve) => pool.end(resolve))))
      const { handle, load, now, spillway } = await loadedService(t, { pool, query: () => ask(SLEEP) })
      await assert.rejects(ask(WRONG), { code: 'ER_BAD_FIELD_ERROR' })
      // It opens one connection after another.
      while (now().idle < SIZE) await new Promise((resolve) => setImmediate(resolve))
      const queries = Array.from({ length: SIZE + 3 }, () => ask(SLEEP))
      while (now().used < SIZE) await new Promise((resolve) => setImmediate(resolve))
      const { used, idle, waiting, max, kind: found } = now()
      assert.deepEqual(
        { used, idle, waiting, max, found },
        { used: SIZE, idle: 0, waiting: 3, max: SIZE, found: 'mariadb' }
      )
      await Promise.all(queries)
      const { dbRejected, otherRejected } = await load(5 * SIZE, 40)
      assert.deepEqual([dbRejected, otherRejected], [0, 0])
      assert.deepEqual(spillway.snapshot().admission.shed, [])
      handle.close()
      await ask('select 1')
    })
  }

  test('mysql2: a transaction is one use, and its queries are counted by table', async (t) => {
    const pool = require('mysql2/promise').createPool({ uri: server.url, connectionLimit: 1 })
    t.after(() => pool.end())
    const { now } = await loadedService(t, { pool, query: () => pool.query(SLEEP), queries: true })
    const connection = await pool.getConnection()
    await connection.beginTransaction()
    await connection.execute('insert into orders values (?)', [2])
    const [rows] = await connection.query('select id from orders where id = ?', [2])
    assert.equal(/** @type {unknown[]} */ (rows).length, 1)
    const waits = pool.query('select 1')
    assert.deepEqual([now().used, now().waiting, now().max], [1, 1, 1])
    await connection.rollback()
    connection.release()
    await waits
    const { use, wait, used, queries } = now()
    assert.deepEqual([use.sinceStart.count, wait.sinceStart.count, used], [2, 2, 0])
    const counts = queries.map(({ operation, collection, sinceStart }) => [
      operation,
      collection,
      sinceStart.count,
    ])
    assert.deepEqual(counts.filter(([, collection]) => collection !== null).sort(), [
      ['INSERT', 'orders', 1],
      ['SELECT', 'orders', 1],
    ])
  })

  test('mysql2: connections that the server ends are not in use, and the next ones are measured', async (t) => {
    const pool = mysql2Pool(server.url)
    t.after(() => pool.end())
    const { now } = await loadedService(t, { pool, query: () => pool.query(SLEEP) })
    const lost = await pool.getConnection()
    lost.on('error', () => {})
    const other = await require('mysql2/promise').createConnection(server.url)
    const ended = assert.rejects(lost.query('select sleep(60)'))
    await other.query(`kill ${lost.threadId}`)
    await ended
    await other.end()
    lost.release()
    await pool.query('select 1')
    const { use, used, waiting } = now()
    assert.deepEqual([use.sinceStart.count, used, waiting], [2, 0, 0])
  })
})
