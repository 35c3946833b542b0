'use strict'
// The events of a server beside `request`: those that ask before, and those that hand the connection over.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { describe, it } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { Connection } = require('../support/connection')
const { outcomesOf } = require('../support/outcomes')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')
const appWith = (path) => express().set('env', 'test').get(path, ok)

describe('what else a server emits', () => {
  for (const event of ['checkContinue', 'checkExpectation']) {
    it(`${event} with a listener of the user's is measured once`, async (t) => {
      const spillway = spillwayFor(t)
      const app = appWith('/users/:id')
      const server = spillway.attach(http.createServer(app))
      let heard = 0
      server.on(event, (req, res) => {
        heard++
        if (event === 'checkContinue') res.writeContinue()
        server.emit('request', req, res)
      })
      const { request } = await serve(t, server)
      const expect = event === 'checkContinue' ? '100-continue' : 'patience'
      await request({ path: '/users/1', headers: { Expect: expect } })
      assert.equal(heard, 1)
      assert.deepEqual(outcomesOf(await ended(spillway, 1)), { 'GET /users/:id completed': 1 })
    })
  }

  it('checkContinue answered by its listener is measured, and without one the request is', async (t) => {
    const spillway = spillwayFor(t)
    const server = spillway.attach(http.createServer(appWith('/users/:id')))
    const { request } = await serve(t, server)
    await request({ path: '/users/1', headers: { Expect: '100-continue' } })
    server.on('checkContinue', (_req, res) => res.writeHead(417).end())
    await request({ path: '/users/2', headers: { Expect: '100-continue' } })
    assert.deepEqual(outcomesOf(await ended(spillway, 2)), {
      'GET /users/:id completed': 1,
      'GET (unmatched) completed': 1,
    })
  })

  it('checkContinue is left to a `once` listener of the user', async (t) => {
    const spillway = spillwayFor(t)
    const server = http.createServer((_req, res) => res.end('let in'))
    server.once('checkContinue', (_req, res) => res.writeHead(417).end())
    const { request } = await serve(t, spillway.attach(server))
    const asking = { headers: { Expect: '100-continue' } }
    assert.equal((await request(asking)).status, 417)
    assert.equal((await request(asking)).body, 'let in')
    assert.equal((await ended(spillway, 2)).requests.sinceStart.count, 2)
  })

  for (const [event, method] of [
    ['upgrade', 'GET'],
    ['connect', 'CONNECT'],
  ]) {
    it(`${event} is counted as upgraded, and its socket left alone`, async (t) => {
      const spillway = spillwayFor(t)
      const server = spillway.attach(http.createServer(ok))
      server.on(event, (_req, socket) => socket.end('HTTP/1.1 101 Switching\r\n\r\nhello'))
      const { port } = await serve(t, server)
      const socket = net.connect(port, '127.0.0.1')
      const target = event === 'connect' ? 'host:1' : '/chat'
      socket.write(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n`)
      let answer = ''
      socket.setEncoding('utf8').on('data', (text) => (answer += text))
      await once(socket, 'close')
      assert.match(answer, /hello$/)
      const snapshot = await ended(spillway, 1)
      assert.deepEqual(outcomesOf(snapshot), { [`${method} (upgrade) upgraded`]: 1 })
      assert.equal(snapshot.requests.inFlight, 0)
    })
  }

  const hello = (socket) => socket.write('hello')
  const expressApp = (spillway) => appWith('/').use(spillway.express(), ({ socket }) => hello(socket))
  const koaApp = (spillway) =>
    new Koa().use(spillway.koa()).use((ctx) => {
      ctx.respond = false
      hello(ctx.socket)
    })
  const withSocket = (req, socket) => {
    const res = new http.ServerResponse(req)
    res.assignSocket(socket)
    return res
  }
  const ROUTED = [
    ['Express on a response made up for it, as express-ws does', 'chat', expressApp],
    ['Koa on a response made up for it', 'chat', (spillway) => koaApp(spillway).callback()],
    ['Express on one that has the socket, as tinyws does', 'WebSocket', expressApp, withSocket],
    ['Koa on one that has the socket', 'WebSocket', (spillway) => koaApp(spillway).callback(), withSocket],
    [
      'Express on what is no response, as websocket-express does',
      'websocket',
      expressApp,
      (_req, socket) => ({ socket, setHeader() {} }),
    ],
    [
      'Koa on a context without a response, as koa-websocket does',
      'websocket',
      (spillway) => {
        const app = new Koa()
        const [measure, answer] = koaApp(spillway).middleware
        return (req, res) => {
          const ctx = app.createContext(req, res)
          return measure(ctx, () => answer(ctx))
        }
      },
      () => undefined,
    ],
  ]
  for (const [how, protocol, listenerOf, responseTo = (req) => new http.ServerResponse(req)] of ROUTED) {
    for (const isAttached of [false, true]) {
      it(`an upgrade routed by ${how}, is upgraded once${isAttached ? ', attached too' : ''}`, async (t) => {
        const spillway = spillwayFor(t)
        const listener = listenerOf(spillway)
        const server = http.createServer(listener)
        if (isAttached) spillway.attach(server)
        let upgraded
        server.on('upgrade', (req, socket) => {
          upgraded = socket.resume().on('end', () => socket.end())
          socket.write('HTTP/1.1 101 Switching\r\n\r\n')
          listener(req, responseTo(req, socket))
        })
        const { port } = await serve(t, server)
        const connection = await Connection.open(port)
        t.after(() => connection.destroy())
        connection.send(
          `GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`
        )
        await connection.until('hello')
        const { admission, requests, routes } = spillway.snapshot()
        assert.deepEqual(outcomesOf({ routes }), { 'GET (upgrade) upgraded': 1 })
        assert.deepEqual([requests.inFlight, admission.inFlight, admission.admitted], [0, 0, 0])
        assert.equal(routes[0].sinceStart.maxMs, 0)
        const closed = once(upgraded, 'close')
        connection.destroy()
        await closed
        assert.deepEqual(outcomesOf(spillway.snapshot()), { 'GET (upgrade) upgraded': 1 })
      })
    }
  }

  it('an upgrade that is answered like any other request is measured like one', async (t) => {
    const spillway = spillwayFor(t)
    const app = express().use(spillway.express()).get('/users/:id', ok)
    const server = http.createServer(app)
    server.on('upgrade', (req, socket) => {
      socket.resume().on('end', () => socket.end())
      app(req, withSocket(req, socket))
    })
    const { port } = await serve(t, server)
    const connection = await Connection.open(port)
    t.after(() => connection.destroy())
    connection.send('GET /users/1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
    await connection.until('ok')
    connection.destroy()
    assert.deepEqual(outcomesOf(await ended(spillway, 1)), { 'GET /users/:id completed': 1 })
  })

  it('an upgrade without a listener is an ordinary request', async (t) => {
    const spillway = spillwayFor(t)
    const { request } = await serve(t, spillway.attach(http.createServer(appWith('/users/:id'))))
    await request({ path: '/users/1', headers: { Connection: 'Upgrade', Upgrade: 'chat' } })
    assert.deepEqual(outcomesOf(await ended(spillway, 1)), { 'GET /users/:id completed': 1 })
  })
})
