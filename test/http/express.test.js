'use strict'
// What `express()` promises on Express, apart from the labels, which are in test/route.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')
const { promisesEndpoints } = require('../support/endpoints')
const { countsOf, EXPRESSES, labelledSpillway } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')

for (const name of Object.values(EXPRESSES)) {
  const express = require(name)
  const quiet = () => express().set('env', 'test')

  describe(`express() on ${name}`, () => {
    promisesEndpoints((t, spillway, answer) => serve(t, quiet().use(spillway.express()).use(answer)))

    it('and attach(server), and wrap(app), measure a request once', async (t) => {
      const spillway = spillwayFor(t)
      const app = quiet().use(spillway.express()).get('/users/:id', ok)
      const { get } = await serve(t, spillway.attach(http.createServer(spillway.wrap(app))))
      for (let i = 0; i < 3; i++) await get(`/users/${i}`)
      await get('/metrics')
      const snapshot = await ended(spillway, 3)
      assert.deepEqual(countsOf(snapshot), { '/users/:id': 3 })
      assert.equal(snapshot.requests.sinceStart.count, 3)
    })

    it('used twice in one app measures a request once', async (t) => {
      const spillway = spillwayFor(t)
      const again = express.Router().use(spillway.express()).get('/:id', ok)
      const { get } = await serve(
        t,
        quiet().use(spillway.express()).use(spillway.express()).use('/users', again)
      )
      for (let i = 0; i < 3; i++) await get(`/users/${i}`)
      assert.deepEqual(countsOf(await ended(spillway, 3)), { '/users/:id': 3 })
    })

    it('of two instances in one app measures for both', async (t) => {
      const first = spillwayFor(t)
      const second = spillwayFor(t, { endpoints: { metrics: '/second' } })
      const app = quiet().use(first.express()).use(second.express())
      app.use('/users', express.Router().get('/:id', ok))
      const { get } = await serve(t, app)
      for (const path of ['/users/1', '/users/2', '/nope']) await get(path)
      const expected = { '/users/:id': 2, '(unmatched)': 1 }
      assert.deepEqual(countsOf(await ended(first, 3)), expected)
      assert.deepEqual(countsOf(await ended(second, 3)), expected)
      assert.match((await get('/second')).body, /http_route="\/users\/:id"/)
      assert.match((await get('/metrics')).body, /http_route="\/users\/:id"/)
    })

    it('of one instance and attach(server) of another measure for both', async (t) => {
      const attached = spillwayFor(t)
      const used = spillwayFor(t, { endpoints: { metrics: '/used' } })
      const app = quiet()
        .use(used.express())
        .get('/users/:id', ok)
        .use((_req, res) => res.end('spa'))
      // Behind a listener of its own: attach alone does not find the app.
      const { get } = await serve(t, attached.attach(http.createServer((req, res) => app(req, res))))
      for (const path of ['/users/1', '/users/2', '/else']) await get(path)
      const expected = { '/users/:id': 2, '/': 1 }
      assert.deepEqual(countsOf(await ended(used, 3)), expected)
      assert.deepEqual(countsOf(await ended(attached, 3)), expected)
    })

    for (const [how, serverOf] of Object.entries({
      'attach(server)': (spillway, app) => spillway.attach(http.createServer(app)),
      'express()': (_spillway, app) => http.createServer(app),
    })) {
      it(`and ${how} leave the app a writeHead of its own, from the first request on`, async (t) => {
        const spillway = spillwayFor(t)
        const app = quiet().use(spillway.express()).get('/', ok)
        app.response.writeHead = function (...given) {
          this.setHeader('X-Version', '7')
          return Object.getPrototypeOf(express.response).writeHead.apply(this, given)
        }
        const { get } = await serve(t, serverOf(spillway, app))
        for (let i = 0; i < 3; i++) assert.equal((await get('/')).headers['x-version'], '7')
        assert.deepEqual(countsOf(await ended(spillway, 3)), { '/': 3 })
      })
    }

    it('does not count a prepared request that never reaches it', async (t) => {
      const spillway = spillwayFor(t)
      const app = quiet()
      app.use('/early', ok)
      app.use(spillway.express())
      app.get('/late/:id', ok)
      const { server, get } = await serve(t, app)
      assert.equal(server.listenerCount('request'), 1)
      await get('/early')
      await get('/late/1')
      assert.equal(server.listenerCount('request'), 2, 'the first request that reached it told the server')
      await get('/early')
      await get('/late/2')
      await get('/early')
      const { requests, ...snapshot } = await ended(spillway, 2)
      assert.deepEqual(countsOf(snapshot), { '/late/:id': 2 })
      assert.deepEqual([requests.inFlight, requests.sinceStart.count], [0, 2])
      assert.equal(server.listenerCount('request'), 2, 'and once only')
    })

    it('adds one listener to the server, even if several requests reach the middleware at once', async (t) => {
      const spillway = spillwayFor(t)
      const waiting = []
      const app = quiet()
      app.use((_req, _res, next) => {
        waiting.push(next)
        if (waiting.length === 3) for (const each of waiting) each()
      })
      app.use(spillway.express()).get('/users/:id', ok)
      const { server, get } = await serve(t, app)
      await Promise.all(['/users/1', '/users/2', '/users/3'].map((path) => get(path)))
      assert.equal(server.listenerCount('request'), 2)
      assert.deepEqual(countsOf(await ended(spillway, 3)), { '/users/:id': 3 })
    })

    it('at a mount path measures what is mounted there, with the whole template', async (t) => {
      const { spillway, labels } = labelledSpillway(t)
      const app = quiet()
      app.use('/api/:tenant', spillway.express(), express.Router().get('/users/:id', ok))
      app.get('/outside', ok)
      const { get } = await serve(t, app)
      for (let i = 0; i < 3; i++) {
        const [[label]] = await Promise.all([once(labels, 'label'), get('/api/T/users/7')])
        assert.equal(label, '/api/:tenant/users/:id')
        await get('/outside')
      }
      assert.deepEqual(countsOf(spillway.snapshot()), { '/api/:tenant/users/:id': 3 })
      assert.equal((await get('/api/T/livez')).status, 200, 'the endpoints are there too')
    })

    it('within a router without a path gives the whole template from the first request on', async (t) => {
      const spillway = spillwayFor(t)
      const inside = express.Router().use(spillway.express())
      inside.use('/in/:i', express.Router().get('/leaf/:id', ok))
      const { get } = await serve(t, quiet().use(inside))
      await get('/in/I/leaf/7')
      assert.deepEqual(countsOf(await ended(spillway, 1)), { '/in/:i/leaf/:id': 1 })
    })

    for (const [where, nest] of [
      ['a router', (inner) => express.Router().use(inner)],
      ['a sub-app', (inner) => express().use(inner)],
    ]) {
      it(`within ${where} gives the whole template from the second request on, and never half of it`, async (t) => {
        const { spillway, labels } = labelledSpillway(t)
        const inside = nest(spillway.express())
        inside.use('/in/:i', express.Router().get('/leaf/:id', ok))
        const { get } = await serve(t, quiet().use('/api/:tenant', inside))
        const seen = []
        for (let i = 0; i < 3; i++) {
          const [[label]] = await Promise.all([once(labels, 'label'), get('/api/T/in/I/leaf/7')])
          seen.push(label)
        }
        const whole = '/api/:tenant/in/:i/leaf/:id'
        assert.deepEqual(seen, ['(unmatched)', whole, whole])
      })
    }

    it('after close() passes requests on, answers the endpoints and measures nothing', async (t) => {
      const spillway = spillwayFor(t)
      const { server, get } = await serve(t, quiet().use(spillway.express()).get('/users/:id', ok))
      await get('/users/1')
      await ended(spillway, 1)
      spillway.close()
      assert.equal((await get('/users/2')).body, 'ok')
      assert.equal((await get('/metrics')).status, 200)
      assert.equal(server.listenerCount('request'), 1)
      assert.deepEqual(countsOf(spillway.snapshot()), { '/users/:id': 1 })
    })
  })
}

describe('express() around a plain http listener', () => {
  it('throws with what to write if there is no `next`', (t) => {
    const middleware = spillwayFor(t).express()
    assert.throws(() => middleware({ url: '/' }, {}), {
      code: 'ERR_SPILLWAY_MISUSE',
      message: /spillway\.wrap\(listener\)/,
    })
  })

  promisesEndpoints((t, spillway, answer) => {
    const middleware = spillway.express()
    return serve(t, (req, res) => middleware(req, res, () => answer(req, res)))
  })

  it('measures what has no route as unmatched', async (t) => {
    const spillway = spillwayFor(t)
    const middleware = spillway.express()
    const { get } = await serve(t, (req, res) => middleware(req, res, () => ok(req, res)))
    await get('/users/1')
    await get('/users/2')
    assert.deepEqual(countsOf(await ended(spillway, 2)), { '(unmatched)': 2 })
  })
})
