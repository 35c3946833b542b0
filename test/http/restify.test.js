'use strict'
// Restify 11, where `server.pre(spillway.express())` runs before routing.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { promisesEndpoints } = require('../support/endpoints')
const { RESTIFY_SKIP: skip } = require('../support/restify')
const { countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const restify = skip ? undefined : require('restify')

const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, child: () => QUIET }

const ok = (_req, res, next) => {
  res.send(200, 'ok')
  next()
}

/** Restify keeps its http server inside. */
async function serveRestify(t, server) {
  return serve(t, server.server)
}

describe('express() in server.pre of Restify', { skip }, () => {
  promisesEndpoints(async (t, spillway, answer) => {
    const server = restify.createServer({ log: QUIET })
    server.pre(spillway.express())
    server.pre((req, res, _next) => answer(req, res))
    return serveRestify(t, server)
  })

  it('labels a request with the path of its route, however it ends', async (t) => {
    const spillway = spillwayFor(t)
    const server = restify.createServer({ log: QUIET })
    server.pre(spillway.express())
    server.use((req, res, next) => {
      if (req.header('x-deny') === undefined) return next()
      res.send(401)
      next(false)
    })
    server.get('/users/:id', ok)
    server.get('/fails/:id', (_req, _res, next) => next(new Error('failed')))
    server.get('/files/*', ok)
    server.opts('/users/:id', ok)
    const { get, request } = await serveRestify(t, server)
    const statuses = []
    for (const [path, options] of [
      ['/users/7?x=1'],
      ['/users/7', { headers: { 'x-deny': '1' } }],
      ['/fails/7'],
      ['/files/a/b'],
      ['/nope/7'],
      ['/users/%ZZ'],
    ]) {
      statuses.push((await get(path, options)).status)
    }
    statuses.push((await request({ path: '/users/7', method: 'POST' })).status)
    statuses.push((await request({ path: '/users/7', method: 'OPTIONS' })).status)
    assert.deepEqual(statuses, [200, 401, 500, 200, 404, 404, 405, 200])
    assert.deepEqual(countsOf(await ended(spillway, 8)), {
      '/users/:id': 3,
      '/fails/:id': 1,
      '/files/*': 1,
      '(unmatched)': 3,
    })
  })

  it('labels a request whose client disconnected', async (t) => {
    const spillway = spillwayFor(t)
    const server = restify.createServer({ log: QUIET })
    server.pre(spillway.express())
    server.get('/hang/:id', (_req, _res, _next) => server.emit('hang'))
    const { port } = await serveRestify(t, server)
    const req = require('node:http').get({ port, host: '127.0.0.1', path: '/hang/1', agent: false })
    req.on('error', () => {})
    await once(server, 'hang')
    req.destroy()
    const { routes } = await ended(spillway, 1)
    assert.deepEqual(
      routes.map(({ route, outcomes }) => [route, outcomes.aborted]),
      [['/hang/:id', 1]]
    )
  })

  it('and attach(server) measure a request once', async (t) => {
    const spillway = spillwayFor(t)
    const server = restify.createServer({ log: QUIET })
    server.pre(spillway.express())
    server.get('/users/:id', ok)
    spillway.attach(server.server)
    const { get } = await serveRestify(t, server)
    for (let i = 0; i < 3; i++) await get(`/users/${i}`)
    assert.deepEqual(countsOf(await ended(spillway, 3)), { '/users/:id': 3 })
  })
})
