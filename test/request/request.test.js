'use strict'
// Who measures a request, and how often: several middlewares and instances on one response, and requests
// handed over.

const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { Connection } = require('../support/connection')
const { expectMeasured } = require('../support/drive')
const { GET } = require('../support/endings')
const { readableSpillway } = require('../support/measured')
const { serve } = require('../support/serve')

const never = () => {}

test('a serverless shim whose request has a fake socket', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const measure = spillway.express()
  const req = { method: 'GET', url: '/a', headers: {}, httpVersionMajor: 1, socket: { encrypted: true } }
  const res = new http.ServerResponse(/** @type {any} */ (req))
  measure(req, res, () => res.end('ok'))
  res.emit('finish')
  await expectMeasured(measured, { outcomes: { completed: 1 }, statuses: { 200: 1 }, firstBytes: 1 })
})

for (const told of ['finish', 'close']) {
  test(`a serverless adapter whose socket has sent a piece before its write() returns, and which tells of the ${told}`, async (t) => {
    const { spillway, measured } = readableSpillway(t)
    const req = { method: 'GET', url: '/a', headers: {}, httpVersionMajor: 1, socket: { encrypted: true } }
    const res = new http.ServerResponse(/** @type {any} */ (req))
    const write = (_piece, encoding, done = encoding) => typeof done === 'function' && done()
    const parts = {
      writable: true,
      _writableState: {},
      on: never,
      removeListener: never,
      cork: never,
      uncork: never,
    }
    res.assignSocket(/** @type {any} */ ({ ...parts, write }))
    if (told === 'close') res.once('finish', () => res.emit('close'))
    spillway.express()(req, res, () => res.end('ok'))
    await expectMeasured(measured, { outcomes: { completed: 1 }, statuses: { 200: 1 }, firstBytes: 1 })
  })
}

for (const [when, answer] of [
  ['before the answer', (second, req, res) => second(req, res, () => res.end('ok'))],
  [
    'after the head',
    (second, req, res) => {
      res.write('a')
      setImmediate(() => second(req, res, () => res.end('b')))
    },
  ],
  [
    'after the end',
    (second, req, res) => {
      res.on('close', () => setImmediate(() => second(req, res, never)))
      res.end('ok')
    },
  ],
]) {
  test(`two instances measure one response, of which the second meets it ${when}`, async (t) => {
    const one = readableSpillway(t)
    const other = readableSpillway(t)
    const first = one.spillway.express()
    const second = other.spillway.express()
    const { get } = await serve(t, (req, res) => first(req, res, () => answer(second, req, res)))
    await get('/a')
    const expected = { outcomes: { completed: 1 }, statuses: { 200: 1 }, firstBytes: 1 }
    await expectMeasured(one.measured, expected)
    await expectMeasured(other.measured, expected)
  })
}

test('a middleware mounted twice, attach() and wrap() together measure a request once', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const app = express()
  app.use(spillway.express())
  app.use(spillway.express())
  app.use((_req, res) => res.end('ok'))
  const { get } = await serve(t, spillway.attach(http.createServer(spillway.wrap(app))))
  await get('/a')
  await expectMeasured(measured, { outcomes: { completed: 1 }, statuses: { 200: 1 }, firstBytes: 1 })
})

test('a prepared request that reaches no middleware is not counted', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const measure = spillway.express()
  const { get } = await serve(t, (req, res) => {
    if (req.url === '/unmeasured') return res.end('ok')
    measure(req, res, () => res.end('ok'))
  })
  for (const path of ['/a', '/unmeasured', '/a', '/unmeasured']) await get(path)
  await expectMeasured(measured, { outcomes: { completed: 2 }, statuses: { 200: 2 }, firstBytes: 2 })
})

test('a request prepared for Express is measured in Koa', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const inExpress = express().use(spillway.express(), (_req, res) => res.end('ok'))
  const inKoa = new Koa()
    .use(spillway.koa())
    .use((ctx) => {
      ctx.body = 'ok'
    })
    .callback()
  const { get } = await serve(t, (req, res) => (req.url === '/koa' ? inKoa(req, res) : inExpress(req, res)))
  for (const path of ['/express', '/koa', '/express', '/koa']) await get(path)
  await expectMeasured(measured, { outcomes: { completed: 4 }, statuses: { 200: 4 }, firstBytes: 4 })
})

for (const [event, request] of [
  ['upgrade', 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
  ['connect', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
  // What says it is HTTP/2 and is not.
  ['upgrade', 'GET /a HTTP/2.0\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
  ['connect', 'CONNECT a:80 HTTP/2.0\r\nHost: a\r\n\r\n'],
]) {
  test(`a connection handed over by '${event}' (${request.match(/HTTP.../)}) is one upgraded request, and never in flight`, async (t) => {
    const { spillway, measured } = readableSpillway(t)
    const server = http.createServer(never)
    server.on(event, (_req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
    const { port } = await serve(t, spillway.attach(server))
    const connection = await Connection.open(port)
    connection.send(request)
    await connection.until('101')
    await expectMeasured(measured, { outcomes: { upgraded: 1 }, statuses: {}, firstBytes: 0 })
    connection.destroy()
  })
}

test('a request in flight is counted by its method until it ends', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const waiting = []
  const { server, port } = await serve(t, (_req, res) => waiting.push(res))
  spillway.attach(server)
  const connection = await Connection.open(port)
  const entered = once(server, 'request')
  connection.send(GET)
  await entered
  assert.equal((await measured()).inFlight, 1)
  assert.equal(spillway.snapshot().requests.inFlight, 1)
  waiting[0].end('ok')
  await connection.until('ok')
  await expectMeasured(measured, { outcomes: { completed: 1 }, statuses: { 200: 1 }, firstBytes: 1 })
  connection.destroy()
})

test('a client whose upload exceeds the request timeout is aborted', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const limits = { requestTimeout: 20, headersTimeout: 20, connectionsCheckingInterval: 10 }
  const server = http.createServer(limits, (req) => req.resume().on('error', never))
  const { port } = await serve(t, spillway.attach(server))
  const connection = await Connection.open(port)
  connection.send('POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\npart')
  await connection.untilClosed()
  await expectMeasured(measured, { outcomes: { aborted: 1 }, statuses: { '': 1 }, firstBytes: 0 })
})
