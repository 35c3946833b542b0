'use strict'
// A pool that is short, behind a real server, with a clock that moves when told: who would wait too long for
// a connection is rejected with the reason of the pool, and nobody else.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const express = require('express')
const { Pool } = require('pg')
const { handClock } = require('../support/hand-clock')
const { spillwayFor } = require('../support/spillway')
const { withoutDatabase } = require('./fake-client')

const USE_MS = 10

async function until(isTrue) {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

/**
 * A service whose pool has one connection. A request of `/db` holds it until it is let go.
 *
 * @param {import('node:test').TestContext} t @param {{ maxWait?: number | false, shed?: object }} [given]
 */
async function serviceFor(t, { maxWait, shed } = {}) {
  const clock = handClock()
  const pool = new Pool(withoutDatabase({ max: 1, idleTimeoutMillis: 0 }))
  const spillway = spillwayFor(t, { shed, endpoints: false }, clock)
  const handle = spillway.pool('orders', pool, { maxWait })
  const held = []
  const app = express()
  app.get('/db/:id', async (_req, res) => {
    const client = await pool.connect()
    held.push(() => {
      client.release()
      res.send('rows')
    })
  })
  const stuck = []
  app.get('/stuck/:id', (req, res) => {
    if (req.params.id === 'body') stuck.push(res)
    else pool.connect().then((client) => res.send('rows', client.release()))
  })
  app.get('/cached/:id', async (req, res) => {
    if (req.params.id === 'miss') (await pool.connect()).release()
    res.send('rows')
  })
  app.get('/other', (_req, res) => res.send('no rows'))
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
    return pool.end()
  })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const get = async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    await response.text()
    return response.status
  }
  const letGo = async () => {
    await until(() => held.length > 0)
    clock.advance(USE_MS)
    held.shift()()
  }
  /** As many requests that wait for the one connection, each sent when the one before waits. */
  const queue = async (count) => {
    const answers = []
    for (let i = 0; i < count; i++) {
      answers.push(get('/db/1'))
      await until(() => held.length + pool.waitingCount === i + 1)
    }
    return answers
  }
  /** Somebody waits, so the pool is watched; then the route is seen to need it, with uses of 10 ms. */
  const learn = async () => {
    const first = await queue(2)
    await letGo()
    await letGo()
    await Promise.all(first)
    for (let i = 0; i < 25; i++) await get(i % 2 === 0 ? '/cached/miss' : '/cached/hit')
    for (let i = 0; i < 25; i++) await Promise.all([get('/db/1'), letGo()])
  }
  const finish = async (answers) => {
    for (let i = 0; i < answers.length; i++) await letGo()
    return Promise.all(answers)
  }
  const shedNow = () => spillway.snapshot().admission
  return { clock, finish, get, handle, learn, letGo, pool, queue, shedNow, spillway, stuck }
}

/** With a clock that stands still the loop seems to be full. */
const NO_LOOP_RULE = { mode: 'threshold' }
const BY_POOL = [{ reason: 'pool:orders', priority: 'normal', count: 1 }]

test('a request that would wait longer than is tolerated is rejected, and only if its route needs the pool', async (t) => {
  const service = await serviceFor(t, { maxWait: 2 * USE_MS })
  const overloads = []
  service.spillway.on('overload', (details) => overloads.push(details))
  await service.learn()
  // One has the connection, and three wait: the next would wait for three uses.
  const answers = await service.queue(4)
  assert.equal(await service.get('/db/late'), 503)
  assert.equal(await service.get('/other'), 200)
  assert.equal(await service.get('/cached/hit'), 200)
  assert.deepEqual(await service.finish(answers), [200, 200, 200, 200])
  assert.deepEqual(service.shedNow().shed, BY_POOL)
  const [{ value, ...overload }] = overloads
  assert.deepEqual(overload, { reason: 'pool:orders', bound: 2 * USE_MS })
  // Three uses, by the mean use so far.
  assert.ok(value > 2 * USE_MS && value <= 3 * USE_MS, `${value} ms`)
  // Nobody waits any more.
  assert.deepEqual(await service.finish([service.get('/db/again')]), [200])
  const { holders, wait } = service.spillway.snapshot().pools[0]
  assert.equal(holders[0].route, '/db/:id')
  assert.equal(wait.sinceStart.maxMs >= 3 * USE_MS, true)
})

test('one request is admitted in 100 ms, however many wait', async (t) => {
  const service = await serviceFor(t, { maxWait: 2 * USE_MS })
  await service.learn()
  const answers = await service.queue(4)
  assert.equal(await service.get('/db/late'), 503)
  service.clock.pass(101)
  answers.push(service.get('/db/probe'))
  await until(() => service.pool.waitingCount === 4)
  assert.equal(await service.get('/db/late'), 503)
  assert.deepEqual(await service.finish(answers), Array(5).fill(200))
})

/**
 * A request that the gate has queued, and then a pool that is short: one client has the connection, and three
 * wait.
 */
async function queuedThenShort(t) {
  const service = await serviceFor(t, { maxWait: 2 * USE_MS, shed: { maxConcurrent: 2 } })
  await service.learn()
  const answers = [service.get('/stuck/body'), service.get('/stuck/body')]
  await until(() => service.stuck.length === 2)
  answers.push(service.get('/db/late'))
  await until(() => service.shedNow().queued === 1)
  const clients = Array.from({ length: 4 }, () => service.pool.connect())
  await until(() => service.pool.waitingCount === 3)
  const end = async () => {
    for (const res of service.stuck) res.end()
    for (const client of clients) (await client).release()
  }
  return { answers, end, service }
}

test('a request that the gate has queued is rejected if the pool has become short since', async (t) => {
  const { answers, end, service } = await queuedThenShort(t)
  for (const res of service.stuck) res.end()
  await until(() => service.shedNow().queued === 0)
  assert.deepEqual(service.shedNow().shed, BY_POOL)
  await end()
  assert.deepEqual(await Promise.all(answers), [200, 200, 503])
})

test('a queued request runs when the mode becomes one that rejects nothing, however short the pool', async (t) => {
  const { answers, end, service } = await queuedThenShort(t)
  service.spillway.update({ shed: { mode: 'observe' } })
  await until(() => service.shedNow().queued === 0)
  assert.deepEqual(service.shedNow().shed, [])
  await end()
  await service.letGo()
  assert.deepEqual(await Promise.all(answers), [200, 200, 200])
})

test('a route that was never seen to need the pool is not rejected', async (t) => {
  const service = await serviceFor(t, { maxWait: 2 * USE_MS })
  const answers = await service.queue(6)
  assert.deepEqual(await service.finish(answers), Array(6).fill(200))
  assert.deepEqual(service.shedNow().shed, [])
})

test('by default twenty must be ahead, and have waited for half a second: a burst is served', async (t) => {
  const service = await serviceFor(t, { shed: NO_LOOP_RULE })
  await service.learn()
  // The last of them waits for 190 ms.
  const answers = await service.queue(22)
  const maxWaitMs = () => service.spillway.snapshot().pools[0].maxWaitMs
  assert.equal(maxWaitMs(), 500)
  service.clock.advance(501)
  answers.push(service.get('/db/probe'))
  await until(() => service.pool.waitingCount === 22)
  assert.equal(await service.get('/db/late'), 503)
  const [{ bound }] = service.spillway.snapshot().admission.rejected
  assert.equal(Number(maxWaitMs()?.toFixed(3)), bound)
  assert.deepEqual(await service.finish(answers), Array(23).fill(200))
  assert.deepEqual(service.shedNow().shed, BY_POOL)
})

for (const maxWait of /** @type {(false | number)[]} */ ([false, 0])) {
  test(`with maxWait: ${maxWait} nothing is rejected`, async (t) => {
    const service = await serviceFor(t, { maxWait, shed: NO_LOOP_RULE })
    await service.learn()
    const answers = await service.queue(30)
    assert.deepEqual(await service.finish(answers), Array(30).fill(200))
    assert.equal(service.spillway.snapshot().pools[0].maxWaitMs, null)
  })
}

test('mode observe counts what would be rejected, and rejects nothing', async (t) => {
  const service = await serviceFor(t, { maxWait: 2 * USE_MS, shed: { mode: 'observe' } })
  await service.learn()
  service.clock.advance(1000)
  const answers = await service.queue(6)
  assert.deepEqual(await service.finish(answers), Array(6).fill(200))
  const { shed, wouldShed } = service.shedNow()
  assert.deepEqual(shed, [])
  assert.deepEqual(wouldShed, [{ reason: 'pool:orders', priority: 'normal', count: 3 }])
})

test('requests that never come to ask, such as those whose bodies trickle, keep nobody out', async (t) => {
  const service = await serviceFor(t, { maxWait: 2 * USE_MS, shed: NO_LOOP_RULE })
  await service.learn()
  for (let i = 0; i < 30; i++) assert.equal(await service.get('/stuck/query'), 200)
  for (let i = 0; i < 30; i++) await Promise.all([service.get('/db/1'), service.letGo()])
  const stuck = []
  for (let i = 1; i <= 8; i++) {
    stuck.push(service.get('/stuck/body'))
    await until(() => service.stuck.length === i)
    service.clock.advance(101)
  }
  // The pool idles, and one was admitted just now.
  for (let i = 0; i < 5; i++) {
    const answer = service.get('/db/1')
    await Promise.race([service.letGo(), answer])
    assert.equal(await answer, 200)
  }
  for (const res of service.stuck) res.end()
  assert.deepEqual(await Promise.all(stuck), Array(8).fill(200))
})

test('a closed handle rejects nothing', async (t) => {
  const service = await serviceFor(t, { maxWait: 2 * USE_MS })
  await service.learn()
  service.handle.close()
  const answers = await service.queue(6)
  assert.deepEqual(await service.finish(answers), Array(6).fill(200))
  assert.deepEqual(service.shedNow().shed, [])
})

test('critical requests are not rejected', async (t) => {
  const shed = { classify: ({ url }) => (url.endsWith('critical') ? 'critical' : 'normal') }
  const service = await serviceFor(t, { maxWait: 2 * USE_MS, shed })
  await service.learn()
  const answers = await service.queue(4)
  answers.push(service.get('/db/critical'))
  await until(() => service.pool.waitingCount === 4)
  assert.equal(await service.get('/db/late'), 503)
  assert.deepEqual(await service.finish(answers), Array(5).fill(200))
})
