// Prisma 6 with the client that its own command line generates, on a real Postgres, as docs/pools.md has it.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { after, before, describe, test } = require('node:test')
const { hasPostgres, startPostgres } = require('../../../bench/healthy/postgres')
const { SIZE, QUERY_SECONDS, checkUnderLoad, loadedService } = require('../loaded-service')

const skip = !hasPostgres() && 'needs initdb and postgres: see bench/healthy/postgres.js'
const SLEEP = `select id from "Order", pg_sleep(${QUERY_SECONDS})`

function generateClient() {
  const env = {
    ...process.env,
    CHECKPOINT_DISABLE: '1',
    DATABASE_URL: 'postgres://127.0.0.1/none',
    // Any program that exists: it is looked for, or downloaded, but `generate` does not run it.
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  }
  const prisma = require.resolve('prisma/build/index.js')
  execFileSync(process.execPath, [prisma, 'generate', '--schema=schema.prisma', '--no-hints'], {
    cwd: __dirname,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

describe('Prisma 6 on a real Postgres', { skip, concurrency: 3 }, () => {
  /** @type {string} */
  let url
  /** @type {Awaited<ReturnType<typeof startPostgres>>} */
  let postgres
  before(async () => {
    generateClient()
    postgres = await startPostgres()
    assert.ok(postgres, 'Postgres has started')
    url = postgres.url
    const client = new (require('pg').Client)({ connectionString: url })
    await client.connect()
    await client.query('create table "Order" (id int primary key, label text)')
    await client.query('insert into "Order" values (1)')
    await client.end()
  })
  after(() => postgres?.stop())

  /** @param {import('node:test').TestContext} t @param {number} [max] */
  function open(t, max = SIZE) {
    const { Pool } = require('pg')
    const { PrismaPg } = require('@prisma/adapter-pg')
    const { PrismaClient } = /** @type {any} */ (require('./node_modules/orders-client'))
    const pool = new Pool({ connectionString: url, max })
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
    t.after(() => prisma.$disconnect().then(() => pool.end()))
    return { pool, prisma, query: () => prisma.$queryRawUnsafe(SLEEP) }
  }

  test('under .5 to 5 times what its pool serves', async (t) => {
    const { pool, prisma, query } = open(t)
    await prisma.order.findMany()
    const { queries, use } = await checkUnderLoad(t, { kind: 'pg', pool, query, queries: true })
    const [{ operation, collection, sinceStart, routes }] = queries
    assert.deepEqual(
      { operation, collection, count: sinceStart.count },
      { operation: 'SELECT', collection: 'Order', count: use.sinceStart.count }
    )
    assert.deepEqual(
      routes.map(({ method, route, perRequest }) => ({ method, route, perRequest })),
      [{ method: 'GET', route: '/db', perRequest: 1 }]
    )
  })

  test('a query that fails gives its connection back', async (t) => {
    const { pool, prisma, query } = open(t)
    const { handle, now } = await loadedService(t, { pool, query })
    await assert.rejects(prisma.$queryRawUnsafe('select no_column'))
    await query()
    const { used, waiting, use, wait } = now()
    assert.deepEqual([used, waiting], [0, 0])
    assert.deepEqual([use.sinceStart.count, wait.sinceStart.count], [2, 2])
    handle.close()
    await query()
  })

  test('a transaction is one use, others wait for it, and queries are named by table', async (t) => {
    const { pool, prisma, query } = open(t, 1)
    const { now } = await loadedService(t, { pool, query, queries: true })
    let waits
    await prisma.$transaction(async (transaction) => {
      await transaction.order.create({ data: { id: 2, label: "it's" } })
      // It is sent when somebody calls its `then`.
      waits = prisma.order.count().then((count) => count)
      assert.equal((await transaction.order.findMany()).length, 2)
      assert.deepEqual([now().used, now().waiting, now().max], [1, 1, 1])
      await transaction.order.delete({ where: { id: 2 } })
    })
    assert.equal(await waits, 1)
    const { use, wait, used, queries } = now()
    assert.deepEqual([use.sinceStart.count, wait.sinceStart.count, used], [2, 2, 0])
    const kinds = queries.map(({ operation, collection }) => `${operation} ${collection}`)
    for (const kind of ['INSERT public.Order', 'SELECT public.Order', 'DELETE public.Order'])
      assert.ok(kinds.includes(kind), `${kind} in ${kinds}`)
  })
})
