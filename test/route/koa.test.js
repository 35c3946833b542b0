'use strict'
// The route label is exact on Koa 2 and 3 with @koa/router and koa-mount. The tables are ./trees/koa-*.js.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it } = require('node:test')
const Router = require('@koa/router')
const express = require('express')
const mount = require('koa-mount')
const { copiedPackage } = require('../support/copied-package')
const { checkRequests, labelledSpillway } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { endings } = require('./trees/koa-endings')
const { mounts } = require('./trees/koa-mounts')
const { routers } = require('./trees/koa-routers')

const { createSpillway: createCopy } = copiedPackage()

const MODES = {
  'koa()': (_spillway, app) => app.callback(),
  'koa() and attach(server)': (spillway, app) => spillway.attach(http.createServer(app.callback())),
  'koa() and wrap(callback)': (spillway, app) => spillway.wrap(app.callback()),
}

for (const name of ['koa', 'koa-2']) {
  const Koa = require(name)

  for (const [mode, listenerOf] of Object.entries(MODES)) {
    describe(`the route label of ${name} with ${mode}`, () => {
      for (const of of [...routers, ...endings, ...mounts]) {
        it(of.title, async (t) => {
          const { spillway, labels } = labelledSpillway(t)
          const app = new Koa()
          app.silent = true
          app.use(spillway.koa())
          of.build(app, { Koa, Router, mount })
          const { port } = await serve(t, listenerOf(spillway, app))
          await checkRequests(t, { spillway, labels, app, port, of, version: name })
        })
      }
    })
  }

  describe(`the context of ${name}`, () => {
    it('keeps `ctx.mountPath` without an answer, as koa-websocket has it', async (t) => {
      const app = new Koa()
      app.use(spillwayFor(t).koa())
      const { get } = await serve(t, app.callback())
      await get('/')
      const ctx = app.createContext({ url: '/one/two', headers: {} }, undefined)
      let told
      await mount(
        '/one',
        mount('/two', () => {
          told = [ctx.mountPath, ctx.path]
        })
      )(ctx, () => {})
      assert.deepEqual(told, ['/two', '/'])
    })

    it('keeps `ctx.mountPath` as koa-mount sets it, measured or not', async (t) => {
      const spillway = spillwayFor(t)
      const app = new Koa()
      const tell = (ctx) => {
        ctx.body = String(ctx.mountPath)
      }
      app.use(mount('/early', (ctx, next) => (ctx.query.early ? tell(ctx) : next())))
      app.use(spillway.koa())
      app.use(mount('/one', mount('/two', tell)))
      app.use(tell)
      const { get } = await serve(t, app.callback())
      for (let round = 0; round < 2; round++) {
        assert.equal((await get('/early?early=1')).body, '/early')
        assert.equal((await get('/one/two')).body, '/two')
        assert.equal((await get('/none')).body, 'undefined')
      }
    })

    it('reports each mount to two copies of the package, whichever of them measures', async (t) => {
      const spillways = [spillwayFor(t), createCopy({ logger: false })]
      t.after(() => spillways[1].close())
      const app = new Koa()
      for (const [i, spillway] of spillways.entries()) {
        const middleware = spillway.koa()
        app.use((ctx, next) => (ctx.query.without === String(i) ? next() : middleware(ctx, next)))
      }
      const router = new Router()
      router.get('/three/:id', (ctx) => {
        ctx.body = String(ctx.mountPath)
      })
      app.use(mount('/one', mount('/two', router.routes())))
      const { get } = await serve(t, app.callback())
      for (const query of ['', '?without=0', '', '?without=1', ''])
        assert.equal((await get(`/one/two/three/7${query}`)).body, '/two')
      for (const spillway of spillways) {
        const { routes } = await ended(spillway, 4)
        assert.deepEqual(
          routes.map(({ route, outcomes }) => [route, outcomes.completed]),
          [['/one/two/three/:id', 4]]
        )
      }
    })

    it('names the route, where the app is the handler of a route of Express', async (t) => {
      const spillway = spillwayFor(t)
      const router = new Router()
      router.get('/api/users/:id', (ctx) => {
        ctx.body = 'a user'
      })
      const inner = new Koa().use(spillway.koa()).use(router.routes())
      const outer = express()
      outer.use(spillway.express())
      outer.all('/api/*rest', inner.callback())
      const { get } = await serve(t, outer)
      assert.equal((await get('/api/users/7')).body, 'a user')
      const { routes } = await ended(spillway, 1)
      assert.equal(routes[0].route, '/api/users/:id')
    })

    it("leaves a `mountPath` alone that is the application's own", async (t) => {
      const app = new Koa()
      app.context.mountPath = 'mine'
      app.use(spillwayFor(t).koa())
      app.use((ctx) => {
        ctx.body = ctx.mountPath
      })
      const { get } = await serve(t, app.callback())
      for (let i = 0; i < 2; i++) assert.equal((await get('/')).body, 'mine')
    })

    it('may hold anything in `ctx.matched`: the request and the internal error are counted', async (t) => {
      const spillway = spillwayFor(t)
      const app = new Koa()
      app.use(spillway.koa())
      app.use((ctx) => {
        ctx.matched = [null]
        ctx.body = 'ok'
      })
      const { get } = await serve(t, app.callback())
      await get('/x')
      const { routes, internalErrors } = await ended(spillway, 1)
      assert.deepEqual(
        routes.map(({ route }) => route),
        ['(unmatched)']
      )
      assert.deepEqual(internalErrors, { routing: 1 })
    })
  })
}
