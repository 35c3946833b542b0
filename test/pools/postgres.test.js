'use strict'
// A real Postgres: a pool of `pg` whose connections are all in use, and whose requests wait for them. Skipped
// where there is none.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const { test } = require('node:test')
const express = require('express')
const { Pool } = require('pg')
const { startPostgres } = require('../../bench/healthy/postgres')
const { spillwayFor } = require('../support/spillway')

function hasPostgres() {
  try {
    for (const program of ['initdb', 'postgres']) execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const skip = hasPostgres() ? false : 'needs initdb and postgres in the PATH'

test('a pool of pg on a real Postgres: who waits, who holds, and who timed out', { skip }, async (t) => {
  const postgres = await startPostgres()
  assert.ok(postgres, 'Postgres has started')
  t.after(() => postgres.stop())
  const pool = new Pool({ connectionString: postgres.url, max: 2 })
  pool.on('error', () => {})
  // A starved machine is no reason to reject.
  const spillway = spillwayFor(t, { shed: { mode: 'off' } })
  spillway.pool('orders', pool, { maxWait: false })
  const app = express()
  app.get('/rows/:id', async (req, res) => {
    const { rows } = await pool.query('select $1::int as id', [req.params.id])
    res.json(rows[0])
  })
  app.get('/transaction', async (_req, res) => {
    const client = await pool.connect()
    await client.query('begin')
    await client.query('select pg_sleep(.01)')
    await client.query('rollback')
    client.release()
    res.end()
  })
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await pool.end()
  })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const get = async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  // The first wait turns the context of requests on, by which the second round knows its routes.
  for (let round = 0; round < 2; round++) {
    const answers = Array.from({ length: 20 }, (_, id) => get(id % 2 === 0 ? `/rows/${id}` : '/transaction'))
    assert.equal((await Promise.all(answers))[6], '{"id":6}')
  }
  // The pool closes the connection of a query that failed.
  await assert.rejects(pool.query('select no_column'), { code: '42703' })
  const [{ use, wait, used, idle, max, kind, holders, longestHeld }] = spillway.snapshot().pools
  assert.deepEqual([use.sinceStart.count, wait.sinceStart.count, kind], [41, 41, 'pg'])
  assert.deepEqual([used, idle, max, longestHeld.length], [0, 1, 2, 0])
  assert.ok(wait.sinceStart.maxMs >= 10)
  const holdersOf = (name) => holders.find(({ route }) => route === name)
  assert.ok(holdersOf('/transaction').sinceStart.count >= 10)
  assert.ok(holdersOf('/transaction').sinceStart.heldMs >= 100)
  assert.ok(holdersOf('/rows/:id').sinceStart.count >= 10)
})
