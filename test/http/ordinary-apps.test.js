'use strict'
// Spillway warns of nothing in applications that are set up well.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')
const { runApp } = require('../support/mistakes')
const { EXPRESSES } = require('../support/router-trees')

const BEGIN = "const app = express().set('env', 'test')\n"
const END = '\napp.use(spillway.errorHandler())\nreturn app'

/** @type {Record<string, { lines: string, options?: object, not?: string }>} */
const APPS = {
  'the usual one': {
    lines: `${BEGIN} app.use(spillway.express()).get('/users/:id', ok) ${END}`,
  },
  'headers, parsers and files before us, and a not-found page behind': {
    lines: `${BEGIN}
      app.use((req, res, next) => { res.setHeader('X-Frame-Options', 'DENY'); next() })
      app.use(express.json(), express.urlencoded({ extended: false }))
      app.use(express.static(folder)).use('/assets', express.static(folder)).use('/docs', express.static(folder))
      app.use(spillway.express())
      app.get('/users/:id', ok)
      app.use((req, res) => res.status(404).end('not found')) ${END}`,
  },
  'a probe that shall not be measured before us': {
    lines: `${BEGIN} app.get('/healthz', ok).use(spillway.express()).get('/users/:id', ok).get('/users', ok) ${END}`,
  },
  'a probe before us and one mounted app behind': {
    lines: `${BEGIN}
      app.get('/healthz', ok)
      app.get('/version', ok)
      app.use(spillway.express())
      app.use('/api', express().get('/users/:id', ok)) ${END}`,
  },
  'a probe before us and a mounted function behind': {
    lines: `${BEGIN} app.get('/healthz', ok).use(spillway.express()).use('/graphql', ok) ${END}`,
  },
  'nested routers, with error handlers of their own': {
    lines: `${BEGIN}
      app.use(spillway.express())
      const inner = express.Router({ mergeParams: true }).get('/:order', fail)
      inner.use((error, req, res, next) => res.status(500).end('inner'))
      app.use('/users', express.Router().get('/:id', ok).use('/:id/orders', inner)) ${END}`,
  },
  'an error handler of its own behind ours, and `errors: false`': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/fails', fail)
      app.use(spillway.errorHandler())
      app.use((error, req, res, next) => res.status(500).end('mine'))
      return app`,
    options: { errors: false },
  },
  'an error handler of its own and none of ours': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/fails', fail)
      app.use((error, req, res, next) => res.status(500).end('mine'))
      return app`,
  },
  'an error handler of its own in a router, and none of ours': {
    lines: `${BEGIN}
      const router = express.Router().get('/users/:id', ok).get('/fails', fail)
      router.use((error, req, res, next) => res.status(500).end('mine'))
      app.use(spillway.express()).use(express.Router().use('/api', router)).use(router)
      return app`,
  },
  'no error handler, and `errors: false`': {
    lines: `${BEGIN} app.use(spillway.express()).get('/users/:id', ok); return app`,
    options: { errors: false },
  },
  'an error handler of its own before ours that passes on': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/fails', fail)
      app.use((error, req, res, next) => next(error))
      app.use((error, req, res, next) => { throw error })
      app.use((error, req, res, next) => setImmediate(next, error)) ${END}`,
  },
  'an error handler of its own before ours that may pass on, and answers the first error': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/fails', fail)
      app.use((e, q, r, n) => e.message === 'failed' ? r.status(503).send('m') : n(e)) ${END}`,
  },
  'an error handler of its own before ours whose parameters cannot be read': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/fails', fail)
      app.use(((error, req, res, next) => res.status(503).end('mine')).bind(null)) ${END}`,
  },
  'an error handler of its own before ours for one kind of error': {
    lines: `${BEGIN}
      app.use(spillway.express())
      app.get('/fails', (req, res, next) => next(Object.assign(new Error('x'), { status: 422 })))
      app.use((error, req, res, next) => error.status === 422 ? res.status(422).end() : next(error)) ${END}`,
  },
  'an error handler for one path before ours': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/fails', fail)
      app.use('/fails', (error, req, res, next) => res.status(500).end('mine')) ${END}`,
  },
  'an async error handler that answers a 4xx, and async handlers': {
    lines: `${BEGIN}
      app.use(spillway.express())
      app.get('/users/:id', async (req, res) => { await null; res.end('ok') })
      app.get('/fails', (req, res, next) => next(Object.assign(new Error('x'), { status: 404 })))
      app.use(async (error, req, res, next) => { await null; res.status(error.status).end() }) ${END}`,
  },
  'an error handler of its own before ours that rejects': {
    // Express 4 does not see that.
    not: '4',
    lines: `${BEGIN}
      app.use(spillway.express()).get('/fails', fail)
      app.use(async (error, req, res, next) => { await null; throw error }) ${END}`,
  },
  'errorHandler() behind each of two groups of routes, and at a path of its own': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/users/:id', ok).get('/first', ok)
      app.use('/users', spillway.errorHandler())
      app.use(spillway.errorHandler())
      app.use((req, res, next) => next()) ${END}`,
  },
  'errorHandler() twice around an error handler of its own that may throw, and `errors: false`': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/fails', fail)
      app.use(spillway.errorHandler())
      app.use((error, req, res, next) => { next(new Error('another')) }) ${END}`,
    options: { errors: false },
  },
  'mounts and routes that take any path': {
    lines: `${BEGIN}
      app.use(spillway.express()).use('/:tenant', (req, res, next) => next())
      app.get('/users/:id', ok).get('/:page', ok) ${END}`,
  },
  'a page behind the error handler': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/users/:id', ok)
      app.use(spillway.errorHandler())
      app.get('/*all', ok)
      return app`,
  },
  'apps mounted in apps, the inner one with ours': {
    lines: `${BEGIN}
      const inner = express().use(spillway.express()).get('/users/:id', ok)
      app.get('/first', ok).get('/second', ok).use('/api', inner).get('/third', ok) ${END}`,
  },
  'an error handler in the outer app, and the middleware in the inner one': {
    lines: `${BEGIN}
      app.use('/api', express().use(spillway.express()).get('/users/:id', ok))
      app.use((error, req, res, next) => res.status(500).end('mine'))
      return app`,
  },
  'the middleware at a path of its own, behind other routes': {
    lines: `${BEGIN}
      app.get('/first', ok).get('/second', ok)
      app.use('/api', spillway.express(), express.Router().get('/users/:id', ok)) ${END}`,
  },
  'routes before the middleware of an attached server': {
    lines: `${BEGIN}
      app.get('/users/:id', ok).use(spillway.express())
      app.use(spillway.errorHandler())
      return spillway.attach(http.createServer(app))`,
  },
  'routes before the middleware of a wrapped app': {
    lines: `${BEGIN}
      app.get('/users/:id', ok).use(spillway.express())
      app.use(spillway.errorHandler())
      return http.createServer(spillway.wrap(app))`,
  },
  'an attached server without any middleware': {
    lines: `${BEGIN} return spillway.attach(http.createServer(app.get('/users/:id', ok)))`,
  },
  'endpoints of its own, ours being off, elsewhere or guarded': {
    lines: `${BEGIN} app.use(spillway.express()).get('/metrics', ok).get('/livez', ok).get('/users/:id', ok) ${END}`,
    options: { endpoints: { metrics: '/internal/metrics', live: false } },
  },
  'endpoints of its own for those whom `allow` refuses': {
    lines: `${BEGIN} app.use(spillway.express()).get('/metrics', ok).get('/users/:id', ok) ${END}`,
    options: { endpoints: { allow: () => false } },
  },
  'our handlers mounted at their own paths, and paths below and beside': {
    lines: `${BEGIN}
      app.use(spillway.express()).get('/metrics', spillway.handler('metrics'))
      app.use('/livez', spillway.handler('live'))
      app.use('/readyz', express.Router().get('/details', ok))
      app.get('/metrics/:name', ok).get('/:page', ok).get('/users/:id', ok) ${END}`,
  },
}

for (const [version, name] of Object.entries(EXPRESSES)) {
  const express = require(name)

  describe(`nothing is told on ${name} of an app with`, () => {
    for (const [what, { lines, options, not }] of Object.entries(APPS)) {
      if (not === version) continue
      it(what, async (t) => {
        const splat = (path) => (version === '4' ? path.replace('*all', '*') : path)
        const { ask, mistakes, spillway } = await runApp(t, {
          file: `${what.replace(/\W+/g, '-')}-${version}.js`,
          lines: splat(lines),
          options,
          given: { express, http, folder: __dirname },
        })
        const paths = [
          '/users/7',
          '/api/users/7',
          '/healthz',
          '/fails',
          '/users/7/orders/9',
          '/metrics',
          '/no',
        ]
        await ask(...paths, ...paths)
        assert.deepEqual(mistakes(), [])
        assert.deepEqual(spillway.snapshot().internalErrors, {})
      })
    }

    it('an error handler of its own before ours that answers what `errorMode` passes on', async (t) => {
      const entered = new EventEmitter()
      const { ask, mistakes, spillway } = await runApp(t, {
        file: `errorMode-${version}.js`,
        options: { shed: { mode: 'threshold', maxConcurrent: 1, errorMode: 'next' } },
        lines: `${BEGIN}
          app.use(spillway.express()).get('/hold', (req, res) => entered.emit('hold', res))
          app.use((error, req, res, next) => res.status(503).end('mine')) ${END}`,
        given: { express, entered },
      })
      const isHeld = once(entered, 'hold')
      const first = ask('/hold')
      const [res] = await isHeld
      const [{ status, body }] = await ask('/users/7')
      res.end()
      await first
      assert.deepEqual([status, body], [503, 'mine'])
      assert.deepEqual(mistakes(), [])
      assert.deepEqual(spillway.snapshot().internalErrors, {})
    })
  })
}
