'use strict'
// The real packages, each without a server or with one of this process: uses, waits and timeouts are counted,
// and `close()` leaves nothing on the pool.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { test } = require('node:test')
const genericPool = require('generic-pool')
const { Redis } = require('ioredis')
const mysql = require('mysql2')
const { Pool: TarnPool } = require('tarn')
const undici = require('undici')
const { createSpillway } = require('../../src/index.js')
const { copiedPackage } = require('../support/copied-package')
const { runNode } = require('../support/run-node')
const { spillwayFor } = require('../support/spillway')

const { createSpillway: createCopy } = copiedPackage()

/** @param {import('node:test').TestContext} t @param {any} pool */
function observe(t, pool) {
  const spillway = spillwayFor(t)
  const handle = spillway.pool('orders', pool, { maxWait: false })
  return { spillway, handle, now: () => spillway.snapshot().pools[0] }
}

const countsOf = ({ wait, use, used, waiting, timeouts }) => ({
  waits: wait.sinceStart.count,
  uses: use.sinceStart.count,
  used,
  waiting,
  timeouts,
})

test('generic-pool', async (t) => {
  let made = 0
  const factory = { create: async () => ({ id: made++ }), destroy: async () => {} }
  const pool = genericPool.createPool(factory, { max: 1, acquireTimeoutMillis: 20 })
  const { handle, now } = observe(t, pool)
  assert.equal(now().kind, 'generic-pool')
  const first = await pool.acquire()
  assert.deepEqual(countsOf(now()), { waits: 1, uses: 0, used: 1, waiting: 0, timeouts: 0 })
  await assert.rejects(pool.acquire(), { name: 'TimeoutError' })
  assert.equal(now().timeouts, 1)
  await pool.release(first)
  await assert.rejects(pool.release(first))
  await pool.use(async () => {})
  const lost = await pool.acquire()
  await pool.destroy(lost)
  assert.deepEqual(countsOf(now()), { waits: 3, uses: 3, used: 0, waiting: 0, timeouts: 1 })
  handle.close()
  assert.deepEqual(
    ['acquire', 'release', 'destroy'].filter((name) => Object.hasOwn(pool, name)),
    []
  )
  await pool.drain()
  await pool.clear()
})

for (const [what, given] of /** @type {[string, (pool: any) => any][]} */ ([
  ['tarn', (pool) => pool],
  ['the pool of knex', (pool) => Object.assign(() => {}, { client: { pool } })],
])) {
  test(what, async (t) => {
    let made = 0
    const options = { create: async () => ({ id: made++ }), destroy() {}, min: 0, max: 1 }
    const pool = new TarnPool({ ...options, acquireTimeoutMillis: 20 })
    const { handle, now } = observe(t, given(pool))
    assert.equal(now().kind, 'tarn')
    const first = await pool.acquire().promise
    assert.deepEqual(countsOf(now()), { waits: 1, uses: 0, used: 1, waiting: 0, timeouts: 0 })
    await assert.rejects(pool.acquire().promise)
    const aborted = pool.acquire()
    assert.equal(now().waiting, 1)
    aborted.abort()
    await assert.rejects(aborted.promise)
    assert.equal(pool.release(first), true)
    assert.equal(pool.release(first), false)
    pool.release(await pool.acquire().promise)
    assert.deepEqual(countsOf(now()), { waits: 2, uses: 2, used: 0, waiting: 0, timeouts: 1 })
    handle.close()
    assert.equal(/** @type {any} */ (pool).emitter.eventNames().length, 0)
    await pool.destroy()
  })
}

test('knex has another pool after `destroy()` and `initialize()`, which is observed from the next snapshot', async (t) => {
  const made = () => new TarnPool({ create: async () => ({}), destroy() {}, min: 0, max: 1 })
  const client = { pool: /** @type {TarnPool<object> | undefined} */ (made()) }
  const { handle, now } = observe(t, { client })
  const earlier = /** @type {TarnPool<object>} */ (client.pool)
  earlier.release(await earlier.acquire().promise)
  await earlier.destroy()
  client.pool = undefined
  assert.deepEqual(countsOf(now()), { waits: 1, uses: 1, used: 0, waiting: 0, timeouts: 0 })
  const later = (client.pool = made())
  now()
  const connection = await later.acquire().promise
  assert.deepEqual(countsOf(now()), { waits: 2, uses: 1, used: 1, waiting: 0, timeouts: 0 })
  later.release(connection)
  assert.equal(now().use.sinceStart.count, 2)
  handle.close()
  assert.equal(/** @type {any} */ (later).emitter.eventNames().length, 0)
  await later.destroy()
})

/**
 * A server of MySQL's protocol, which answers every query with one row.
 *
 * @param {import('node:test').TestContext} t
 */
async function startMysql(t) {
  const server = /** @type {any} */ (mysql).createServer()
  const open = new Set()
  server.on('connection', (connection) => {
    open.add(connection)
    connection.on('error', () => {})
    connection.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8',
      connectionId: open.size,
      statusFlags: 2,
      characterSet: 8,
      capabilityFlags: 0xff_ff_ff ^ 0x8_00 ^ 0x20,
    })
    connection.on('query', (text) => {
      if (text === 'refused') connection.writeError({ code: 1064, message: text })
      else connection.writeOk()
    })
    connection.on('quit', () => connection.stream?.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server._server, 'listening')
  t.after(() => {
    for (const { stream } of open) stream.destroy()
    server._server.close()
  })
  return server._server.address().port
}

test('queries of mysql2, with callbacks, promises and as streams', async (t) => {
  const port = await startMysql(t)
  const pool = mysql.createPool({ host: '127.0.0.1', port, user: 'u', connectionLimit: 1 })
  const spillway = spillwayFor(t)
  const handle = spillway.pool('orders', pool, { queries: true })
  /** @param {{ query: Function }} asked */
  const byCallback = ({ query }, asked = pool) =>
    new Promise((resolve) => query.call(asked, 'select 1 from a', (...given) => resolve(given)))
  assert.equal((await byCallback(pool))[0], null)
  await pool.promise().query('select 1 from b')
  await once(pool.query('select 1 from streamed'), 'end')
  await assert.rejects(pool.promise().query('refused'), { code: 'ER_PARSE_ERROR' })
  const connection = await pool.promise().getConnection()
  await connection.query('select 1 from c')
  const inner = /** @type {any} */ (connection).connection
  assert.equal((await byCallback(inner, inner))[0], null)
  await once(inner.query('select 1 from streamed'), 'end')
  connection.release()
  const [{ queries, used }] = spillway.snapshot().pools
  assert.equal(used, 0)
  assert.deepEqual(
    queries.map(({ collection, sinceStart: { count, errors } }) => [collection, count, errors]).sort(),
    [
      [null, 1, 1],
      ['a', 2, 0],
      ['b', 1, 0],
      ['c', 1, 0],
    ]
  )
  handle.close()
  await pool.promise().query('select 1 from d')
  assert.equal(Object.hasOwn(inner, 'query'), false)
  await pool.promise().end()
})

for (const kind of ['callbacks', 'promises']) {
  test(`mysql2 with ${kind}`, async (t) => {
    const port = await startMysql(t)
    const pool = mysql.createPool({ host: '127.0.0.1', port, user: 'u', connectionLimit: 1 })
    const promised = pool.promise()
    const { handle, now } = observe(t, kind === 'promises' ? promised : pool)
    assert.equal(now().kind, 'mysql2')
    await promised.query('select 1')
    const first = await promised.getConnection()
    const second = promised.getConnection()
    assert.deepEqual(countsOf(now()), { waits: 2, uses: 1, used: 1, waiting: 1, timeouts: 0 })
    first.release()
    first.release()
    const lost = await second
    lost.destroy()
    assert.deepEqual(countsOf(now()), { waits: 3, uses: 3, used: 0, waiting: 0, timeouts: 0 })
    // A caller that waits for a connection which is lost gets a new one: one caller, one wait.
    const holder = await promised.getConnection()
    const waiting = promised.getConnection()
    holder.destroy()
    ;(await waiting).release()
    assert.deepEqual(countsOf(now()), { waits: 5, uses: 5, used: 0, waiting: 0, timeouts: 0 })
    handle.close()
    assert.deepEqual(
      ['getConnection', 'releaseConnection'].filter((name) => Object.hasOwn(pool, name)),
      []
    )
    await promised.end()
    await assert.rejects(promised.getConnection(), /closed/)
  })
}

test('mysql2: several observers of a pool count each caller once, also if its connection is lost', async (t) => {
  const port = await startMysql(t)
  const pool = mysql.createPool({ host: '127.0.0.1', port, user: 'u', connectionLimit: 1 })
  const promised = pool.promise()
  const all = [
    createSpillway({ logger: false }),
    createSpillway({ logger: false }),
    createCopy({ logger: false }),
  ]
  t.after(() => {
    for (const spillway of all) spillway.close()
  })
  const handles = all.map((spillway) => spillway.pool('orders', pool, { maxWait: false }))
  const holder = await promised.getConnection()
  const waiting = promised.getConnection()
  holder.destroy()
  ;(await waiting).release()
  for (const spillway of all)
    assert.deepEqual(countsOf(spillway.snapshot().pools[0]), {
      waits: 2,
      uses: 2,
      used: 0,
      waiting: 0,
      timeouts: 0,
    })
  for (const handle of [handles[1], handles[0], handles[2]]) handle.close()
  assert.deepEqual(
    ['getConnection', 'releaseConnection'].filter((name) => Object.hasOwn(pool, name)),
    []
  )
  await promised.end()
})

test('ioredis: a command that has no answer is in use, and those behind it wait', async (t) => {
  const sockets = new Set()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const redis = new Redis({
    port,
    host: '127.0.0.1',
    protocol: 2,
    enableReadyCheck: false,
    disableClientInfo: true,
    lazyConnect: true,
  })
  t.after(() => {
    redis.disconnect()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { handle, now } = observe(t, redis)
  assert.deepEqual([now().kind, now().used, now().idle, now().waiting], ['ioredis', 0, 0, 0])
  await redis.connect()
  const inHand = /** @type {any} */ (redis).commandQueue.length
  const commands = Promise.allSettled([redis.get('a'), redis.get('b'), redis.get('c')])
  const { used, waiting, max, wait } = now()
  assert.deepEqual([used, waiting - inHand, max, wait.sinceStart.count], [1, 2, 1, 0])
  handle.close()
  redis.disconnect()
  await commands
})

for (const kind of /** @type {const} */ (['Pool', 'Client'])) {
  test(`undici: ${kind}`, async (t) => {
    const held = []
    const arrived = []
    const server = http.createServer((_req, res) => {
      held.push(res)
      arrived.shift()?.()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = /** @type {net.AddressInfo} */ (server.address())
    const origin = `http://127.0.0.1:${port}`
    const client = kind === 'Pool' ? new undici.Pool(origin, { connections: 1 }) : new undici.Client(origin)
    t.after(async () => {
      await client.destroy()
      server.close()
    })
    const { now } = observe(t, client)
    const came = new Promise((resolve) => arrived.push(resolve))
    const answers = [0, 1].map(() => client.request({ path: '/', method: 'GET' }))
    await came
    const { used, idle, waiting, max } = now()
    assert.deepEqual([now().kind, used, idle, waiting, max], ['undici', 1, 0, 1, null])
    held[0].end()
    await (await answers[0]).body.text()
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve))
    held[1].end()
    await (await answers[1]).body.text()
    while (now().used > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([now().used, now().idle, now().waiting], [0, 1, 0])
  })
}

test('any other pool: numbers, functions and getters are read when somebody looks', (t) => {
  let waiting = 3
  const { now } = observe(t, {
    size: 5,
    idle: () => 2,
    get waiting() {
      return waiting
    },
    max: () => 8,
  })
  assert.deepEqual([now().kind, now().used, now().idle, now().waiting, now().max], ['given', 3, 2, 3, 8])
  waiting = 0
  assert.equal(now().waiting, 0)
})

test('figures that throw are an internal error, and the snapshot is made', (t) => {
  const { spillway, now } = observe(t, {
    size: 5,
    idle: 1,
    waiting: () => {
      throw new Error('no')
    },
  })
  assert.deepEqual([now().used, now().waiting], [0, 0])
  assert.deepEqual(Object.keys(spillway.snapshot().internalErrors), ['pools'])
})

test('a figure that is a promise is 0, and an internal error that ends no process', async (t) => {
  const { output } = await runNode(
    `
    const { createSpillway } = require('./src')
    const spillway = createSpillway({ logger: false })
    const away = async () => { throw new Error('redis is away') }
    spillway.pool('redis', { size: away, idle: async () => 3, waiting: 2 })
    const { used, idle, waiting } = spillway.snapshot().pools[0]
    setImmediate(() => {
      console.log(JSON.stringify([used, idle, waiting, spillway.snapshot().internalErrors.pools > 0]))
      spillway.close()
    })
    `,
    { t }
  )
  assert.deepEqual(output, [0, 0, 2, true])
})
