// Prisma 6 with the client that its own command line generates, on a real Postgres, as docs/pools.md has it.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { before, describe, test } = require('node:test')
const { NO_POSTGRES, hasPostgres, startPostgres } = require('../../../bench/healthy/postgres')
const { testLibraries } = require('../support/libraries')
const { SIZE, QUERY_SECONDS, loadedService } = require('../support/loaded-service')
const { serverOfSuite } = require('../support/server-of-suite')

const SLEEP = `select id from orders, pg_sleep(${QUERY_SECONDS})`

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

describe('on a real Postgres', { skip: !hasPostgres() && NO_POSTGRES, concurrency: 3 }, () => {
  const server = serverOfSuite(startPostgres)
  before(async () => {
    generateClient()
    const client = new (require('pg').Client)({ connectionString: server.url })
    await client.connect()
    await client.query('create table orders (id int primary key, label text)')
    await client.query('insert into orders values (1)')
    await client.end()
  })

  async function open(url, max = SIZE) {
    const { Pool } = require('pg')
    const { PrismaPg } = require('@prisma/adapter-pg')
    const { PrismaClient } = /** @type {any} */ (require('./node_modules/orders-client'))
    const pool = new Pool({ connectionString: url, max })
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) })
    await prisma.order.findMany()
    const close = () => prisma.$disconnect().then(() => pool.end())
    return { pool, prisma, ask: (sql) => prisma.$queryRawUnsafe(sql), close }
  }

  testLibraries(
    { 'Prisma 6': { kind: 'pg', table: 'orders', open } },
    { server, sleep: SLEEP, wrong: 'select no_column from orders' }
  )

  test('a transaction is one use, others wait for it, and queries are named by table', async (t) => {
    const { pool, prisma, ask, close } = await open(server.url, 1)
    t.after(close)
    const { now } = await loadedService(t, { pool, query: () => ask(SLEEP), queries: true })
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
    for (const kind of ['INSERT public.orders', 'SELECT public.orders', 'DELETE public.orders'])
      assert.ok(kinds.includes(kind), `${kind} in ${kinds}`)
  })
})
