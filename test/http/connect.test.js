'use strict'
// Connect has no routes, so every request shares one label; `routes.label` may tell them apart.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const connect = require('connect')
const { promisesEndpoints } = require('../support/endpoints')
const { countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')

describe('express() on Connect', () => {
  promisesEndpoints((t, spillway, answer) => serve(t, connect().use(spillway.express()).use(answer)))

  it('labels every request as unmatched, however it ends', async (t) => {
    const spillway = spillwayFor(t)
    const app = connect().use(spillway.express())
    app.use('/static', ok)
    app.use('/fails', (_req, _res, next) => next(new Error('failed')))
    app.use('/throws', () => {
      throw new Error('thrown')
    })
    app.use((_error, _req, res, _next) => {
      res.statusCode = 500
      res.end()
    })
    const { get } = await serve(t, app)
    const statuses = []
    for (const path of ['/static/7', '/fails/7', '/throws/7', '/nope/7'])
      statuses.push((await get(path)).status)
    assert.deepEqual(statuses, [200, 500, 500, 404])
    assert.deepEqual(countsOf(await ended(spillway, 4)), { '(unmatched)': 4 })
  })

  it('lets routes.label name the routes', async (t) => {
    const spillway = spillwayFor(t, { routes: { label: (req) => `/${req.originalUrl.split('/')[1]}` } })
    const { get } = await serve(t, connect().use(spillway.express()).use('/static', ok))
    await get('/static/7')
    assert.deepEqual(countsOf(await ended(spillway, 1)), { '/static': 1 })
  })

  it('and attach(server) measure a request once', async (t) => {
    const spillway = spillwayFor(t)
    const server = require('node:http').createServer(connect().use(spillway.express()).use(ok))
    const { get } = await serve(t, spillway.attach(server))
    for (let i = 0; i < 3; i++) await get(`/${i}`)
    assert.deepEqual(countsOf(await ended(spillway, 3)), { '(unmatched)': 3 })
  })
})
