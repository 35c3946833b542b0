// Express and mongoose on a real database that speaks MongoDB's protocol. It is skipped where there is none, as
// in CI: a build takes minutes.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const { serve } = require('../../support/serve')
const { spillwayFor } = require('../../support/spillway')
const { isMissing, startFerretdb } = require('../support/ferretdb')

const skip = isMissing()

for (const name of ['mongoose', 'mongoose-8']) {
  test(`${name} on FerretDB: who waits, who holds, and which collection is slow`, { skip }, async (t) => {
    const { url, stop } = await startFerretdb()
    t.after(stop)
    const { Mongoose } = require(name)
    const mongoose = new Mongoose()
    // A starved machine is no reason to reject.
    const spillway = spillwayFor(t, { shed: { mode: 'off' } })
    spillway.pool('shop', mongoose.connection, { queries: true })
    const Order = mongoose.model('Order', new mongoose.Schema({ customer: String, item: Number }))
    const Item = mongoose.model('Item', new mongoose.Schema({ name: String }))
    await mongoose.connect(url, { maxPoolSize: 2 })
    const customers = Array.from({ length: 1000 }, (_, item) => ({ customer: `customer ${item % 10}`, item }))
    await Order.insertMany(customers)
    await Item.create({ name: 'cup' })
    const app = express()
    app.get('/orders/:customer', async (req, res) => {
      res.json(await Order.find({ customer: `customer ${req.params.customer}` }))
    })
    app.get('/item', async (_req, res) => {
      res.json(await Item.findOne())
    })
    const server = http.createServer(app)
    spillway.attach(server)
    const { get } = await serve(t, server)
    t.after(() => mongoose.disconnect())
    const rowsOf = async (path) => JSON.parse((await get(path)).body)
    const answers = Array.from({ length: 20 }, (_, id) =>
      rowsOf(id % 4 === 0 ? '/item' : `/orders/${id % 10}`)
    )
    assert.equal((await Promise.all(answers))[1].length, 100)
    const [pool] = spillway.snapshot().pools
    assert.deepEqual([pool.used, pool.waiting, pool.max], [0, 0, 2])
    assert.ok(pool.wait.sinceStart.maxMs > 0)
    const holder = pool.holders.find(({ route }) => route === '/orders/:customer')
    assert.equal(holder?.sinceStart.count, 15)
    const [slowest] = pool.queries.filter(({ operation }) => operation === 'find')
    assert.deepEqual([slowest.collection, slowest.sinceStart.count], ['orders', 15])
    assert.deepEqual(slowest.routes, [
      { method: 'GET', route: '/orders/:customer', count: 15, perRequest: 1 },
    ])
  })
}
