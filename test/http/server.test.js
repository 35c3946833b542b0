'use strict'
// What `attach(server)` promises: it measures from the server's own events, whatever happens to its
// listeners, and can be taken away again.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it } = require('node:test')
const express = require('express')
const { promisesEndpoints } = require('../support/endpoints')
const { countsOf } = require('../support/router-trees')
const { runNode } = require('../support/run-node')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')
const appWith = (path) => express().set('env', 'test').get(path, ok)

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

  it('after close() passes events on if other code has wrapped `emit`, and measures nothing', async (t) => {
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

  it('names the routes of an app whose listener was taken over, as Socket.IO does', async (t) => {
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
    const snapshot = await ended(spillway, 4)
    assert.deepEqual(countsOf(snapshot), { '/users/:id': 1, '(unmatched)': 3 })
    assert.deepEqual(snapshot.internalErrors, {})
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

  it('keeps no server alive, and neither does a middleware that received its requests', async (t) => {
    const { output } = await runNode(
      `const { once } = require('node:events')
      const http = require('node:http')
      const spillway = require('./src').createSpillway({ logger: false })
      const app = require('express')().use(spillway.express(), (req, res) => res.end('ok'))
      const servers = []
      async function use(server) {
        servers.push(new WeakRef(server))
        await once(server.listen(0, '127.0.0.1'), 'listening')
        const { port } = server.address()
        const [res] = await once(http.get({ port, host: '127.0.0.1', agent: false }), 'response')
        await once(res.resume(), 'close')
        server.close()
        await once(server, 'close')
      }
      const isKept = (server) => server.deref() !== undefined
      async function main() {
        for (let i = 0; i < 10; i++) {
          await use(http.createServer(app))
          await use(spillway.attach(http.createServer(app)))
        }
        // What the loop was at is let go in later turns.
        for (let i = 0; i < 20; i++) {
          gc()
          await new Promise((resolve) => setImmediate(resolve))
        }
        console.log(servers.filter(isKept).length)
      }
      main()`,
      { args: ['--expose-gc'], t }
    )
    // Node and Express keep what they were last at, without us too.
    assert.ok(output < 5, `${output} of 20 are kept`)
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
