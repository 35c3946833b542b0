'use strict'
// The real Pool of pg, without a database: every way to get and give back a connection, and every way to get
// it wrong.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const { setFlagsFromString } = require('node:v8')
const { Pool } = require('pg')
const { copiedPackage } = require('../support/copied-package')
const { runNode } = require('../support/run-node')
const { spillwayFor } = require('../support/spillway')
const { withoutDatabase } = require('./fake-client')

const { createSpillway: createCopy } = copiedPackage()

/** @param {import('node:test').TestContext} t @param {object} [options] */
function poolFor(t, options) {
  const pool = new Pool(withoutDatabase(options))
  const spillway = spillwayFor(t)
  const handle = spillway.pool('orders', pool, { maxWait: false })
  t.after(() => pool.ended || pool.ending || pool.end())
  return { pool, spillway, handle, now: () => spillway.snapshot().pools[0] }
}

test('connect with a promise, with a callback, and query are each one wait and one use', async (t) => {
  const { pool, now } = poolFor(t)
  const client = await pool.connect()
  assert.equal(now().used, 1)
  client.release()
  await new Promise((resolve) => {
    pool.connect((_error, _client, release) => resolve(release()))
  })
  await pool.query('select 1')
  await new Promise((resolve) => pool.query('select 1', resolve))
  const { wait, use, used, idle, max } = now()
  assert.deepEqual([wait.sinceStart.count, use.sinceStart.count, used, idle, max], [4, 4, 0, 1, 2])
})

test('an observed pool keeps its properties where V8 reads them fastest', async (t) => {
  setFlagsFromString('--allow-natives-syntax')
  const isFast = new Function('object', 'return %HasFastProperties(object)')
  const { pool } = poolFor(t)
  assert.equal(isFast(pool), true)
  for (let i = 0; i < 3; i++) await pool.query('select 1')
  assert.equal(isFast(pool), true)
})

test('a caller that waits is counted, and its wait when it has a connection', async (t) => {
  const { pool, now } = poolFor(t, { max: 1 })
  const first = await pool.connect()
  const second = pool.connect()
  assert.deepEqual([now().used, now().waiting, now().wait.sinceStart.count], [1, 1, 1])
  first.release()
  ;(await second).release()
  assert.deepEqual([now().waiting, now().wait.sinceStart.count, now().use.sinceStart.count], [0, 2, 2])
})

test('a timeout is counted, and the connection that comes too late is no use', async (t) => {
  const { pool, now } = poolFor(t, { max: 1, connectionTimeoutMillis: 5 })
  // The pool's own timer does not keep the process alive.
  const alive = setInterval(() => {}, 1000)
  t.after(() => clearInterval(alive))
  const client = await pool.connect()
  await assert.rejects(pool.connect(), /timeout exceeded/)
  assert.deepEqual([now().timeouts, now().waiting], [1, 0])
  client.release()
  assert.equal(now().use.sinceStart.count, 1)
})

test('an error of the pool is passed on unchanged, as is its promise', async (t) => {
  const { pool, now } = poolFor(t)
  await pool.end()
  await assert.rejects(pool.connect(), /after calling end/)
  const error = await new Promise((resolve) => pool.connect(resolve))
  assert.match(error.message, /after calling end/)
  assert.deepEqual([now().timeouts, now().wait.sinceStart.count], [0, 0])
})

test('a connection that is released with an error is removed, and its use has ended', async (t) => {
  const { pool, now } = poolFor(t)
  const client = await pool.connect()
  client.release(new Error('broken'))
  assert.deepEqual([now().use.sinceStart.count, now().longestHeld.length, pool.totalCount], [1, 0, 0])
})

test('a pool without the event `release`, as before pg-pool 3.6: each use ends when the connection is given back', async (t) => {
  class OlderPool extends Pool {
    emit(name, ...given) {
      return name === 'release' ? false : super.emit(name, ...given)
    }
  }
  const pool = new OlderPool(withoutDatabase({ max: 1 }))
  t.after(() => pool.end())
  const spillway = spillwayFor(t)
  spillway.pool('orders', pool, { maxWait: false })
  const now = () => spillway.snapshot().pools[0]
  const first = await pool.connect()
  const second = pool.connect()
  first.release()
  assert.equal(now().use.sinceStart.count, 1)
  ;(await second).release()
  await pool.query('select 1')
  assert.deepEqual([now().use.sinceStart.count, now().longestHeld.length], [3, 0])
})

test('a second release throws as without, and is counted once', async (t) => {
  const { pool, now } = poolFor(t)
  const client = await pool.connect()
  client.release()
  assert.throws(() => client.release(), /already been released/)
  assert.equal(now().use.sinceStart.count, 1)
})

test('a pool that is ended while connections are in use', async (t) => {
  const { pool, now } = poolFor(t)
  const client = await pool.connect()
  const ended = pool.end()
  assert.equal(now().used, 1)
  client.release()
  await ended
  assert.deepEqual([now().used, now().use.sinceStart.count, now().longestHeld.length], [0, 1, 0])
})

test('what a callback throws reaches the process, as without, and the use is counted', async (t) => {
  const { output } = await runNode(
    `
    const { Pool } = require('pg')
    const { createSpillway } = require('./src')
    const { withoutDatabase } = require('./test/pools/fake-client')
    const pool = new Pool(withoutDatabase())
    const spillway = createSpillway({ logger: false })
    spillway.pool('orders', pool)
    process.once('uncaughtException', ({ message }) => {
      const { use } = spillway.snapshot().pools[0]
      console.log(JSON.stringify([message, use.sinceStart.count]))
      spillway.close()
      pool.end()
    })
    pool.connect((_error, _client, release) => {
      release()
      throw new Error('in the callback')
    })
    `,
    { t }
  )
  assert.deepEqual(output, ['in the callback', 1])
})

test('close() restores the pool, also while connections are in use, and a second time changes nothing', async (t) => {
  const { pool, spillway, handle } = poolFor(t, { max: 1 })
  const client = await pool.connect()
  const waiting = pool.connect()
  handle.close()
  handle.close()
  assert.deepEqual(
    [
      ['connect', '_release'].filter((name) => Object.hasOwn(pool, name)),
      pool.listenerCount('release'),
      pool.listenerCount('remove'),
    ],
    [[], 0, 0]
  )
  assert.deepEqual(spillway.snapshot().pools, [])
  client.release()
  ;(await waiting).release()
  await pool.query('select 1')
})

test('close() of the instance takes its pools off too', async (t) => {
  const { pool, spillway } = poolFor(t)
  spillway.close()
  assert.equal(Object.hasOwn(pool, 'connect'), false)
})

for (const [what, first, second] of /** @type {[string, number, number][]} */ ([
  ['two instances', 0, 1],
  ['two instances', 1, 0],
  ['two copies of the package', 0, 1],
  ['two copies of the package', 1, 0],
])) {
  test(`${what} on one pool, of which number ${first + 1} is closed first`, async (t) => {
    const pool = new Pool(withoutDatabase())
    const other = what === 'two instances' ? spillwayFor(t) : createCopy({ logger: false })
    t.after(() => other.close())
    const spillways = [spillwayFor(t), other]
    const handles = spillways.map((each) => each.pool('orders', pool))
    const uses = () => spillways.map((each) => each.snapshot().pools[0]?.use.sinceStart.count)
    await pool.query('select 1')
    assert.deepEqual(uses(), [1, 1])
    handles[first].close()
    await pool.query('select 1')
    assert.equal(uses()[second], 2)
    handles[second].close()
    assert.equal(Object.hasOwn(pool, 'connect'), false)
    await pool.end()
  })
}

test('a method that is made final after pool() stays observed, and close() throws nothing', async (t) => {
  const pool = new Pool(withoutDatabase())
  const spillway = spillwayFor(t)
  const handle = spillway.pool('orders', pool)
  Object.defineProperty(pool, 'connect', { configurable: false, writable: false })
  await pool.query('select 1')
  assert.equal(spillway.snapshot().pools[0].use.sinceStart.count, 1)
  handle.close()
  await pool.query('select 1')
  await pool.end()
})

test('what others have put on the pool stays: below and above', async (t) => {
  const pool = new Pool(withoutDatabase())
  t.after(() => pool.end())
  const calls = []
  const own = pool.connect
  const wrap = (name, inner) =>
    function wrapped() {
      calls.push(name)
      return inner.apply(this, arguments)
    }
  const below = (pool.connect = wrap('below', own))
  const spillway = spillwayFor(t)
  const first = spillway.pool('first', pool)
  pool.connect = wrap('above', pool.connect)
  await pool.query('select 1')
  first.close()
  await pool.query('select 1')
  assert.deepEqual(calls, ['above', 'below', 'above', 'below'])
  const second = spillway.pool('second', pool)
  const above = pool.connect
  second.close()
  assert.notEqual(pool.connect, above)
  assert.notEqual(pool.connect, below)
})

test('ten thousand uses leave nothing behind', async (t) => {
  const { pool, now } = poolFor(t, { max: 5 })
  for (let i = 0; i < 100; i++) await Promise.all(Array.from({ length: 100 }, () => pool.query('select 1')))
  const { wait, use, longestHeld, waiting } = now()
  assert.deepEqual(
    [wait.sinceStart.count, use.sinceStart.count, longestHeld.length, waiting],
    [10_000, 10_000, 0, 0]
  )
})

test('a failed query gives its connection back', async (t) => {
  const { pool, now } = poolFor(t)
  await assert.rejects(pool.query('fail'), /failed/)
  assert.deepEqual([now().used, now().use.sinceStart.count], [0, 1])
})

test('the removal of an idle connection is no use', async (t) => {
  const { pool, now } = poolFor(t, { idleTimeoutMillis: 1 })
  const removed = once(pool, 'remove')
  await pool.query('select 1')
  await removed
  assert.equal(now().use.sinceStart.count, 1)
})
