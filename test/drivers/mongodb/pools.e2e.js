// The pools and the queries of the MongoDB driver 6 and 7, and of mongoose 8 and 9, which bring drivers of
// their own. The server is `wire-server.js`: it speaks the protocol and answers when it is told, so no test
// waits. `ferretdb.e2e.js` runs against a real database.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const { handClock } = require('../../support/hand-clock')
const { serve } = require('../../support/serve')
const { spillwayFor } = require('../../support/spillway')
const { WireServer } = require('./wire-server')

const DRIVERS = ['mongodb', 'mongodb-6']
const MONGOOSES = ['mongoose', 'mongoose-8']

/** @param {import('node:test').TestContext} t @param {string} driver @param {object} [options] */
async function clientFor(t, driver, options) {
  const server = await new WireServer().listen()
  const { MongoClient } = require(driver)
  const client = new MongoClient(server.url, { maxPoolSize: 1, ...options })
  t.after(async () => {
    server.letGo()
    await client.close()
    server.close()
  })
  const items = client.db().collection('items')
  return { client, items, server }
}

const countsOf = ({ wait, use, used, waiting, timeouts, max }) => [
  wait.sinceStart.count,
  use.sinceStart.count,
  used,
  waiting,
  timeouts,
  max,
]

for (const driver of DRIVERS) {
  test(`${driver}: before it connects and after, a use and a wait are counted`, async (t) => {
    const { client, items, server } = await clientFor(t, driver)
    const spillway = spillwayFor(t)
    const handle = spillway.pool('shop', client, { maxWait: false })
    const now = () => spillway.snapshot().pools[0]
    assert.deepEqual(spillway.snapshot().pools, [])
    await client.connect()
    const { wait } = now()
    // The driver of version 7 tries the connection.
    const atFirst = wait.sinceStart.count
    assert.deepEqual([now().name, now().kind], ['shop', 'mongodb'])
    await items.insertOne({ name: 'cup' })
    assert.deepEqual(countsOf(now()), [atFirst + 1, atFirst + 1, 0, 0, 0, 1])
    const first = items.find({}, { comment: 'hold' }).toArray()
    await server.holds(1)
    const second = items.find({}).toArray()
    while (now().waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(countsOf(now()), [atFirst + 2, atFirst + 1, 1, 1, 0, 1])
    server.letGo()
    await Promise.all([first, second])
    assert.deepEqual(countsOf(now()), [atFirst + 3, atFirst + 3, 0, 0, 0, 1])
    const [{ pool }] = [...client.topology.s.servers.values()]
    handle.close()
    handle.close()
    assert.deepEqual(
      [
        ['checkOut', 'checkIn'].filter((name) => Object.hasOwn(pool, name)),
        client.listenerCount('connectionPoolCreated'),
        client.listenerCount('connectionPoolClosed'),
      ],
      [[], 0, 0]
    )
    await items.find({}).toArray()
  })

  test(`${driver}: a caller that times out waits no more, though the driver still has it in its queue`, async (t) => {
    const { client, items, server } = await clientFor(t, driver, { waitQueueTimeoutMS: 20 })
    await client.connect()
    const spillway = spillwayFor(t)
    spillway.pool('shop', client, { maxWait: false })
    const first = items.find({}, { comment: 'hold' }).toArray()
    await server.holds(1)
    await assert.rejects(items.find({}).toArray(), { name: 'MongoWaitQueueTimeoutError' })
    const [{ pool }] = [...client.topology.s.servers.values()]
    assert.equal(pool.waitQueueSize, 1)
    assert.deepEqual(countsOf(spillway.snapshot().pools[0]), [1, 0, 1, 0, 1, 1])
    server.letGo()
    await first
  })

  test(`${driver}: a caller that gives up has no event, and waits no more`, async (t) => {
    const { client, items, server } = await clientFor(t, driver)
    await client.connect()
    const spillway = spillwayFor(t)
    spillway.pool('shop', client, { maxWait: false })
    const now = () => spillway.snapshot().pools[0]
    const first = items.find({}, { comment: 'hold' }).toArray()
    await server.holds(1)
    const given = new AbortController()
    const aborted = items.find({}, { signal: given.signal }).toArray()
    while (now().waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    given.abort()
    await assert.rejects(aborted, { name: 'AbortError' })
    server.letGo()
    await first
    assert.deepEqual(countsOf(now()), [1, 1, 0, 0, 0, 1])
  })

  test(`${driver}: close() and connect() make another pool, which is observed`, async (t) => {
    const { client, items } = await clientFor(t, driver)
    const spillway = spillwayFor(t)
    spillway.pool('shop', client)
    await client.connect()
    await client.close()
    assert.deepEqual(spillway.snapshot().pools, [])
    await client.connect()
    const before = spillway.snapshot().pools[0].use.sinceStart.count
    await items.find({}).toArray()
    const { pools } = spillway.snapshot()
    assert.deepEqual([pools.length, pools[0].use.sinceStart.count - before], [1, 1])
  })

  test(`${driver}: each server of a replica set has its pool`, async (t) => {
    const servers = await Promise.all([1, 2].map(() => new WireServer().listen()))
    const hosts = servers.map(({ host }) => host)
    for (const server of servers) server.replicaSet = { setName: 'rs', hosts, primary: hosts[0] }
    const { MongoClient } = require(driver)
    const client = new MongoClient(`mongodb://${hosts.join()}/shop?replicaSet=rs`, { maxPoolSize: 2 })
    t.after(async () => {
      await client.close()
      for (const server of servers) server.close()
    })
    const spillway = spillwayFor(t)
    spillway.pool(client)
    await client.connect()
    const uses = () =>
      Object.fromEntries(spillway.snapshot().pools.map(({ name, use }) => [name, use.sinceStart.count]))
    const before = uses()
    assert.deepEqual(Object.keys(before).sort(), hosts.map((host) => `shop ${host}`).sort())
    const [primary, secondary] = hosts.map((host) => `shop ${host}`)
    await client.db().collection('items').insertOne({ name: 'cup' })
    await client.db().collection('items').find({}, { readPreference: 'secondary' }).toArray()
    const after = uses()
    assert.deepEqual([after[primary] - before[primary], after[secondary] - before[secondary]], [1, 1])
    spillway.close()
  })

  test(`${driver}: queries by operation and collection, and by route`, async (t) => {
    const { client, items, server } = await clientFor(t, driver, { maxPoolSize: 5 })
    await client.connect()
    await items.insertOne({ name: 'cup' })
    const spillway = spillwayFor(t)
    const handle = spillway.pool(client, { queries: true })
    const app = express()
    app.use(spillway.express())
    app.get('/orders/:id', async (_req, res) => {
      for (let i = 0; i < 3; i++) await items.findOne({ secret: 'of the client' })
      await client
        .db()
        .collection('orders')
        .aggregate([{ $match: { secret: 1 } }])
        .toArray()
      await client
        .db()
        .command({ unknown: 'items' })
        .catch(() => {})
      res.send('rows')
    })
    const { get } = await serve(t, app)
    for (let i = 0; i < 2; i++) await get('/orders/1')
    const [pool] = spillway.snapshot().pools
    assert.equal(pool.name, 'shop')
    const found = pool.queries.map(({ operation, collection, sinceStart, routes }) => [
      `${operation} ${collection}`,
      sinceStart.count,
      sinceStart.errors,
      routes.map(({ route, perRequest }) => `${route} ${perRequest}`).join(),
    ])
    assert.deepEqual(found.sort(), [
      ['aggregate orders', 2, 0, '/orders/:id 1'],
      ['find items', 6, 0, '/orders/:id 3'],
      ['unknown null', 2, 2, '/orders/:id 1'],
    ])
    assert.deepEqual(
      pool.holders.map(({ route, sinceStart }) => [route, sinceStart.count]),
      [['/orders/:id', 10]]
    )
    const endpoint = await serve(t, spillway.handler('metrics'))
    const metrics = (await endpoint.get('/')).body
    assert.match(
      metrics,
      /db_client_operation_duration_seconds_count\{db_system_name="mongodb",db_client_connection_pool_name="shop",db_operation_name="find",db_collection_name="items"\} 6/
    )
    assert.match(metrics, /db_operation_name="unknown",error_type="59"\} 2/)
    assert.doesNotMatch(metrics, /secret/)
    handle.close()
    await items.findOne({})
    assert.equal(server.commands.filter((name) => name === 'find').length, 7)
  })

  test(`${driver}: a request that would wait too long is rejected, and only if its route asks`, async (t) => {
    const { client, items, server } = await clientFor(t, driver)
    await client.connect()
    const clock = handClock()
    const spillway = spillwayFor(t, { shed: { mode: 'threshold' }, endpoints: false }, clock)
    spillway.pool('shop', client, { maxWait: 20 })
    const app = express()
    app.get('/items', async (_req, res) => {
      await items.find({}, { comment: 'hold' }).toArray()
      res.send('rows')
    })
    app.get('/other', (_req, res) => res.send('no rows'))
    const listening = http.createServer(app)
    spillway.attach(listening)
    const { port } = await serve(t, listening)
    const get = async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      await response.text()
      return response.status
    }
    const waiting = () => spillway.snapshot().pools[0].waiting
    const queue = async (count) => {
      const answers = []
      for (let i = 0; i < count; i++) {
        answers.push(get('/items'))
        while (server.held.length + waiting() < i + 1) await new Promise((resolve) => setImmediate(resolve))
      }
      return answers
    }
    const finish = async (answers) => {
      for (let i = 0; i < answers.length; i++) {
        await server.holds(1)
        clock.advance(10)
        server.letGo()
      }
      return Promise.all(answers)
    }
    await finish(await queue(2))
    for (let i = 0; i < 25; i++) await finish(await queue(1))
    // One has the connection, and three wait: the next would wait for three uses of 10 ms.
    const answers = await queue(4)
    assert.equal(await get('/items'), 503)
    assert.equal(await get('/other'), 200)
    assert.deepEqual(await finish(answers), [200, 200, 200, 200])
    assert.deepEqual(
      spillway.snapshot().admission.shed.map(({ reason, count }) => [reason, count]),
      [['pool:shop', 1]]
    )
  })
}

for (const name of MONGOOSES) {
  test(`${name}: its connection, before it connects and when it connects again`, async (t) => {
    const { Mongoose } = require(name)
    const mongoose = new Mongoose()
    const server = await new WireServer().listen()
    t.after(() => server.close())
    const spillway = spillwayFor(t)
    assert.throws(() => spillway.pool(mongoose.connection), { message: /knows no name/ })
    const handle = spillway.pool('db', mongoose.connection, { queries: true })
    const Item = mongoose.model(
      'Item',
      new mongoose.Schema({ name: String }, { autoCreate: false, autoIndex: false })
    )
    for (let i = 0; i < 2; i++) {
      await mongoose.connect(server.url, { maxPoolSize: 3 })
      await Item.create({ name: 'cup' })
      assert.equal((await Item.find()).length > 0, true)
      const [pool] = spillway.snapshot().pools
      assert.deepEqual([pool.name, pool.kind, pool.max], ['db', 'mongodb', 3])
      assert.deepEqual(pool.queries.map(({ operation, collection }) => `${operation} ${collection}`).sort(), [
        'find items',
        'insert items',
      ])
      await mongoose.disconnect()
      assert.deepEqual(spillway.snapshot().pools, [])
    }
    handle.close()
    assert.equal(mongoose.connection.listenerCount('connecting'), 0)
  })

  test(`${name}: at its start it creates a collection, which fails and is counted if there is one`, async (t) => {
    const { Mongoose } = require(name)
    const mongoose = new Mongoose()
    const server = await new WireServer().listen()
    server.existing.push('items')
    t.after(async () => {
      await mongoose.disconnect()
      server.close()
    })
    const spillway = spillwayFor(t)
    spillway.pool('db', mongoose.connection, { queries: true })
    const schema = () => new mongoose.Schema({ name: { type: String, index: true } })
    const models = [mongoose.model('Item', schema()), mongoose.model('Order', schema())]
    await mongoose.connect(server.url)
    for (const model of models) await model.init()
    const [pool] = spillway.snapshot().pools
    const found = pool.queries.map(({ operation, collection, sinceStart: { count, errors } }) => [
      `${operation} ${collection}`,
      count,
      errors,
    ])
    assert.deepEqual(found.sort(), [
      ['create items', 1, 1],
      ['create orders', 1, 0],
      ['createIndexes items', 1, 0],
      ['createIndexes orders', 1, 0],
    ])
    const { get } = await serve(t, spillway.handler('metrics'))
    assert.match(
      (await get('/')).body,
      /db_operation_name="create",db_collection_name="items",error_type="48"\} 1/
    )
  })

  test(`${name}: the client of a connection, the connection and mongoose itself are the same pool`, async (t) => {
    const { Mongoose } = require(name)
    const mongoose = new Mongoose()
    const server = await new WireServer().listen()
    await mongoose.connect(server.url)
    t.after(async () => {
      await mongoose.disconnect()
      server.close()
    })
    for (const given of [mongoose, mongoose.connection, mongoose.connection.getClient()]) {
      const spillway = spillwayFor(t)
      spillway.pool(given)
      assert.deepEqual(
        spillway.snapshot().pools.map((pool) => [pool.name, pool.max]),
        [['shop', 100]]
      )
      spillway.close()
    }
  })
}
