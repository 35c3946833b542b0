'use strict'
// If an app begins with `express()` and is itself a listener of the server, a request is decided before
// Express sees it, from the second request on. Otherwise, and if the user's own functions are called, the
// middleware decides. A wrapper of the app's own `handle` counts what Express sees. One request is held open,
// so that `maxConcurrent: 1` rejects all others.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')
const { EXPRESSES, countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const REJECT = { mode: 'threshold', maxConcurrent: 1 }
const ok = (_req, res) => res.end('ok')
const pass = (_req, _res, next) => next()

/** Serves the app, sends a first request, and holds a second request open until `release`. */
async function overload(t, app, listener = app) {
  let res
  app.get('/hold', (_req, held) => {
    res = held
    app.emit('held')
  })
  app.get('/users/:id', ok)
  let seen = 0
  const { handle } = app
  app.handle = function (...given) {
    seen++
    return handle.apply(this, given)
  }
  const served = await serve(t, listener)
  assert.equal((await served.get('/users/1')).status, 200)
  const isHeld = once(app, 'held')
  const answer = served.get('/hold')
  await isHeld
  const release = async () => {
    res.end('held')
    assert.equal((await answer).status, 200)
  }
  /** @returns how another request is answered, and whether Express saw it */
  const ask = async () => {
    const before = seen
    const { status, headers } = await served.get('/users/2')
    return { status, headers, isSeen: seen > before }
  }
  return { ...served, ask, countSeen: () => seen, release }
}

async function isRejected(t, app, { inExpress, listener }) {
  const { ask, release } = await overload(t, app, listener)
  for (let i = 0; i < 2; i++) {
    const rejected = await ask()
    assert.deepEqual([rejected.status, rejected.isSeen], [503, inExpress])
  }
  await release()
  assert.deepEqual((await ask()).status, 200)
}

for (const name of Object.values(EXPRESSES)) {
  const express = require(name)
  const quiet = () => express().set('env', 'test')

  describe(`the first middleware of an app on ${name}`, () => {
    it('rejects a request before Express sees it, with no header of Express', async (t) => {
      const spillway = spillwayFor(t, { shed: REJECT })
      const { ask, release } = await overload(t, quiet().use(spillway.express()))
      const { status, headers, isSeen } = await ask()
      assert.deepEqual([status, isSeen, headers['x-powered-by']], [503, false, undefined])
      await release()
      const after = await ask()
      assert.deepEqual([after.status, after.isSeen, after.headers['x-powered-by']], [200, true, 'Express'])
      const snapshot = await ended(spillway, 3)
      assert.deepEqual(countsOf(snapshot), { '/users/:id': 2, '/hold': 1 })
      assert.deepEqual(snapshot.admission.shed, [{ reason: 'concurrency', priority: 'normal', count: 1 }])
    })

    it('queues a request before Express sees it, and then runs it as the server would', async (t) => {
      const spillway = spillwayFor(t, { shed: { maxConcurrent: 1, maxDelay: 60_000, targetDelay: 60_000 } })
      const { ask, release } = await overload(t, quiet().use(spillway.express()))
      const answer = ask()
      while (spillway.snapshot().admission.queued === 0) await new Promise(setImmediate)
      await release()
      assert.deepEqual((({ status, isSeen }) => [status, isSeen])(await answer), [200, true])
      assert.deepEqual(countsOf(await ended(spillway, 3)), { '/users/:id': 2, '/hold': 1 })
    })

    for (const [where, appOf] of [
      ['behind another', (middleware) => quiet().use(pass).use(middleware)],
      ['at a path', (middleware) => quiet().use('/users', middleware).use('/hold', middleware)],
      ['in a router', (middleware) => quiet().use(express.Router().use(middleware))],
      ['before one route', (middleware) => quiet().get(['/users/:id', '/hold'], middleware)],
    ]) {
      it(`${where} decides in the middleware`, async (t) => {
        const spillway = spillwayFor(t, { shed: REJECT })
        await isRejected(t, appOf(spillway.express()), { inExpress: true })
      })
    }

    it('of an app in another app decides in the middleware', async (t) => {
      const spillway = spillwayFor(t, { shed: REJECT })
      const inner = quiet().use(spillway.express())
      await isRejected(t, inner, { inExpress: true, listener: quiet().use(pass).use(inner) })
    })

    it('of an app that a listener of the user calls decides in the middleware', async (t) => {
      const spillway = spillwayFor(t, { shed: REJECT })
      const app = quiet().use(spillway.express())
      await isRejected(t, app, { inExpress: true, listener: (req, res) => app(req, res) })
      const { server, get } = await serve(t, (req, res) => app(req, res))
      await get('/users/1')
      assert.equal(server.listenerCount('request'), 2, 'its responses are prepared')
    })

    it('calls functions of the user with the request of Express, before Express unless they answer, and follows update()', async (t) => {
      const ips = []
      const classify = (req) => {
        ips.push(req.ip)
        return 'high'
      }
      const spillway = spillwayFor(t, { shed: { ...REJECT, classify } })
      const { ask, release } = await overload(t, quiet().use(spillway.express()))
      assert.equal((await ask()).isSeen, false)
      assert.deepEqual(ips.map(Boolean), [true, true, true])
      spillway.update({ shed: { classify: undefined } })
      assert.equal((await ask()).isSeen, false)
      spillway.update({ shed: { headers: (req) => ({ 'X-Host': req.hostname }) } })
      const { headers, isSeen } = await ask()
      assert.deepEqual([headers['x-host'], isSeen], ['127.0.0.1', false])
      spillway.update({ shed: { headers: undefined, respond: (_req, res) => res.status(429).json({}) } })
      const answered = await ask()
      assert.deepEqual([answered.status, answered.isSeen], [429, true])
      await release()
    })

    it("passes the error on to the app with errorMode 'next'", async (t) => {
      const spillway = spillwayFor(t, { shed: { ...REJECT, errorMode: 'next' } })
      const app = quiet().use(spillway.express())
      const { ask, release } = await overload(t, app)
      app.use((error, _req, res, _next) => res.status(418).end(error.code))
      for (let i = 0; i < 2; i++) assert.equal((await ask()).status, 418)
      await release()
    })

    it('leaves the listener of the server alone', async (t) => {
      const spillway = spillwayFor(t, { shed: REJECT })
      const app = quiet().use(spillway.express())
      const server = http.createServer(app)
      const { release } = await overload(t, app, server)
      assert.deepEqual(server.listeners('request'), [app])
      await release()
      server.off('request', app)
      assert.equal(server.listenerCount('request'), 0)
    })

    it('moves no listener of the server, and close() restores the app', async (t) => {
      const spillway = spillwayFor(t, { shed: REJECT })
      const order = []
      const moved = []
      const app = quiet().use(spillway.express())
      const server = http.createServer()
      const [before, after, unheard] = ['before', 'after', 'unheard'].map((each) => () => order.push(each))
      server.on('request', before).on('request', app).on('request', after)
      for (const event of ['newListener', 'removeListener']) server.on(event, (name) => moved.push(name))
      const { ask, release } = await overload(t, app, server)
      server.once('request', unheard)
      assert.equal((await ask()).isSeen, false)
      assert.deepEqual(server.listeners('request'), [before, app, after])
      assert.deepEqual(order.slice(-3), ['before', 'after', 'unheard'])
      await release()
      assert.equal(app.handle.name, 'spillwayHandle')
      spillway.close()
      assert.notEqual(app.handle.name, 'spillwayHandle')
      assert.deepEqual(server.rawListeners('request'), [before, app, after])
      assert.equal(
        moved.filter((name) => name === 'request').length,
        2,
        'only the listener added once by this test'
      )
    })

    it('decides before Express, and measures once, where the listeners are taken away as Socket.IO does', async (t) => {
      const spillway = spillwayFor(t, { shed: REJECT })
      const app = quiet().use(spillway.express())
      const server = http.createServer(app)
      const { ask, get, release } = await overload(t, app, server)
      assert.equal((await ask()).isSeen, false)
      const listeners = server.listeners('request')
      server.removeAllListeners('request')
      server.on('request', (req, res) => {
        for (const each of listeners) each.call(server, req, res)
      })
      for (let i = 0; i < 2; i++) assert.equal((await ask()).isSeen, false)
      assert.equal(server.listenerCount('request'), 1)
      await release()
      await get('/users/3')
      assert.deepEqual(countsOf(await ended(spillway, 3)), { '/users/:id': 2, '/hold': 1 })
      spillway.close()
      assert.equal(server.listenerCount('request'), 1)
    })

    it('leaves calls with a `next`, and upgraded requests, to the middleware', async (t) => {
      const spillway = spillwayFor(t, { shed: REJECT })
      const app = quiet().use(spillway.express())
      const { ask, countSeen, release } = await overload(t, app)
      assert.equal((await ask()).isSeen, false)
      const before = countSeen()
      const called = await serve(t, (req, res) => app.handle(req, res, assert.fail))
      assert.equal((await called.get('/users/1')).status, 503)
      assert.equal(countSeen(), before + 1)
      const upgraded = await serve(t, (req, res) => {
        Object.assign(req, { upgrade: true }).headers.upgrade = 'websocket'
        app.handle(req, res)
      })
      assert.equal((await upgraded.get('/users/1')).status, 200)
      assert.equal(countSeen(), before + 2)
      await release()
    })

    it('of two instances: the first decides before Express, the second in its middleware', async (t) => {
      const [first, second] = [1, 2].map((most) =>
        spillwayFor(t, { shed: { ...REJECT, maxConcurrent: most } })
      )
      const app = quiet().use(first.express()).use(second.express())
      await isRejected(t, app, { inExpress: false })
      for (const each of [first, second]) assert.equal(each.snapshot().admission.inFlight, 0)
      assert.deepEqual(countsOf(await ended(second, 3)), { '/users/:id': 2, '/hold': 1 })
    })
  })
}
