'use strict'
// What holds for each library that reaches an SQL database by a pool: docs/pools.md says what is given to
// `spillway.pool()`, and what is measured.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { checkUnderLoad, loadedService } = require('./loaded-service')

/**
 * @typedef {{ pool: object, ask: (sql: string) => PromiseLike<unknown>, close: () => PromiseLike<unknown> }} Opened
 *   `pool` is what is given to `spillway.pool()`.
 * @typedef {{ kind: string, open: (url: string) => Promise<Opened>, table?: string }} Library
 *   `table`: the name that `queries: true` has for the table `orders`, if it sees the queries of the library
 */

/**
 * @param {Record<string, Library>} libraries by their names
 * @param {{ server: { url: string }, sleep: string, wrong: string }} database `sleep` is a query of the table
 *   `orders` that holds its connection for QUERY_SECONDS, and `wrong` one that the server refuses.
 */
function testLibraries(libraries, { server, sleep, wrong }) {
  for (const [name, { kind, open, table }] of Object.entries(libraries)) {
    const queries = table !== undefined

    test(`${name}: under .5 to 5 times what its pool serves`, async (t) => {
      const { pool, ask, close } = await open(server.url)
      t.after(close)
      const found = await checkUnderLoad(t, { kind, pool, query: () => ask(sleep), queries })
      if (!queries) return
      const [{ operation, collection, sinceStart, routes }] = found.queries
      const { count, errors } = sinceStart
      assert.deepEqual(
        { operation, collection, count, errors },
        { operation: 'SELECT', collection: table, count: found.use.sinceStart.count, errors: 0 }
      )
      assert.deepEqual(
        routes.map(({ method, route, perRequest }) => ({ method, route, perRequest })),
        [{ method: 'GET', route: '/db', perRequest: 1 }]
      )
    })

    test(`${name}: a query that fails gives its connection back`, async (t) => {
      const { pool, ask, close } = await open(server.url)
      t.after(close)
      const query = () => ask(sleep)
      const { handle, now } = await loadedService(t, { pool, query, queries })
      await assert.rejects(async () => ask(wrong))
      await query()
      const { used, waiting, use, wait, queries: found } = now()
      assert.deepEqual([used, waiting], [0, 0])
      assert.deepEqual([use.sinceStart.count, wait.sinceStart.count], [2, 2])
      if (queries) {
        const [{ sinceStart }] = found
        assert.deepEqual([sinceStart.count, sinceStart.errors], [2, 1])
      }
      handle.close()
      await query()
    })
  }
}

module.exports = { testLibraries }
