'use strict'
// What stands above a pool, or has no figures itself: where the pool is found, and what the message says if it
// is not. test/drivers/ has the real packages.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const mysql = require('mysql2')
const { Pool: PgPool } = require('pg')
const { Pool: TarnPool } = require('tarn')
const { spillwayFor } = require('../support/spillway')
const { withoutDatabase } = require('./fake-client')

const pgPool = () => new PgPool(withoutDatabase({ max: 2 }))
const tarnPool = () => new TarnPool({ create: async () => ({}), destroy() {}, min: 0, max: 3 })

for (const [what, made, expected] of /** @type {[string, () => object, [string, number]][]} */ ([
  ['TypeORM with Postgres', () => ({ driver: { master: pgPool(), slaves: [] } }), ['pg', 2]],
  [
    'TypeORM with MySQL',
    () => ({ driver: { pool: mysql.createPool({ connectionLimit: 4 }) } }),
    ['mysql2', 4],
  ],
  ['TypeORM with SQL Server', () => ({ driver: { master: { pool: tarnPool() } } }), ['tarn', 3]],
  ['Drizzle', () => ({ $client: pgPool() }), ['pg', 2]],
  ['mssql', () => ({ pool: tarnPool(), size: 1, available: 0, pending: 0, borrowed: 1 }), ['tarn', 3]],
])) {
  test(`the pool below ${what} is found`, (t) => {
    const spillway = spillwayFor(t)
    spillway.pool('orders', made())
    const [{ kind, max }] = spillway.snapshot().pools
    assert.deepEqual([kind, max], expected)
  })
}

test('an object that has a pool of no known kind is an error that names what is accepted', (t) => {
  const spillway = spillwayFor(t)
  for (const given of [{ driver: {} }, { driver: { master: undefined } }, { $client: 5 }, { pool: null }])
    assert.throws(() => spillway.pool('orders', given), {
      code: 'ERR_SPILLWAY_UNKNOWN_POOL',
      message: /an instance of Sequelize.* a client of redis 5\.12.* a Worker of BullMQ/,
    })
})

test('an mssql that is not connected is such an error: its figures would throw', (t) => {
  const mssql = {
    acquire() {},
    release() {},
    get size() {
      throw new TypeError("Cannot read properties of null (reading 'numFree')")
    },
  }
  assert.throws(() => spillwayFor(t).pool('orders', mssql), {
    code: 'ERR_SPILLWAY_UNKNOWN_POOL',
    message: /a connected ConnectionPool of mssql/,
  })
})

test('postgres.js is an error that says to give figures', (t) => {
  const spillway = spillwayFor(t)
  const sql = Object.assign(() => {}, { begin() {}, unsafe() {}, reserve() {}, options: { max: 10 } })
  for (const given of [sql, { $client: sql }])
    assert.throws(() => spillway.pool('orders', given), {
      code: 'ERR_SPILLWAY_UNKNOWN_POOL',
      message: /postgres\.js, which does not show its pool: give \{ size, idle, waiting, max \}/,
    })
})

/** A Worker of BullMQ by its shape. */
const workerOf = (processJob) => ({ concurrency: 2, isRunning: () => true, processJob })

test('BullMQ: a job is in flight until its promise settles, and errors are those of the worker', async (t) => {
  const ends = []
  const worker = workerOf(
    () => new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve('next'))))
  )
  const spillway = spillwayFor(t)
  const handle = spillway.pool('mail', worker)
  const now = () => spillway.snapshot().pools[0]
  const jobs = [worker.processJob(), worker.processJob(), worker.processJob()]
  assert.deepEqual([now().used, now().idle, now().max], [3, 0, 2])
  ends[0]()
  ends[1](new Error('lost'))
  assert.equal(await jobs[0], 'next')
  await assert.rejects(jobs[1], /lost/)
  assert.deepEqual([now().used, now().idle], [1, 1])
  const { processJob } = worker
  handle.close()
  assert.notEqual(worker.processJob, processJob)
  ends[2]()
  await jobs[2]
})

test('BullMQ: a queue that does not answer has 0 waiting, and is an internal error', async (t) => {
  const spillway = spillwayFor(t)
  const worker = workerOf(async () => {})
  const queue = { getWaitingCount: () => Promise.reject(new Error('redis is away')) }
  spillway.pool('mail', { worker, queue })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(spillway.snapshot().pools[0].waiting, 0)
  assert.deepEqual(Object.keys(spillway.snapshot().internalErrors), ['pools'])
})
