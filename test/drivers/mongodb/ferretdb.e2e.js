// Express and mongoose on a real database that speaks MongoDB's protocol: FerretDB 1 with SQLite, at the path in
// FERRETDB. It is skipped where there is none, as in CI: a build takes minutes. To build it:
//   go mod download github.com/FerretDB/FerretDB@v1.24.2, copy that folder, write v1.24.2 into its
//   build/version/version.txt, and there: go build ./cmd/ferretdb

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, rmSync } = require('node:fs')
const net = require('node:net')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const express = require('express')
const { spillwayFor } = require('../../support/spillway')

const { FERRETDB } = process.env
const skip = FERRETDB === undefined ? 'needs the path of a FerretDB in FERRETDB' : false

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

/** @param {import('node:test').TestContext} t */
async function startFerretdb(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'ferretdb-'))
  const address = `127.0.0.1:${await freePort()}`
  const server = spawn(
    String(FERRETDB),
    [
      '--handler=sqlite',
      `--sqlite-url=file:${folder}/`,
      `--state-dir=${folder}`,
      `--listen-addr=${address}`,
      '--debug-addr=-',
      '--telemetry=disable',
      '--log-level=error',
    ],
    { stdio: 'inherit' }
  )
  t.after(async () => {
    const ended = once(server, 'exit')
    server.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  return `mongodb://${address}/shop`
}

for (const name of ['mongoose', 'mongoose-8']) {
  test(`${name} on FerretDB: who waits, who holds, and which collection is slow`, { skip }, async (t) => {
    const url = await startFerretdb(t)
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
    const server = app.listen(0, '127.0.0.1')
    spillway.attach(server)
    await once(server, 'listening')
    t.after(async () => {
      server.closeAllConnections()
      server.close()
      await mongoose.disconnect()
    })
    const { port } = /** @type {net.AddressInfo} */ (server.address())
    const get = async (route) => (await fetch(`http://127.0.0.1:${port}${route}`)).json()
    const answers = Array.from({ length: 20 }, (_, id) => get(id % 4 === 0 ? '/item' : `/orders/${id % 10}`))
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
