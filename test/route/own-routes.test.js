'use strict'
// Routes of ours: what a body parser has refused, and what Socket.IO has answered, are no page's, nor
// unmatched.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const Router = require('@koa/router')
const Koa2 = require('koa-2')
const Koa3 = require('koa')
const getRawBody = require('raw-body')
const { hasPeer, peer } = require('../../bench/support/peers')
const { pinoWithLines } = require('../support/lines')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const BAD_BODY = 'POST (bad body)'
const JSON_TYPE = { 'content-type': 'application/json' }
const CASES = [
  ['JSON that is none', { headers: JSON_TYPE }, '{"a":', 400],
  ['a body over the limit', { headers: JSON_TYPE }, JSON.stringify({ a: 'x'.repeat(100) }), 413],
  ['an encoding that is none', { headers: { ...JSON_TYPE, 'content-encoding': 'x' } }, '{}', 415],
]

const listed = ({ routes }) => routes.map(({ method, route }) => `${method} ${route}`)

/** @param {any} express @param {(app: any, spillway: any) => void} [end] */
function expressApp(express, spillway, end = (app) => app.use(spillway.errorHandler())) {
  const app = express()
  app.set('env', 'test')
  app.use(spillway.express())
  app.use(express.json({ limit: 50 }))
  app.post('/', (req, res) => res.json(req.body))
  app.post('/orders', (req, res) => res.json(req.body))
  end(app)
  return app
}

const ENDS = {
  'our error handler': undefined,
  "Express's own": () => {},
  "the application's": (app) => app.use((error, _req, res, _next) => res.status(error.status).end()),
}

for (const [name, express] of [
  ['Express 5', require('express')],
  ['Express 4', require('express-4')],
]) {
  for (const [whose, end] of Object.entries(ENDS)) {
    for (const [what, how, body, status] of CASES) {
      test(`${name}: ${what} is no page's, answered by ${whose}`, async (t) => {
        const spillway = spillwayFor(t)
        const { request } = await serve(t, expressApp(express, spillway, end))
        for (const path of ['/', '/orders'])
          assert.equal((await request({ path, method: 'POST', ...how }, body)).status, status)
        assert.deepEqual(listed(await ended(spillway, 2)), [BAD_BODY])
      })
    }
  }

  test(`${name}: a good body goes to its page, and one refused in a route to that`, async (t) => {
    const spillway = spillwayFor(t)
    const app = expressApp(express, spillway, () => {})
    app.post('/raw', express.text({ type: '*/*', limit: 2 }), (_req, res) => res.end())
    const { request } = await serve(t, app.use(spillway.errorHandler()))
    const post = (path, body, type) =>
      request({ path, method: 'POST', headers: { 'content-type': type ?? 'application/json' } }, body)
    assert.equal((await post('/', '{}')).status, 200)
    assert.equal((await post('/raw', 'abc', 'text/x')).status, 413)
    assert.deepEqual(listed(await ended(spillway, 2)), ['POST /', 'POST /raw'])
  })

  test(`${name}: a body refused in a mounted router is no mount's; one that a handler recovers from is its route's`, async (t) => {
    const spillway = spillwayFor(t)
    const app = express().use(spillway.express())
    app.use(
      '/api',
      express
        .Router()
        .use(express.json())
        .post('/a', (_req, res) => res.end())
    )
    app.use('/lenient', express.json())
    app.use((_error, req, _res, next) => (req.path.startsWith('/lenient') ? next() : next(_error)))
    app.post('/lenient/a', (_req, res) => res.end())
    const { request } = await serve(t, app.use(spillway.errorHandler()))
    for (const path of ['/api/a', '/lenient/a'])
      await request({ path, method: 'POST', headers: JSON_TYPE }, '{')
    assert.deepEqual(listed(await ended(spillway, 2)), [BAD_BODY, 'POST /lenient/a'])
  })
}

/** As co-body does it, which the body parsers of Koa are made of. */
function koaBody(limit) {
  return async (ctx, next) => {
    const text = await getRawBody(ctx.req, { limit, encoding: 'utf8' })
    try {
      ctx.request.body = JSON.parse(text || '{}')
    } catch (error) {
      throw Object.assign(error, { status: 400, body: text })
    }
    await next()
  }
}

for (const [name, Koa] of [
  ['Koa 3', Koa3],
  ['Koa 2', Koa2],
]) {
  test(`${name}: a body that is refused before the router is no page's, in the log neither`, async (t) => {
    const { lines, logger } = pinoWithLines({ base: null })
    const spillway = spillwayFor(t, { logger })
    const router = new Router().post('/', (ctx) => {
      ctx.body = ctx.request.body
    })
    const app = new Koa().use(spillway.koa()).use(koaBody(50)).use(router.routes())
    app.silent = true
    const { request } = await serve(t, app.callback())
    const post = (body) => request({ path: '/', method: 'POST', headers: JSON_TYPE }, body)
    assert.equal((await post('{"a":')).status, 400)
    assert.equal((await post(JSON.stringify({ a: 'x'.repeat(100) }))).status, 413)
    assert.equal((await post('{}')).status, 200)
    assert.deepEqual(listed(await ended(spillway, 3)), [BAD_BODY, 'POST /'])
    assert.deepEqual(
      lines.map(({ route }) => route),
      ['(bad body)', '(bad body)']
    )
  })
}

for (const [what, attachFirst] of [
  ['after', false],
  ['before', true],
]) {
  test(`what Socket.IO answers, attached ${what} it, has a route of its own`, async (t) => {
    // socket.io is one of the packages that benches need.
    if (!hasPeer('socket.io')) return t.skip('npm ci --prefix bench/peers')
    const io = peer('socket.io')
    const express = require('express')
    const spillway = spillwayFor(t)
    const app = express().use(spillway.express())
    app.get('/', (_req, res) => res.end())
    const server = http.createServer(app)
    if (attachFirst) spillway.attach(server)
    const sockets = new io.Server(server)
    if (!attachFirst) spillway.attach(server)
    t.after(() => sockets.close())
    const { get, port } = await serve(t, server)
    const polled = await get('/socket.io/?EIO=4&transport=polling')
    assert.equal(polled.status, 200)
    assert.equal((await get('/socket.io/?EIO=4&transport=none')).status, 400)
    const { WebSocket } = peer('ws')
    const socket = new WebSocket(`ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket`)
    await once(socket, 'open')
    socket.terminate()
    for (const path of ['/', '/nowhere?EIO=4']) await get(path)
    const { routes } = await ended(spillway, 5)
    assert.deepEqual(
      routes.map(({ route, outcomes }) => [route, outcomes.completed + outcomes.upgraded]).sort(),
      [
        ['(socket.io)', 3],
        ['(unmatched)', 1],
        ['/', 1],
      ]
    )
  })
}

test('labels of spillway itself do not count against the limit of routes', async (t) => {
  const spillway = spillwayFor(t, { routes: { max: 1 } })
  const { request, get } = await serve(t, expressApp(require('express'), spillway))
  await request({ path: '/', method: 'POST', headers: JSON_TYPE }, '{')
  await request({ path: '/orders', method: 'POST', headers: JSON_TYPE }, '{}')
  await get('/nowhere')
  const { routesFolded, ...snapshot } = await ended(spillway, 3)
  assert.deepEqual([listed(snapshot), routesFolded], [[BAD_BODY, 'POST /orders', 'GET (unmatched)'], 0])
})

for (const [name, make] of Object.entries({
  'Express 5': (spillway) => {
    const app = require('express')().use(spillway.express(), require('cors')())
    return app.get('/orders', (_req, res) => res.json([]))
  },
  'Koa 3': (spillway) => new Koa3().use(spillway.koa()).use(require('@koa/cors')()).callback(),
  'plain http': (spillway) => spillway.wrap((_req, res) => res.writeHead(204).end()),
}))
  test(`${name}: preflights of browsers have a route, and other OPTIONS do not`, async (t) => {
    const spillway = spillwayFor(t)
    const { request } = await serve(t, make(spillway))
    const origin = 'https://shop.example'
    const ask = (headers) => request({ path: '/orders', method: 'OPTIONS', headers })
    await ask({ origin, 'access-control-request-method': 'PUT' })
    assert.deepEqual(listed(await ended(spillway, 1)), ['OPTIONS (preflight)'])
    await ask({ origin })
    const { length } = listed(await ended(spillway, 2))
    assert.equal(length, 2)
  })

test('an upgrade has a route', async (t) => {
  const spillway = spillwayFor(t)
  const { server, request } = await serve(t, (_req, res) => res.end())
  spillway.attach(server)
  server.on('upgrade', (_req, socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'))
  await request({ path: '/', headers: { connection: 'upgrade', upgrade: 'x' } })
  assert.deepEqual(listed(await ended(spillway, 1)), ['GET (upgrade)'])
})
