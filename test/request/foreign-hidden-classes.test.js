'use strict'
// Each property of ours on a socket, a request or a response is one that Node's and the framework's code pays
// for: decision 0044.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const express = require('express')
const { Spillway } = require('../../src/spillway')
const { Connection } = require('../support/connection')
const { GET } = require('../support/endings')
const { serve } = require('../support/serve')

const oursOn = (object) =>
  Object.getOwnPropertySymbols(object).filter(({ description }) => description?.startsWith('spillway'))

test('a socket carries one property of ours, whatever its requests went through', async (t) => {
  const spillway = new Spillway({ logger: false, shed: { maxConcurrent: 1, maxDelay: 60_000 } })
  t.after(() => spillway.close())
  const sockets = new Set()
  const seen = { req: 0, res: 0, waiting: 0 }
  const app = express()
  app.use(spillway.express())
  app.use((req, res) => {
    sockets.add(req.socket)
    seen.req = Math.max(seen.req, oursOn(req).length)
    seen.waiting = Math.max(seen.waiting, spillway.snapshot().admission.queued)
    seen.res = Math.max(seen.res, oursOn(res).length)
    setImmediate(() => res.send('ok'))
  })
  const { port, server } = await serve(t, app)
  spillway.attach(server)
  // Of two pipelines on two connections with one place, all requests but one are queued.
  const connections = [await Connection.open(port), await Connection.open(port)]
  for (const connection of connections) connection.send(GET.repeat(3))
  for (const connection of connections) await connection.until('\r\n\r\nok', 3)
  assert.ok(seen.waiting > 0, 'requests were queued')
  assert.deepEqual(
    [...sockets].map((socket) => oursOn(socket).length),
    [1, 1]
  )
  assert.deepEqual([seen.req, seen.res], [0, 1])
  for (const connection of connections) connection.destroy()
})
