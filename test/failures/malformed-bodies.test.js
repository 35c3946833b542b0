'use strict'
// A request whose body turns out to be no HTTP while its handler waits for it: the client's doing, in every framework.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const Koa2 = require('koa-2')
const Koa3 = require('koa')
const { Connection } = require('../support/connection')
const { outcomesOf } = require('../support/outcomes')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const koaOf = (Koa) => (spillway, take) => {
  const app = new Koa().use(spillway.koa())
  app.silent = true
  app.use((ctx) => {
    ctx.respond = false
    take(ctx.req)
  })
  return http.createServer(app.callback())
}

const SERVERS = {
  'Koa 2': koaOf(Koa2),
  'Koa 3': koaOf(Koa3),
  'Express 5': (spillway, take) => {
    const app = express().use(spillway.express())
    app.use((req) => take(req))
    return http.createServer(app.use(spillway.errorHandler()))
  },
}

for (const [framework, serverOf] of Object.entries(SERVERS)) {
  test(`${framework}: a chunk that is none is an abort, and no error of the application`, async (t) => {
    const spillway = spillwayFor(t, { shed: { mode: 'off' } })
    let enter
    const entered = new Promise((resolve) => (enter = resolve))
    const server = serverOf(spillway, (req) => {
      req.on('error', () => {}).resume()
      enter()
    })
    const { port } = await serve(t, spillway.attach(server))
    const connection = await Connection.open(port)
    connection.send('POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    await entered
    connection.send('zz\r\n')
    await connection.untilClosed()
    const snapshot = await ended(spillway, 1)
    assert.deepEqual(Object.values(outcomesOf(snapshot)), [1])
    assert.match(Object.keys(outcomesOf(snapshot))[0], /aborted$/)
    assert.deepEqual(snapshot.errors, [])
    assert.deepEqual(snapshot.clientErrors, { HPE_INVALID_CHUNK_SIZE: 1 })
  })
}
