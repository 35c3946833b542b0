'use strict'
// Weaving is not noticed: what an application, its tools and its process see of a router is what they saw
// before.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const connect = require('connect')
const { countsOf, EXPRESSES } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')

/** Every route with its path, as tools find them: through `layer.handle.stack`. */
function routesOf({ stack }, seen = []) {
  for (const { route, handle, name } of stack) {
    if (route !== undefined) seen.push([name, String(route.path), Object.keys(route.methods)])
    else if (Array.isArray(handle.stack)) routesOf(handle, seen)
    else seen.push([name, handle.length <= 3])
  }
  return seen
}

for (const name of Object.values(EXPRESSES)) {
  const express = require(name)
  const routerOf = (app) => (typeof app.lazyrouter === 'function' ? app._router : app.router)

  describe(`an instrumented router of ${name}`, () => {
    it('lists its routes as before', async (t) => {
      const spillway = spillwayFor(t)
      const app = express().use(spillway.express())
      app.use('/in/:i', express.Router().use('/deep', express.Router().get('/leaf/:id', ok)).post('/x', ok))
      app.use('/m', ok)
      app.get(['/a', '/b'], ok)
      app.use('/errors', (_error, _req, _res, _next) => {})
      const list = () => [
        routesOf(routerOf(app)),
        routerOf(app)
          .listRoutes?.()
          .map((each) => each.path),
      ]
      const before = list()
      const { get } = await serve(t, app)
      await get('/in/1/deep/leaf/2')
      assert.deepEqual(list(), before)
    })

    it('is instrumented once, however many instances there are', async (t) => {
      const app = express()
      for (let i = 0; i < 3; i++) app.use(spillwayFor(t).express())
      app.get('/users/:id', ok)
      const { get } = await serve(t, app)
      const layer = routerOf(app).stack.at(-1)
      const { handle } = layer
      await get('/users/1')
      const wrapped = layer.handle
      assert.equal(Object.getPrototypeOf(wrapped), handle)
      await get('/users/1')
      assert.equal(layer.handle, wrapped)
    })

    it('passes on requests that no instance measures', async (t) => {
      const spillway = spillwayFor(t)
      const build = () => express().set('env', 'test').use('/in/:i', express.Router().get('/:id', ok))
      await (await serve(t, spillway.wrap(build()))).get('/in/1/2')
      const { get } = await serve(t, build())
      assert.equal((await get('/in/1/2')).status, 200)
      assert.equal((await get('/in/1')).status, 404)
      assert.deepEqual(countsOf(await ended(spillway, 1)), { '/in/:i/:id': 1 })
    })

    it('does not start a lazy thenable that a middleware returns', async (t) => {
      const spillway = spillwayFor(t)
      let started = 0
      const app = express().use(spillway.express())
      app.use('/lazy', (_req, res) => {
        res.end()
        // biome-ignore lint/suspicious/noThenProperty: a thenable of its own is the case
        return { then: () => started++ }
      })
      const { get } = await serve(t, app)
      await get('/lazy')
      // Express 5 starts it; we do not start it again.
      assert.equal(started, name === 'express-4' ? 0 : 1)
    })

    it('runs a route whose path cannot be read any more', async (t) => {
      const spillway = spillwayFor(t)
      const app = express().use(spillway.express())
      app.param('x', (req, _res, next) => {
        req.url = '/a/%ZZ'
        next()
      })
      app.get(['/a/:x', '/b/:x'], ok)
      const { get } = await serve(t, app)
      assert.equal((await get('/b/1')).status, 200)
      assert.deepEqual(countsOf(await ended(spillway, 1)), { '(unknown)': 1 })
    })

    it("leaves Connect's apps as they are, which have a stack of another kind", async (t) => {
      const warnings = []
      const warn = (warning) => warnings.push(warning.message)
      process.on('warning', warn)
      t.after(() => process.off('warning', warn))
      const spillway = spillwayFor(t)
      const middlewares = connect().use('/at', ok).use(ok)
      const { handle, stack } = middlewares
      const before = stack.map((layer) => ({ ...layer }))
      const app = express().use(spillway.express()).use('/in/:i', middlewares).use(middlewares)
      const { get } = await serve(t, app)
      for (const path of ['/in/1/at', '/at']) assert.equal((await get(path)).body, 'ok')
      assert.deepEqual(countsOf(await ended(spillway, 2)), { '/in/:i': 1, '/': 1 })
      assert.equal(middlewares.handle, handle)
      assert.deepEqual(stack, before)
      assert.deepEqual(warnings, [])
    })

    it('may hold an object that is no layer: one warning, and every other route keeps its name', async (t) => {
      const spillway = spillwayFor(t)
      const app = express().set('env', 'test').use(spillway.express())
      app.get('/users/:id', ok)
      routerOf(app).stack.push({ name: 'odd', match: () => false })
      const warnings = []
      const warn = (warning) => warnings.push(warning.message)
      process.on('warning', warn)
      t.after(() => process.off('warning', warn))
      const { get } = await serve(t, app)
      await get('/users/1')
      await get('/users/2')
      assert.deepEqual(countsOf(await ended(spillway, 2)), { '/users/:id': 2 })
      assert.equal(warnings.filter((text) => text.includes('(odd)')).length, 1, String(warnings))
    })
  })
}

describe('a middleware of Express 4 that rejects', () => {
  it('leaves the rejection unhandled, as Express 4 does', async () => {
    const program = `
      const http = require('node:http')
      const express = require('express-4')
      const { createSpillway } = require('./src/index.js')
      const app = express().use(createSpillway({ logger: false }).express())
      app.use('/async', async () => { throw new Error('mine') })
      process.on('unhandledRejection', (error) => { console.log(error.message); process.exit() })
      const server = app.listen(0, '127.0.0.1', () => {
        http.get({ host: '127.0.0.1', port: server.address().port, path: '/async' }).on('error', () => {})
      })`
    const cwd = path.join(__dirname, '../..')
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd })
    assert.equal(stdout, 'mine\n')
  })

  it('is seen once by tools that patch layers to see rejections', async (t) => {
    const spillway = spillwayFor(t)
    const express = require('express-4')
    const app = express().set('env', 'test').use(spillway.express())
    app.use('/async/:id', async () => {
      throw new Error('mine')
    })
    // As express-async-errors does: a setter wraps every handle it is given.
    const layer = app._router.stack.at(-1)
    let given = layer.handle
    const patched = (handle) =>
      function (...args) {
        const result = handle.apply(this, args)
        result?.catch?.((error) => args.at(-1)(error))
        return result
      }
    given = patched(given)
    Object.defineProperty(layer, 'handle', { get: () => given, set: (handle) => (given = patched(handle)) })
    let answered = 0
    const answer = (_error, _req, res, _next) => {
      answered++
      res.status(500).end()
    }
    // The second would answer if the error came twice.
    app.use(answer, answer)
    const { get } = await serve(t, app)
    for (let i = 1; i <= 2; i++) {
      assert.equal((await get('/async/7')).status, 500)
      assert.equal(answered, i)
    }
    assert.deepEqual(countsOf(await ended(spillway, 2)), { '/async/:id': 2 })
  })
})
