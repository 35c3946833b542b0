'use strict'
// A service whose route `/db` needs a pool, and whose route `/other` does not. The clients are .5 to 5 times as
// many as the connections of the pool. Checks what a driver must show under that load.

const assert = require('node:assert/strict')
const http = require('node:http')
const express = require('express')
const { serve } = require('../../support/serve')
const { spillwayFor } = require('../../support/spillway')

/** Connections of the pool. */
const SIZE = 4
/** How long a query holds a connection. */
const QUERY_SECONDS = 0.1
/** Twice as many clients as connections wait for one query, and 5 times as many for four. */
const MAX_WAIT_MS = 250
const RETRY_AFTER_MS = 20

/**
 * @param {import('node:test').TestContext} t
 * @param {{ pool: object, query: () => PromiseLike<unknown>, maxWait?: number | false, queries?: boolean }} given
 */
async function loadedService(t, { pool, query, maxWait = MAX_WAIT_MS, queries = false }) {
  // Only the pool may reject: a busy machine is not what is tested.
  const spillway = spillwayFor(t, { shed: { mode: 'threshold' } })
  const handle = spillway.pool('orders', pool, { maxWait, queries })
  const app = express()
  app.get('/db', (_req, res, next) => void query().then(() => res.end('rows'), next))
  app.get('/other', (_req, res) => void res.end('no rows'))
  const server = http.createServer(app)
  spillway.attach(server)
  const { port } = await serve(t, server)
  const get = async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    await response.text()
    return response.status
  }

  /** @param {number} clients that ask one after another @param {number} served after which they end */
  async function load(clients, served) {
    /** @type {Record<string, number>} */
    const counts = { db: 0, dbRejected: 0, other: 0, otherRejected: 0 }
    const client = async (path) => {
      while (counts.db < served) {
        const status = await get(`/${path}`)
        assert.ok(status === 200 || status === 503, `${status}`)
        counts[status === 200 ? path : `${path}Rejected`]++
        if (status === 503) await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS))
      }
    }
    await Promise.all([client('other'), ...Array.from({ length: clients }, () => client('db'))])
    return counts
  }

  const now = () => spillway.snapshot().pools[0]
  return { get, handle, load, now, spillway }
}

/**
 * What holds for each pool that is timed, under .5 to 5 times what it serves: who waits is counted, the route
 * that holds the connections is known, a load that the pool serves is served, and only requests that need the
 * pool are rejected for it. The doctor says so.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ kind: string, pool: object, query: () => PromiseLike<unknown>, queries?: boolean }} given
 * @returns its snapshot at the end
 */
async function checkUnderLoad(t, { kind, ...given }) {
  const { load, now, spillway } = await loadedService(t, given)
  // Somebody waits, so the context of requests is on: then the route is seen to need the pool.
  await load(2 * SIZE, 28)
  for (const times of [0.5, 1, 2]) {
    const { dbRejected, otherRejected } = await load(times * SIZE, times * 16)
    assert.deepEqual({ times, dbRejected, otherRejected }, { times, dbRejected: 0, otherRejected: 0 })
  }
  const served = now()
  assert.equal(served.kind, kind)
  assert.equal(served.max, SIZE)
  assert.equal(served.use.sinceStart.count, served.wait.sinceStart.count)
  assert.deepEqual([served.used, served.waiting, served.timeouts], [0, 0, 0])
  let dbRejected = 0
  do {
    const counts = await load(5 * SIZE, 40)
    assert.equal(counts.otherRejected, 0)
    assert.ok(counts.other > 0)
    dbRejected += counts.dbRejected
    // The doctor wants five seconds.
  } while (spillway.diagnose().healthy === null)
  assert.ok(dbRejected >= 10, `${dbRejected} rejected`)
  const { admission } = spillway.snapshot()
  assert.deepEqual(admission.shed, [{ reason: 'pool:orders', priority: 'normal', count: dbRejected }])
  const { holders, use } = now()
  const [{ method, route, sinceStart }] = holders
  assert.deepEqual({ method, route }, { method: 'GET', route: '/db' })
  assert.ok(sinceStart.count >= 0.5 * use.sinceStart.count, `${sinceStart.count} of ${use.sinceStart.count}`)
  const found = spillway.diagnose().findings.find(({ problem }) => problem === 'pool-exhausted')
  assert.equal(found?.route, 'GET /db')
  assert.match(String(found?.summary), /'?orders'?/)
  return now()
}

module.exports = { QUERY_SECONDS, SIZE, checkUnderLoad, loadedService }
