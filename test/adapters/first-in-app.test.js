'use strict'
// Where an app begins with `express()` and is itself what the server calls, a request is decided before Express sees it, from the
// second on; anywhere else, and where the user's own functions are asked, by the middleware as ever. What Express saw is counted
// at the app's own `handle`. One request is held open, so that with `maxConcurrent: 1` all others are refused.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')
const { EXPRESSES, countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const REFUSE = { mode: 'threshold', maxConcurrent: 1 }
const ok = (_req, res) => res.end('ok')
const pass = (_req, _res, next) => next()

/** Serves it, and holds one request open until `release`; the first one has told the server. */
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
  /** @returns how one more is answered, and whether Express saw it */
  const ask = async () => {
    const before = seen
    const { status, headers } = await served.get('/users/2')
    return { status, headers, isSeen: seen > before }
  }
  return { ...served, ask, release }
}

async function isRefused(t, app, { inExpress, listener }) {
  const { ask, release } = await overload(t, app, listener)
  for (let i = 0; i < 2; i++) {
    const refused = await ask()
    assert.deepEqual([refused.status, refused.isSeen], [503, inExpress])
  }
  await release()
  assert.deepEqual((await ask()).status, 200)
}

for (const name of Object.values(EXPRESSES)) {
  const express = require(name)
  const quiet = () => express().set('env', 'test')

  describe(`the first middleware of an app on ${name}`, () => {
    it('turns away before Express sees it, with no header of Express', async (t) => {
      const spillway = spillwayFor(t, { shed: REFUSE })
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

    it('lets wait before Express sees it, and then runs it as the server would', async (t) => {
      const spillway = spillwayFor(t, { shed: { maxConcurrent: 1, maxDelay: 60_000, targetDelay: 60_000 } })
      const { ask, release } = await overload(t, quiet().use(spillway.express()))
      const answer = ask()
      while (spillway.snapshot().admission.waiting === 0) await new Promise(setImmediate)
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
      it(`${where} decides where it stands`, async (t) => {
        const spillway = spillwayFor(t, { shed: REFUSE })
        await isRefused(t, appOf(spillway.express()), { inExpress: true })
      })
    }

    it('of an app in another decides where it stands', async (t) => {
      const spillway = spillwayFor(t, { shed: REFUSE })
      const inner = quiet().use(spillway.express())
      await isRefused(t, inner, { inExpress: true, listener: quiet().use(pass).use(inner) })
    })

    it('of an app that a listener of the user calls decides where it stands', async (t) => {
      const spillway = spillwayFor(t, { shed: REFUSE })
      const app = quiet().use(spillway.express())
      await isRefused(t, app, { inExpress: true, listener: (req, res) => app(req, res) })
      const { server, get } = await serve(t, (req, res) => app(req, res))
      await get('/users/1')
      assert.equal(server.listenerCount('request'), 2, 'its responses are prepared')
    })

    it('asks functions of the user with the request that Express has made, and switches while running', async (t) => {
      const ips = []
      const classify = (req) => {
        ips.push(req.ip)
        return 'high'
      }
      const spillway = spillwayFor(t, { shed: { ...REFUSE, classify } })
      const { ask, release } = await overload(t, quiet().use(spillway.express()))
      assert.equal((await ask()).isSeen, true)
      assert.deepEqual(ips.map(Boolean), [true, true, true])
      spillway.update({ shed: { classify: undefined } })
      assert.equal((await ask()).isSeen, false)
      spillway.update({ shed: { headers: (req) => ({ 'X-Host': req.hostname }) } })
      const { headers, isSeen } = await ask()
      assert.deepEqual([headers['x-host'], isSeen], ['127.0.0.1', true])
      spillway.update({ shed: { headers: undefined, respond: (_req, res) => res.status(429).json({}) } })
      assert.equal((await ask()).status, 429)
      spillway.update({ shed: { respond: undefined, deadline: (req) => Number(req.get('x-none')) } })
      assert.equal((await ask()).isSeen, true)
      await release()
    })

    it("passes the error on to the app with errorMode 'next'", async (t) => {
      const spillway = spillwayFor(t, { shed: { ...REFUSE, errorMode: 'next' } })
      const app = quiet().use(spillway.express())
      const { ask, release } = await overload(t, app)
      app.use((error, _req, res, _next) => res.status(418).end(error.code))
      for (let i = 0; i < 2; i++) assert.equal((await ask()).status, 418)
      await release()
    })

    it('is the app itself to who lists the listeners of the server, or takes it away', async (t) => {
      const spillway = spillwayFor(t, { shed: REFUSE })
      const app = quiet().use(spillway.express())
      const server = http.createServer(app)
      const { release } = await overload(t, app, server)
      assert.deepEqual(server.listeners('request'), [app])
      await release()
      server.off('request', app)
      assert.equal(server.listenerCount('request'), 0)
    })

    it('keeps the other listeners of the server, and their order', async (t) => {
      const spillway = spillwayFor(t, { shed: REFUSE })
      const order = []
      const app = quiet().use(spillway.express())
      const server = http.createServer()
      const [before, after, unheard] = ['before', 'after', 'unheard'].map((each) => () => order.push(each))
      server.on('request', before).on('request', app).on('request', after)
      const { ask, release } = await overload(t, app, server)
      server.once('request', unheard)
      assert.equal((await ask()).isSeen, false)
      assert.deepEqual(server.listeners('request'), [before, app, after])
      assert.deepEqual(order.slice(-3), ['before', 'after', 'unheard'])
      await release()
      spillway.close()
      assert.deepEqual(server.rawListeners('request'), [before, app, after])
    })

    it('where the listeners are taken away, as Socket.IO does, decides where it stands, and measures once', async (t) => {
      const spillway = spillwayFor(t, { shed: REFUSE })
      const app = quiet().use(spillway.express())
      const server = http.createServer(app)
      const { ask, get, release } = await overload(t, app, server)
      assert.equal((await ask()).isSeen, false)
      const listeners = server.listeners('request')
      server.removeAllListeners('request')
      server.on('request', (req, res) => {
        for (const each of listeners) each.call(server, req, res)
      })
      for (let i = 0; i < 2; i++) assert.equal((await ask()).isSeen, true)
      assert.equal(server.listenerCount('request'), 2, 'its responses are prepared')
      await release()
      await get('/users/3')
      assert.deepEqual(countsOf(await ended(spillway, 3)), { '/users/:id': 2, '/hold': 1 })
      spillway.close()
      assert.equal(server.listenerCount('request'), 1)
    })

    it('of two instances: the first before Express, the second where it stands', async (t) => {
      const [first, second] = [1, 2].map((most) =>
        spillwayFor(t, { shed: { ...REFUSE, maxConcurrent: most } })
      )
      const app = quiet().use(first.express()).use(second.express())
      await isRefused(t, app, { inExpress: false })
      for (const each of [first, second]) assert.equal(each.snapshot().admission.inFlight, 0)
      assert.deepEqual(countsOf(await ended(second, 3)), { '/users/:id': 2, '/hold': 1 })
    })
  })
}
