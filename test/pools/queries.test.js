'use strict'
// `queries: true`: what a query is named by, and what is counted of it. MongoDB is in test/drivers/mongodb.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const express = require('express')
const { Pool } = require('pg')
const { nameOfCommand, nameOfStatement } = require('../../src/features/pools/query-names')
const { QueryTable } = require('../../src/features/pools/query-table')
const { runNode } = require('../support/run-node')
const { spillwayFor } = require('../support/spillway')
const { FakeClient, withoutDatabase } = require('./fake-client')

for (const [text, operation, collection] of /** @type {[string, string, string | undefined][]} */ ([
  ['select * from orders where id = $1', 'SELECT', 'orders'],
  ['SELECT a, (select 1 from inner_table) FROM "public"."Orders" o', 'SELECT', 'inner_table'],
  ['\n  -- from comment\n /* from other */ SELECT 1 FROM\n`shop`.`orders`', 'SELECT', 'shop.orders'],
  ['insert into orders (a) values (1)', 'INSERT', 'orders'],
  ['update only orders set a = 1', 'UPDATE', 'orders'],
  ['delete from orders', 'DELETE', 'orders'],
  ['with a as (select 1) select * from a', 'WITH', undefined],
  ['begin', 'BEGIN', undefined],
  ['select 1', 'SELECT', undefined],
  ["select 'a secret from mars'", 'SELECT', undefined],
  ["select 'it''s from mars' from orders", 'SELECT', 'orders'],
  ["select 'never closed from mars", 'SELECT', undefined],
  ['select "said from mars" from orders', 'SELECT', 'orders'],
  ["select 'it\\'s from mars' from orders", 'SELECT', undefined],
  ['select $$text from mars$$ from orders', 'SELECT', undefined],
  ['select extract(epoch from now()) from orders', 'SELECT', 'orders'],
  ['mysecret from orders', 'OTHER', undefined],
  ['', 'OTHER', undefined],
  [`select ${'a, '.repeat(1000)} 'cut off from mars'`, 'SELECT', undefined],
  // FROM is a word of functions too, whose arguments may be texts.
  [`select trim(both 'x' from "mars") from orders`, 'SELECT', 'orders'],
  ['select substring(card from 4711) from orders', 'SELECT', 'orders'],
  ['select a is distinct from 4711 from orders', 'SELECT', 'orders'],
  ['select 1 from generate_series(1, 2) join orders', 'SELECT', undefined],
  ['(select 1 from orders) union (select 2 from mars)', 'SELECT', 'orders'],
  ['select * from 4711', 'SELECT', undefined],
  ['select $a1$ text from mars $a1$ from orders', 'SELECT', undefined],
  ["select `it's`, ' from mars ' from orders", 'SELECT', 'orders'],
  ["select a # it's\n, ' from mars ' from orders", 'SELECT', undefined],
  ["select a #>> '{b}' from orders", 'SELECT', 'orders'],
  ["select 1--2, '\n, ' from mars ' from orders", 'SELECT', undefined],
  ['select /* /* */ from mars */ 1 from orders', 'SELECT', undefined],
  ['select /*! from mars */ 1 from orders', 'SELECT', undefined],
  ['select * from "größe"', 'SELECT', 'größe'],
  ['select * from größe', 'SELECT', 'größe'],
  ['select * from "two words" alias', 'SELECT', undefined],
  ['select * from `two words` alias', 'SELECT', undefined],
  ['update "two words" set a = 1', 'UPDATE', undefined],
  ['update low_priority orders set a = 1', 'UPDATE', 'orders'],
])) {
  test(`a statement is named by its operation and table: ${text.slice(0, 60)}`, () => {
    assert.deepEqual(nameOfStatement(text), { operation, collection })
    assert.deepEqual(nameOfStatement(text), { operation, collection })
  })
}

test('a command of MongoDB is named by its first key', () => {
  for (const [command, expected] of /** @type {[object, object | undefined][]} */ ([
    [
      { find: 'orders', filter: {} },
      { operation: 'find', collection: 'orders' },
    ],
    [
      { getMore: 7n, collection: 'orders' },
      { operation: 'getMore', collection: 'orders' },
    ],
    [{ ping: 1 }, { operation: 'ping', collection: undefined }],
    [{ dropUser: 'mars' }, { operation: 'dropUser', collection: undefined }],
    [{ [`${'long'.repeat(1000)}`]: 1 }, { operation: 'OTHER', collection: undefined }],
    [{}, undefined],
  ]))
    assert.deepEqual(nameOfCommand(['shop.$cmd', command]), expected)
})

/** @param {import('node:test').TestContext} t @param {object} [options] of the pool of Spillway */
function poolFor(t, options) {
  const pool = new Pool(withoutDatabase({ database: 'shop' }))
  const spillway = spillwayFor(t)
  const handle = spillway.pool(pool, { queries: true, ...options })
  t.after(() => pool.end())
  const queries = () =>
    spillway
      .snapshot()
      .pools[0].queries.map(({ operation, collection, sinceStart: { count, errors } }) => [
        operation,
        collection,
        count,
        errors,
      ])
  return { pool, spillway, handle, queries }
}

test('queries of pg are counted, and those that fail, under the name of the database', async (t) => {
  const { pool, queries, spillway } = poolFor(t)
  await pool.query('select 1 from orders')
  await pool.query('select 2 from orders')
  await assert.rejects(pool.query('fail'), /failed/)
  assert.equal(spillway.snapshot().pools[0].name, 'shop')
  assert.deepEqual(queries().sort(), [
    ['OTHER', null, 1, 1],
    ['SELECT', 'orders', 2, 0],
  ])
})

test('without the option nothing is put on a connection, and after close() it is as before', async (t) => {
  const without = poolFor(t, { queries: false })
  const client = await without.pool.connect()
  assert.equal(Object.hasOwn(client, 'query'), false)
  client.release()
  assert.deepEqual(without.queries(), [])
  const { pool, handle } = poolFor(t)
  const observed = await pool.connect()
  assert.equal(Object.hasOwn(observed, 'query'), true)
  observed.release()
  handle.close()
  await pool.query('select 1')
  assert.equal(Object.hasOwn(observed, 'query'), false)
})

test('promises, callbacks and what else a client returns are passed on unchanged', async (t) => {
  const rows = { rows: [1] }
  const stream = { submit() {} }
  class PromiseClient extends FakeClient {
    query(text, ...rest) {
      if (text === stream) return text
      const callback = rest.at(-1)
      if (typeof callback === 'function') return setImmediate(() => callback.call('self', null, rows))
      return text === 'reject' ? Promise.reject(new Error('rejected')) : Promise.resolve(rows)
    }
  }
  const pool = new Pool(withoutDatabase({ Client: PromiseClient }))
  const spillway = spillwayFor(t)
  spillway.pool('orders', pool, { queries: true })
  const client = /** @type {any} */ (await pool.connect())
  assert.equal(await client.query('select 1 from a'), rows)
  assert.equal(await client.query({ text: 'select 2 from a' }), rows)
  await assert.rejects(client.query('reject'), { message: 'rejected' })
  assert.equal(client.query(stream), stream)
  const [self, error, answer] = await new Promise((resolve) =>
    client.query('select 3 from a', [], function (...given) {
      resolve([this, ...given])
    })
  )
  assert.deepEqual([String(self), error, answer], ['self', null, rows])
  client.release()
  const [{ queries }] = spillway.snapshot().pools
  assert.deepEqual(queries.map(({ operation, sinceStart }) => [operation, sinceStart.count]).sort(), [
    ['OTHER', 1],
    ['SELECT', 3],
  ])
  await pool.end()
})

test('a method of a client keeps its name and its number of parameters', async (t) => {
  class NamedClient extends FakeClient {
    query(config, values, callback) {
      return super.query(config, values, callback)
    }
  }
  const pool = new Pool(withoutDatabase({ Client: NamedClient }))
  t.after(() => pool.end())
  spillwayFor(t).pool('orders', pool, { queries: true })
  const client = await pool.connect()
  client.release()
  const { query } = /** @type {any} */ (client)
  assert.notEqual(query, NamedClient.prototype.query)
  assert.deepEqual([query.length, query.name], [3, 'query'])
})

test('a text is not kept in memory for the sake of a part of it', async () => {
  const lines = `
    const { nameOfStatement } = require('./src/features/pools/query-names')
    const megabytes = () => (gc(), process.memoryUsage().heapUsed / 2 ** 20)
    const before = megabytes()
    const names = []
    for (let i = 10; i < 60; i++) {
      const rows = (i + ',').repeat(500_000)
      names.push(nameOfStatement('insert into a_table_with_a_long_name values (' + rows + ')'))
      // As a script is cut into statements.
      const script = 'select * from another_table_with_a_name where id = ' + i + ';' + rows
      names.push(nameOfStatement(script.slice(0, 53)))
    }
    console.log(JSON.stringify({ grown: megabytes() - before, names: names.slice(0, 2) }))`
  const { output } = await runNode(lines, { args: ['--expose-gc'] })
  const { grown, names } = output
  assert.deepEqual(names, [
    { operation: 'INSERT', collection: 'a_table_with_a_long_name' },
    { operation: 'SELECT', collection: 'another_table_with_a_name' },
  ])
  assert.ok(grown < 10, `${grown} MB of 150`)
})

test('names of MongoDB stay on one line', (t) => {
  const clock = { now: () => 0 }
  const table = new QueryTable(
    { askerOf: () => undefined },
    { system: 'mongodb', methods: [], nameOf: nameOfCommand },
    /** @type {any} */ ({ clock, internalErrors: spillwayFor(t), overflow: '(other)' })
  )
  for (const collection of ['a\nb', 'a\u2028b', 'a\rb'])
    table.end({ operation: 'find', collection }, undefined, 0, undefined)
  table.end({ operation: 'x\ny', collection: undefined }, undefined, 0, undefined)
  assert.deepEqual(
    table.list(0).map(({ operation, collection, sinceStart }) => [operation, collection, sinceStart.count]),
    [
      ['find', 'a\ufffdb', 3],
      ['x\ufffdy', null, 1],
    ]
  )
})

test('the time to read a statement does not grow with its square', () => {
  // With the square of a million steps, the runner's timeout ends this test.
  for (const part of ["'", '"', '`', '/*', '--', '(', '$', 'from ', 'from a(', 'distinct ', 'only ', ' '])
    for (const start of ['', 'select ', 'select * from ', 'update ', 'insert into '])
      nameOfStatement(start + part.repeat(1_000_000))
})

test('past a hundred kinds, queries are counted together', (t) => {
  // Each takes a millisecond, so that all others together have taken longest. A list has only the longest.
  const table = new QueryTable(
    { askerOf: () => undefined },
    { system: 'postgresql', methods: [], nameOf: nameOfCommand },
    /** @type {any} */ ({ clock: { now: () => 1 }, internalErrors: spillwayFor(t), overflow: '(other)' })
  )
  for (let i = 0; i < 150; i++)
    table.end({ operation: 'SELECT', collection: `table_${i}` }, undefined, 0, undefined)
  const [{ operation, collection, sinceStart }] = table.list(1)
  assert.deepEqual([operation, collection, sinceStart.count], ['(other)', null, 50])
})

test('a route is known, and how many queries each of its requests makes', async (t) => {
  const { pool, spillway } = poolFor(t)
  const app = express()
  app.use(spillway.express())
  app.get('/orders/:id', async (_req, res) => {
    const client = await pool.connect()
    const ask = () => new Promise((resolve) => client.query('select 1 from items', [], resolve))
    for (let i = 0; i < 4; i++) await ask()
    client.release()
    await pool.query('select 1 from orders')
    res.send('rows')
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  // All at once: those that wait for a connection are asked for in the context of others.
  await Promise.all(
    Array.from({ length: 6 }, async () => (await fetch(`http://127.0.0.1:${port}/orders/1`)).text())
  )
  const [{ queries }] = spillway.snapshot().pools
  assert.deepEqual(queries.map(({ collection, routes }) => [collection, ...routes]).sort(), [
    ['items', { method: 'GET', route: '/orders/:id', count: 24, perRequest: 4 }],
    ['orders', { method: 'GET', route: '/orders/:id', count: 6, perRequest: 1 }],
  ])
})

test('a pool without a name has that of its database; where it is not known, the error says so', (t) => {
  const names = () => spillway.snapshot().pools.map(({ name }) => name)
  const spillway = spillwayFor(t)
  spillway.pool(new Pool(withoutDatabase({ database: 'shop' })))
  spillway.pool(new Pool(withoutDatabase({ connectionString: 'postgres://user@host/orders' })), {
    maxWait: false,
  })
  assert.deepEqual(names(), ['shop', 'orders'])
  for (const pool of [new Pool(withoutDatabase()), { size: 1, idle: 0, waiting: 0 }])
    assert.throws(() => spillway.pool(pool), {
      code: 'ERR_SPILLWAY_OPTION_VALUE',
      message: "The driver knows no name for this pool. Give it one: pool('orders', pool).",
    })
  assert.throws(() => spillway.pool(new Pool(withoutDatabase({ database: 'shop' }))), {
    message: /'shop' already/,
  })
  assert.throws(
    () => spillway.pool('shop two', new Pool(withoutDatabase()), /** @type {any} */ ({ queries: 1 })),
    {
      code: 'ERR_SPILLWAY_OPTION_VALUE',
    }
  )
})
