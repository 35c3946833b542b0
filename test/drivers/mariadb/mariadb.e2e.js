// The libraries that applications with Express reach a MariaDB by, on a real server: docs/pools.md says what to
// give to `spillway.pool()`, and what is measured.

const assert = require('node:assert/strict')
const { after, before, describe, test } = require('node:test')
const { SIZE, checkUnderLoad, loadedService } = require('../loaded-service')
const { LIBRARIES, SLEEP, WRONG } = require('./libraries')
const { isMissing, startMariadb } = require('./mariadb-server')

/** @param {string} url */
function connectorOptions(url) {
  const { hostname: host, port, username: user, password, pathname } = new URL(url)
  const database = pathname.slice(1)
  return { host, port: Number(port), user, password, database, connectionLimit: SIZE, minimumIdle: SIZE }
}

describe('on a real MariaDB', { skip: isMissing(), concurrency: 4 }, () => {
  /** @type {string} */
  let url
  /** @type {Awaited<ReturnType<typeof startMariadb>>} */
  let mariadb
  before(async () => {
    mariadb = await startMariadb()
    url = mariadb.url
    const connection = await require('mysql2/promise').createConnection(url)
    await connection.query('create table orders (id int primary key)')
    await connection.query('insert into orders values (1)')
    await connection.end()
  })
  after(() => mariadb?.stop())

  for (const [name, library] of Object.entries(LIBRARIES)) {
    const { kind, names = false } = library
    test(`${name}: under .5 to 5 times what its pool serves`, async (t) => {
      const { pool, query, close } = await library.open(url)
      t.after(close)
      const { queries, use } = await checkUnderLoad(t, { kind, pool, query, queries: names })
      if (!names) return
      const [{ operation, collection, sinceStart, routes }] = queries
      const { count, errors } = sinceStart
      assert.deepEqual(
        { operation, collection, count, errors },
        { operation: 'SELECT', collection: 'orders', count: use.sinceStart.count, errors: 0 }
      )
      assert.deepEqual(
        routes.map(({ method, route, perRequest }) => ({ method, route, perRequest })),
        [{ method: 'GET', route: '/db', perRequest: 1 }]
      )
    })

    test(`${name}: a query that fails gives its connection back`, async (t) => {
      const { pool, query, fail, close } = await library.open(url)
      t.after(close)
      const { handle, now } = await loadedService(t, { pool, query, queries: names })
      await assert.rejects(async () => fail())
      await query()
      const { used, waiting, use, wait, queries } = now()
      assert.deepEqual([used, waiting], [0, 0])
      assert.deepEqual([use.sinceStart.count, wait.sinceStart.count], [2, 2])
      if (names) {
        const [{ sinceStart }] = queries
        assert.deepEqual([sinceStart.count, sinceStart.errors], [2, 1])
      }
      handle.close()
      await query()
    })
  }

  for (const kind of ['promises', 'callbacks']) {
    test(`mariadb with ${kind}: its figures are shown, and nothing is rejected`, async (t) => {
      const { createPool } = require(kind === 'promises' ? 'mariadb' : 'mariadb/callback')
      const pool = createPool(connectorOptions(url))
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
    const pool = require('mysql2/promise').createPool({ uri: url, connectionLimit: 1 })
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
    const pool = require('mysql2/promise').createPool({ uri: url, connectionLimit: SIZE })
    t.after(() => pool.end())
    const { now } = await loadedService(t, { pool, query: () => pool.query(SLEEP) })
    const lost = await pool.getConnection()
    lost.on('error', () => {})
    const other = await require('mysql2/promise').createConnection(url)
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
