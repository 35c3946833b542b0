// The recipes for MongoDB of docs/cancel-queries.md, as they stand there: what a query that nobody waits for any
// more becomes, in the drivers and in mongoose.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const { pages } = require('../../docs/pages')
const { runBlock } = require('../../docs/run-block')
const { serve } = require('../../support/serve')
const { spillwayFor } = require('../../support/spillway')
const { WireServer } = require('./wire-server')

const { blocks } = pages.find(({ path }) => path === 'docs/cancel-queries.md')
const RECIPES = blocks.filter(({ heading, language }) => heading === 'MongoDB' && language === 'js')

/**
 * A service with the recipes, over one connection.
 *
 * @param {import('node:test').TestContext} t @param {string} driver @param {string} mapper
 */
async function serviceFor(t, driver, mapper) {
  const server = await new WireServer().listen()
  const { MongoClient } = require(driver)
  const { Mongoose } = require(mapper)
  const mongoose = new Mongoose()
  const client = new MongoClient(server.url, { maxPoolSize: 1 })
  const schema = new mongoose.Schema({ color: String }, { autoCreate: false, autoIndex: false })
  const Item = mongoose.model('Item', schema)
  await Promise.all([client.connect(), mongoose.connect(server.url, { maxPoolSize: 1 })])
  const spillway = spillwayFor(t, { deadline: { header: 'x-request-timeout-ms' } })
  const app = express()
  app.use(spillway.express())
  assert.equal(RECIPES.length, 3)
  for (const { code } of RECIPES)
    await runBlock(code, { app, spillway, orders: client.db().collection('orders'), Item })
  /** The errors of handlers, with what they were answered. @type {any[]} */
  const errors = []
  app.use((error, _req, _res, next) => {
    errors.push(error)
    next(error)
  })
  app.use(spillway.errorHandler())
  const { port } = await serve(t, app)
  server.isHolding = true
  t.after(async () => {
    server.isHolding = false
    server.letGo()
    await Promise.all([client.close(), mongoose.disconnect()])
    server.close()
  })
  const ask = (path, headers = {}) => {
    const req = http.request({ port, host: '127.0.0.1', path, headers, agent: false })
    req.on('error', () => {}).end()
    return req
  }
  return { ask, errors, server, spillway }
}

for (const [driver, mapper] of [
  ['mongodb', 'mongoose'],
  ['mongodb-6', 'mongoose-8'],
]) {
  test(`${driver}, ${mapper}: the connection of a query closes when the client has left, and the next has another`, async (t) => {
    const { ask, errors, server, spillway } = await serviceFor(t, driver, mapper)
    for (const path of ['/orders/ada', '/items/red']) {
      const client = ask(path)
      await server.holds(1)
      const [{ command, socket }] = server.held.splice(0)
      assert.ok(command.find, path)
      client.destroy()
      await once(socket, 'close')
      while (errors.length === 0) await new Promise((resolve) => setImmediate(resolve))
      assert.equal(errors.pop().code, 'ERR_SPILLWAY_CLIENT_DISCONNECTED')
      const again = ask(path)
      await server.holds(1)
      server.letGo()
      const [response] = await once(again, 'response')
      assert.equal(response.statusCode, 200)
      response.resume()
    }
    // Neither logged nor counted.
    assert.deepEqual(spillway.snapshot().errors, [])
  })

  test(`${driver}, ${mapper}: a query that waits for a connection leaves the queue`, async (t) => {
    const { ask, errors, server } = await serviceFor(t, driver, mapper)
    const first = ask('/orders/ada')
    await server.holds(1)
    const second = ask('/orders/bob', { 'x-request-timeout-ms': '50' })
    const [response] = await once(second, 'response')
    assert.equal(response.statusCode, 503)
    assert.equal(errors.pop().code, 'ERR_SPILLWAY_DEADLINE')
    response.resume()
    server.letGo()
    const [answer] = await once(first, 'response')
    assert.equal(answer.statusCode, 200)
    answer.resume()
    assert.deepEqual(
      server.commands.filter((name) => name === 'find'),
      ['find']
    )
  })

  test(`${driver}: the server gets what is left of the deadline, or the limit without one`, async (t) => {
    const { ask, errors, server } = await serviceFor(t, driver, mapper)
    const limitOf = async (headers) => {
      const client = ask('/customers', headers)
      await server.holds(1)
      const [{ command }] = server.held
      server.expire()
      const [response] = await once(client, 'response')
      response.resume()
      return { limit: command.maxTimeMS, status: response.statusCode }
    }
    assert.deepEqual(await limitOf({}), { limit: 10_000, status: 500 })
    assert.equal(errors.pop().code, 50)
    const { limit } = await limitOf({ 'x-request-timeout-ms': '5000' })
    assert.ok(limit > 0 && limit <= 5000, `${limit} ms`)
  })
}
