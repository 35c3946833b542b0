// redis (node-redis) 6 and 5, and ioredis, on a real redis-server: docs/pools.md says what is measured.

const assert = require('node:assert/strict')
const { describe, test } = require('node:test')
const { SIZE, QUERY_SECONDS, checkUnderLoad, loadedService } = require('../support/loaded-service')
const { isMissing, startRedis } = require('../support/redis')
const { serverOfSuite } = require('../support/server-of-suite')

/** Makes a command wait that the server answers after the time of a query. */
const BLOCK = ['BLPOP', 'no-such-list', String(QUERY_SECONDS)]

describe('on a real redis-server', { skip: isMissing() }, () => {
  const server = serverOfSuite(startRedis)

  for (const version of ['redis', 'redis-5']) {
    /** @returns {Promise<any>} */
    const poolOf = async (options) => {
      const { createClientPool } = require(version)
      const pool = createClientPool({ url: server.url }, { minimum: 1, maximum: SIZE, ...options })
      pool.on('error', () => {})
      return pool.connect()
    }

    test(`${version}: a pool, under .5 to 5 times what it serves`, async (t) => {
      const pool = await poolOf()
      t.after(() => pool.close())
      await checkUnderLoad(t, { kind: 'redis', pool, query: () => pool.sendCommand(BLOCK) })
    })

    test(`${version}: a pool counts commands, transactions and tasks, and gives their results and errors`, async (t) => {
      const pool = await poolOf({ maximum: 1, acquireTimeout: 30 })
      t.after(() => pool.destroy())
      const { handle, now } = await loadedService(t, { pool, query: () => pool.get('a') })
      assert.equal(now().max, null)
      await pool.set('a', '1')
      assert.equal(await pool.withCommandOptions({}).get('a'), '1')
      assert.deepEqual(await pool.multi().get('a').incr('a').exec(), ['1', 2])
      assert.equal(await pool.execute(() => 'without a promise'), 'without a promise')
      await assert.rejects(
        pool.execute(() => Promise.reject(new Error('mine'))),
        /mine/
      )
      await assert.rejects(pool.lPop('a'), /WRONGTYPE/)
      assert.equal(now().use.sinceStart.count, 6)
      const blocked = pool.sendCommand(['BLPOP', 'no-such-list', '0.2'])
      await assert.rejects(pool.get('a'), { name: 'Error', message: /Timeout waiting for a client/ })
      await blocked
      const { timeouts, use, wait, used, idle, waiting, max } = now()
      assert.deepEqual([timeouts, use.sinceStart.count, wait.sinceStart.count], [1, 7, 7])
      assert.deepEqual([used, idle, waiting, max], [0, 1, 0, 1])
      handle.close()
      assert.equal(Object.hasOwn(pool._self, 'execute'), false)
      assert.equal(await pool.get('a'), '2')
    })

    test(`${version}: a client is one connection, and its commands without an answer wait`, async (t) => {
      const client = require(version).createClient({ url: server.url })
      client.on('error', () => {})
      const { now } = await loadedService(t, { pool: client, query: () => client.get('a') })
      assert.deepEqual([now().kind, now().used, now().idle, now().waiting], ['redis', 0, 0, 0])
      await client.connect()
      t.after(() => client.destroy())
      assert.deepEqual([now().used, now().idle], [0, 1])
      const commands = [client.sendCommand(BLOCK), client.get('a'), client.multi().get('a').get('a').exec()]
      const { used, idle, waiting, max, wait } = now()
      // MULTI, two commands and EXEC are four.
      assert.deepEqual([used, idle, waiting, max, wait.sinceStart.count], [1, 0, 5, 1, 0])
      await Promise.all(commands)
      assert.deepEqual([now().used, now().idle, now().waiting], [0, 1, 0])
    })
  }

  test('ioredis: a client is one connection, and its commands without an answer wait', async (t) => {
    const { Redis } = require('ioredis')
    const redis = new Redis(server.url, { lazyConnect: true })
    const { now } = await loadedService(t, { pool: redis, query: () => redis.get('a') })
    await redis.connect()
    t.after(() => redis.disconnect())
    await redis.ping()
    const commands = [redis.call(...BLOCK), redis.get('a'), redis.get('a')]
    assert.deepEqual([now().kind, now().used, now().waiting], ['ioredis', 1, 2])
    await Promise.all(commands)
    assert.deepEqual([now().used, now().idle, now().waiting], [0, 1, 0])
  })
})
