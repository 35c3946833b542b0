'use strict'
// What `attach(server)` and `wrap(listener)` promise: they measure from the server's own events, whatever happens to
// its listeners, and can be taken away again.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const { describe, it } = require('node:test')
const express = require('express')
const { promisesEndpoints } = require('../support/endpoints')
const { countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')
const appWith = (path) => express().set('env', 'test').get(path, ok)

/** Everything counted, as `method route outcome` with how often. */
function outcomesOf({ routes }) {
  const all = {}
  for (const { method, route, outcomes } of routes) {
    for (const [outcome, count] of Object.entries(outcomes))
      if (count > 0) all[`${method} ${route} ${outcome}`] = count
  }
  return all
}

describe('attach(server)', () => {
  promisesEndpoints((t, spillway, answer) => serve(t, spillway.attach(http.createServer(answer))))

  it('returns the server, and attaching again changes nothing', async (t) => {
    const spillway = spillwayFor(t)
    const server = http.createServer(appWith('/users/:id'))
    assert.equal(spillway.attach(server), server)
    const { emit } = server
    assert.equal(spillway.attach(server), server)
    assert.equal(server.emit, emit)
    const { get } = await serve(t, server)
    await get('/users/1')
    assert.deepEqual(countsOf(await ended(spillway, 1)), { '/users/:id': 1 })
  })

  it('is undone by close() if it is still outermost', (t) => {
    const spillway = spillwayFor(t)
    const server = http.createServer()
    spillway.attach(server)
    assert.ok(Object.hasOwn(server, 'emit'))
    spillway.close()
    assert.ok(!Object.hasOwn(server, 'emit'))
    const own = () => true
    server.emit = own
    const again = spillwayFor(t)
    again.attach(server)
    again.close()
    assert.equal(server.emit, own, 'a wrapper that was there before stays')
  })

  it('after close() passes events on if somebody has wrapped it, and measures nothing', async (t) => {
    const spillway = spillwayFor(t)
    const server = spillway.attach(http.createServer(appWith('/users/:id')))
    const seen = []
    const { emit } = server
    server.emit = function (event) {
      seen.push(event)
      return emit.apply(this, arguments)
    }
    const { get } = await serve(t, server)
    await get('/users/1')
    await ended(spillway, 1)
    spillway.close()
    assert.equal((await get('/users/2')).body, 'ok')
    assert.equal((await get('/livez')).status, 404)
    assert.equal(seen.filter((event) => event === 'request').length, 3)
    assert.deepEqual(countsOf(spillway.snapshot()), { '/users/:id': 1 })
  })

  it('of two instances measures for both, and each can close first', async (t) => {
    for (const firstToClose of [0, 1]) {
      const both = [spillwayFor(t), spillwayFor(t)]
      const server = http.createServer(appWith('/users/:id'))
      for (const each of both) each.attach(server)
      const { get } = await serve(t, server)
      await get('/users/1')
      for (const each of both) assert.deepEqual(countsOf(await ended(each, 1)), { '/users/:id': 1 })
      both[firstToClose].close()
      await get('/users/2')
      assert.deepEqual(countsOf(await ended(both[1 - firstToClose], 2)), { '/users/:id': 2 })
      assert.deepEqual(countsOf(both[firstToClose].snapshot()), { '/users/:id': 1 })
    }
  })

  it('measures through listeners added, removed and put in front after it', async (t) => {
    const spillway = spillwayFor(t)
    const server = spillway.attach(http.createServer())
    const { get } = await serve(t, server)
    const order = []
    const first = () => order.push('first')
    server.on('request', ok)
    server.prependListener('request', first)
    await get('/1')
    server.off('request', first)
    server.once('request', () => order.push('once'))
    await get('/2')
    await get('/3')
    assert.deepEqual(order, ['first', 'once'])
    assert.deepEqual(countsOf(await ended(spillway, 3)), { '(unmatched)': 3 })
  })

  it('names the routes of an app whose listener somebody has taken over, as Socket.IO does', async (t) => {
    const spillway = spillwayFor(t)
    const server = spillway.attach(http.createServer(appWith('/users/:id')))
    const listeners = server.listeners('request')
    server.removeAllListeners('request')
    server.on('request', (req, res) => {
      if (req.url === '/socket.io/bad') return res.writeHead(400).end()
      if (req.url.startsWith('/socket.io')) return ok(req, res)
      for (const listener of listeners) listener.call(server, req, res)
    })
    const { get } = await serve(t, server)
    for (const path of ['/users/1', '/socket.io/?x=1', '/socket.io/bad', '/nope']) await get(path)
    assert.deepEqual(countsOf(await ended(spillway, 4)), { '/users/:id': 1, '(unmatched)': 3 })
  })

  it('names routes that an empty Express 4 app gets after its first request', async (t) => {
    const spillway = spillwayFor(t)
    const express4 = require('express-4')
    const app = express4().set('env', 'test')
    const { get } = await serve(t, spillway.attach(http.createServer(app)))
    await get('/users/1')
    app.use('/users', express4.Router().get('/:id', ok))
    await get('/users/1')
    assert.deepEqual(countsOf(await ended(spillway, 2)), { '(unmatched)': 1, '/users/:id': 1 })
  })

  it('of one instance measures several servers, each with its own app', async (t) => {
    const spillway = spillwayFor(t)
    const one = await serve(t, spillway.attach(http.createServer(appWith('/one/:id'))))
    const two = await serve(t, spillway.attach(http.createServer(appWith('/two/:id'))))
    for (let i = 0; i < 3; i++) {
      await one.get('/one/1')
      await two.get('/two/1')
    }
    assert.deepEqual(countsOf(await ended(spillway, 6)), { '/one/:id': 3, '/two/:id': 3 })
  })

  for (const given of [undefined, null, {}, 3000, express()]) {
    it(`says what it takes if given ${typeof given === 'function' ? 'an app' : String(given)}`, (t) => {
      const spillway = spillwayFor(t)
      assert.throws(() => spillway.attach(given), {
        code: 'ERR_SPILLWAY_MISUSE',
        message: /app\.listen\(3000\)/,
      })
    })
  }
})

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
      assert.deepEqual(outcomesOf(snapshot), { [`${method} (unmatched) upgraded`]: 1 })
      assert.equal(snapshot.requests.inFlight, 0)
    })
  }

  it('an upgrade nobody listens for is a request like any other', async (t) => {
    const spillway = spillwayFor(t)
    const { request } = await serve(t, spillway.attach(http.createServer(appWith('/users/:id'))))
    await request({ path: '/users/1', headers: { Connection: 'Upgrade', Upgrade: 'chat' } })
    assert.deepEqual(outcomesOf(await ended(spillway, 1)), { 'GET /users/:id completed': 1 })
  })
})

describe('wrap(listener)', () => {
  promisesEndpoints((t, spillway, answer) => serve(t, spillway.wrap(answer)))

  it('calls the listener with the server as `this`', async (t) => {
    const spillway = spillwayFor(t)
    let self
    const listener = function (_req, res) {
      self = this
      res.end()
    }
    const { server, get } = await serve(t, spillway.wrap(listener))
    await get('/')
    assert.equal(self, server)
  })

  it('and attach(server) measure a request once, and after close() only pass it on', async (t) => {
    const spillway = spillwayFor(t)
    const { get } = await serve(t, spillway.attach(http.createServer(spillway.wrap(appWith('/users/:id')))))
    await get('/users/1')
    assert.deepEqual(countsOf(await ended(spillway, 1)), { '/users/:id': 1 })
    spillway.close()
    assert.equal((await get('/users/2')).body, 'ok')
    assert.deepEqual(countsOf(spillway.snapshot()), { '/users/:id': 1 })
  })

  for (const given of [undefined, {}, http.createServer()]) {
    it(`says what it takes if given ${given === undefined ? 'nothing' : given.constructor.name}`, (t) => {
      const spillway = spillwayFor(t)
      assert.throws(() => spillway.wrap(given), {
        code: 'ERR_SPILLWAY_MISUSE',
        message: /spillway\.wrap\(app\)/,
      })
    })
  }
})

describe('HTTP/2', () => {
  async function h2(t, server) {
    const { port } = await serve(t, server)
    const client = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => client.destroy())
    const get = async (path, method = 'GET') => {
      const stream = client.request({ ':path': path, ':method': method })
      const [headers] = await once(stream, 'response')
      stream.setEncoding('utf8')
      let body = ''
      for await (const piece of stream) body += piece
      return { status: headers[':status'], headers, body }
    }
    return { get, request: ({ path, method }) => get(path, method) }
  }

  const WAYS = {
    'attach(server)': (spillway, listener) => spillway.attach(http2.createServer(listener)),
    'wrap(listener)': (spillway, listener) => http2.createServer(spillway.wrap(listener)),
    'express()': (spillway, listener) => {
      const middleware = spillway.express()
      return http2.createServer((req, res) => middleware(req, res, () => listener(req, res)))
    },
  }
  for (const [way, serverOf] of Object.entries(WAYS)) {
    describe(way, () => {
      promisesEndpoints((t, spillway, answer) => h2(t, serverOf(spillway, answer)))

      it('measures requests of one session at once', async (t) => {
        const spillway = spillwayFor(t)
        const { get } = await h2(t, serverOf(spillway, ok))
        const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => get(`/${i}`)))
        assert.ok(answers.every(({ body }) => body === 'ok'))
        assert.deepEqual(outcomesOf(await ended(spillway, 10)), { 'GET (unmatched) completed': 10 })
      })
    })
  }
})
