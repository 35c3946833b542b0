'use strict'
// What is told of a middleware that stands where it cannot do its work: with the first request, once, with
// the line of the call. What is no mistake is in ordinary-apps.test.js.

const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const http = require('node:http')
const { describe, it } = require('node:test')
const Router = require('@koa/router')
const { runApp, untilTold } = require('../support/mistakes')
const { EXPRESSES } = require('../support/router-trees')

/** Lines of an app, with the mistake, the line that is named, and what is said. */
const MISTAKES = {
  'express() behind all routes': {
    lines: `const app = express()
      app.get('/users/:id', ok).get('/orders', ok)
      app.use(spillway.express())
      app.use(spillway.errorHandler())
      return app`,
    mistake: 'late-middleware',
    line: 3,
    says: /spillway\.express\(\) is registered after all 2 routes, such as GET \/users\/:id, which are neither measured nor shed\. Move app\.use\(spillway\.express\(\)\) before the routes\.$/,
  },
  'express() behind the only route': {
    lines: `const app = express()
      app.get('/users/:id', ok)
      app.use(spillway.express())
      app.use(spillway.errorHandler())
      return app`,
    mistake: 'late-middleware',
    line: 3,
    says: /after the route GET \/users\/:id, which is neither measured nor shed\./,
  },
  'express() behind most routes, those of routers too': {
    lines: `const app = express()
      app.use('/users', express.Router().get('/:id', ok).post('/', ok).delete('/:id', ok))
      app.get('/healthz', ok)
      app.use(spillway.express())
      app.get('/late', ok)
      app.use(spillway.errorHandler())
      return app`,
    ask: '/users/7',
    mistake: 'late-middleware',
    line: 4,
    says: /after 4 of 5 routes, such as GET (\/users|…)\/:id, which are/,
  },
  'express() in a router, with routes outside of it': {
    lines: `const app = express()
      app.use('/api', express.Router().use(spillway.express()).get('/users/:id', ok))
      app.get('/orders', ok)
      app.use(spillway.errorHandler())
      return app`,
    ask: '/api/users/7',
    mistake: 'partial-middleware',
    line: 2,
    says: /spillway\.express\(\) is registered in a router, and measures only that router: 1 of 2 routes, such as GET \/orders is neither measured nor shed\. To measure all, write app\.use\(spillway\.express\(\)\) before the routes\.$/,
  },
  'express() behind an app that is mounted': {
    lines: `const app = express()
      app.use('/api', express().get('/users/:id', ok))
      app.use(spillway.express())
      app.use(spillway.errorHandler())
      return app`,
    ask: '/api/users/7',
    mistake: 'late-middleware',
    line: 3,
    says: /after the route (\/api|…), which is/,
  },
  'express() behind the routes, in an app behind a listener of its own': {
    lines: `const app = express()
      app.get('/users/:id', ok)
      app.use(spillway.express())
      app.use(spillway.errorHandler())
      return (req, res) => app(req, res)`,
    ask: '/nothing',
    mistake: 'late-middleware',
    line: 3,
    says: /after the route GET \/users\/:id/,
  },
  'express() behind the routes of an attached server, where functions of yours are asked': {
    lines: `const app = express()
      app.get('/users/:id', ok)
      app.use(spillway.express())
      app.use(spillway.errorHandler())
      return spillway.attach(http.createServer(app))`,
    options: { shed: { classify: () => 'low' } },
    mistake: 'late-middleware',
    line: 3,
    says: /after the route GET \/users\/:id, which is not shed\./,
  },
  'errorHandler() before the routes': {
    lines: `const app = express()
      app.use(spillway.express())
      app.use(spillway.errorHandler())
      app.get('/users/:id', ok).get('/orders', ok)
      return app`,
    mistake: 'early-error-handler',
    line: 3,
    says: /spillway\.errorHandler\(\) is registered before all 2 routes, such as GET \/users\/:id, whose errors never reach it\. Move app\.use\(spillway\.errorHandler\(\)\) after the last route\.$/,
  },
  'errorHandler() before most routes, on an attached server': {
    lines: `const app = express()
      app.get('/first', ok)
      app.use(spillway.errorHandler())
      app.use('/api', express.Router().get('/users/:id', ok).get('/users', ok))
      return spillway.attach(http.createServer(app))`,
    ask: '/first',
    mistake: 'early-error-handler',
    line: 3,
    says: /before 2 of 3 routes, such as GET (\/api|…)\/users\/:id/,
  },
  'errorHandler() twice in a row': {
    lines: `const app = express()
      app.use(spillway.express())
      app.get('/users/:id', ok).get('/orders', ok)
      app.use(spillway.errorHandler())
      app.use(spillway.errorHandler())
      return app`,
    mistake: 'repeated-error-handler',
    line: 5,
    says: /spillway\.errorHandler\(\) is registered twice, with no route between: .*\. Remove one of them\.$/,
  },
  'one errorHandler() that is registered twice, with an error handler of the user between': {
    lines: `const app = express(), ours = spillway.errorHandler()
      app.use(spillway.express())
      app.get('/users/:id', ok).get('/orders', ok)
      app.use(ours, (error, req, res, next) => next(error), ours)
      return app`,
    mistake: 'repeated-error-handler',
    line: 1,
    says: /Remove one of them/,
  },
  'no error handler': {
    lines: `const app = express()
      app.use(spillway.express())
      app.get('/users/:id', ok)
      return app`,
    mistake: 'missing-error-handler',
    line: 2,
    says: /No error handler is registered: .* Write app\.use\(spillway\.errorHandler\(\)\) after the last route, or createSpillway\(\{ errors: false \}\)\.$/,
  },
  'no error handler where the middleware is in a router': {
    lines: `const app = express()
      app.use(express.Router().use(spillway.express()).get('/users/:id', ok))
      return app`,
    mistake: 'missing-error-handler',
    line: 2,
    says: /No error handler is registered/,
  },
  'errorHandler that a router registers without calling it': {
    lines: `const app = express()
      app.use(spillway.express())
      app.use(express.Router().get('/users/:id', ok).use(spillway.errorHandler))
      return app`,
    mistake: 'uncalled-factory',
    line: undefined,
    says: /was registered, and not its result\. Call the function, for example: router\.use\(spillway\.errorHandler\(\)\)\.$/,
  },
  'a route at the path of an endpoint': {
    lines: `const app = express()
      app.use(spillway.express())
      app.get('/users/:id', ok).get('/metrics', ok)
      app.use(spillway.errorHandler())
      return app`,
    mistake: 'hidden-route',
    subject: '/metrics',
    line: undefined,
    says: /Your GET \/metrics never receives a request: spillway answers \/metrics before it\. .*createSpillway\(\{ endpoints: \{ metrics: false \} \}\)/,
  },
  'a route of a router at the path of an endpoint': {
    // Router 2.2 does not keep the path of a mount.
    not: '2.2',
    lines: `const app = express()
      app.use(spillway.express())
      app.use('/users', express.Router().get('/:id', ok))
      app.use('/readyz', express.Router().all('/', ok))
      app.use(spillway.errorHandler())
      return app`,
    mistake: 'hidden-route',
    subject: '/readyz',
    line: undefined,
    says: /: Your \/readyz never receives a request/,
  },
  'a guard before an endpoint of an attached server': {
    lines: `const app = express()
      app.use('/metrics', ok)
      app.use(spillway.express())
      app.get('/users/:id', ok)
      app.use(spillway.errorHandler())
      return spillway.attach(http.createServer(app))`,
    mistake: 'hidden-route',
    subject: '/metrics',
    line: undefined,
    says: /: Your app\.use\('\/metrics'\) never receives a request/,
  },
  'a guard in the route that mounts our handler at its own path': {
    lines: `const app = express()
      app.use(spillway.express())
      app.get('/users/:id', ok)
      app.get('/livez', (req, res, next) => next(), spillway.handler('live'))
      app.use(spillway.errorHandler())
      return app`,
    mistake: 'hidden-route',
    subject: '/livez',
    line: undefined,
    says: /Your GET \/livez never receives a request/,
  },
}

for (const [version, name] of Object.entries(EXPRESSES)) {
  const express = require(name)

  describe(`a mistake in an app on ${name}`, () => {
    for (const [what, of] of Object.entries(MISTAKES)) {
      if (of.not === version) continue
      it(`is told once, with its line: ${what}`, async (t) => {
        const file = `${what.replace(/\W+/g, '-')}-${version}.js`
        const run = () => runApp(t, { file, lines: of.lines, options: of.options, given: { express, http } })
        const { ask, mistakes } = await run()
        await ask(of.ask ?? '/users/7', '/users/8', '/orders', '/nothing')
        const [told, ...more] = mistakes()
        assert.deepEqual(more, [])
        assert.deepEqual([told.level, told.mistake, told.subject], [40, of.mistake, of.subject])
        assert.match(told.msg, of.says)
        const at = of.line === undefined ? `set-up-${file}:1` : `${file}:${of.line}`
        assert.equal(told.at.replace(/:\d+$/, ''), at)
        assert.ok(told.msg.startsWith(`spillway: ${at}: `), told.msg)

        const again = await run()
        await again.ask('/users/7')
        assert.deepEqual(again.mistakes(), [], 'the same line once a process')
      })
    }

    it("is told of an error handler of the user's that answers before ours", async (t) => {
      const file = `answering-${version}.js`
      const lines = `const app = express().set('env', 'test')
        app.use(spillway.express())
        app.get('/users/:id', fail)
        app.use(function answerAll(error, { method }, res, /* unused */ next) { // eslint-disable-next-line
          res.locals.next = method
          res.status(500).end('mine')
        })
        app.use(spillway.errorHandler())
        return app`
      const { ask, mistakes, spillway } = await runApp(t, { file, lines, given: { express } })
      await ask('/nothing')
      assert.deepEqual(mistakes(), [])
      const [{ status, body }] = await ask('/users/7')
      assert.deepEqual([status, body], [500, 'mine'])
      await untilTold(mistakes)
      await ask('/users/8')
      const [{ mistake, at, msg }, ...more] = mistakes()
      assert.deepEqual(more, [])
      assert.deepEqual([mistake, at.replace(/:\d+$/, '')], ['answering-error-handler', `${file}:8`])
      assert.match(
        msg,
        /Your error handler answerAll is registered before spillway\.errorHandler\(\) and answered 500/
      )
      assert.deepEqual(spillway.snapshot().errors, [])
    })

    it('is checked once the app has a route, and not by requests for the endpoints', async (t) => {
      const LISTENING = {
        plain: 'return app',
        listener: 'return (req, res) => app(req, res)',
        attached: 'return spillway.attach(http.createServer(app))',
      }
      for (const [how, end] of Object.entries(LISTENING)) {
        for (const hasHandler of [true, false]) {
          const made = { app: express().set('env', 'test') }
          const file = `listens-first-${how}-${hasHandler}-${version}.js`
          const lines = `const { app } = made; app.use(spillway.express()); ${end}`
          // Who is refused comes to the app.
          const options = { endpoints: { allow: (req) => !req.url.endsWith('?refused') } }
          const { ask, mistakes, spillway } = await runApp(t, { file, lines, options, given: { made, http } })
          await ask('/livez', '/livez?refused', '/')
          made.app.get('/users/:id', (_req, res) => res.end('ok'))
          await ask('/livez', '/livez?refused')
          assert.deepEqual(mistakes(), [], how)
          if (hasHandler) made.app.use(spillway.errorHandler())
          await ask('/users/7', '/users/8')
          const told = mistakes().map(({ mistake }) => mistake)
          assert.deepEqual(told, hasHandler ? [] : ['missing-error-handler'], how)
        }
      }
    })

    it('is checked until the first request of an app with spillway, and not after', async (t) => {
      const started = channel('http.server.request.start')
      const lines = `const app = express().use(spillway.express()).get('/users/:id', ok)
        return app.use(spillway.errorHandler())`
      const { ask } = await runApp(t, { file: `looking-${version}.js`, lines, given: { express } })
      assert.equal(started.hasSubscribers, true)
      await ask('/livez')
      assert.equal(started.hasSubscribers, true, 'a probe may come before the app is whole')
      await ask('/users/7')
      assert.equal(started.hasSubscribers, false)
    })
  })
}

describe('the search for mistakes', () => {
  it('ends if no app with spillway is found, and at close()', async (t) => {
    const started = channel('http.server.request.start')
    const { ask } = await runApp(t, { file: 'giving-up.js', lines: 'spillway.express(); return ok' })
    for (let i = 0; i < 99; i++) await ask('/')
    assert.equal(started.hasSubscribers, true)
    await ask('/')
    assert.equal(started.hasSubscribers, false)
    const { spillway } = await runApp(t, { file: 'closing.js', lines: 'spillway.express(); return ok' })
    assert.equal(started.hasSubscribers, true)
    spillway.close()
    assert.equal(started.hasSubscribers, false)
  })

  it('fails silently if an app has an unexpected shape', async (t) => {
    const express = require('express')
    const lines = `const app = express().get('/', ok)
      app.router.stack.push({ get handle() { throw new Error('odd') }, match: () => false })
      app.use(spillway.errorHandler())
      return spillway.attach(http.createServer(app))`
    const { ask, spillway } = await runApp(t, { file: 'odd.js', lines, given: { express, http } })
    assert.equal((await ask('/'))[0].status, 200)
    assert.equal(spillway.snapshot().internalErrors.setup_check, 1)
  })
})

for (const name of ['koa', 'koa-2']) {
  const Koa = require(name)

  describe(`a mistake in an app on ${name}`, () => {
    const koa = (t, file, lines, options) =>
      runApp(t, { file: `${file}-${name}.js`, lines, options, given: { Koa, Router, http, koaOk } })
    const koaOk = (ctx) => {
      ctx.body = 'ok'
    }

    it('warns of koa() after the routes at the first request that reaches it, even a scrape', async (t) => {
      const lines = `const router = new Router().get('/users/:id', koaOk).post('/users', koaOk)
        const app = new Koa()
        app.use(router.routes()).use(router.allowedMethods())
        app.use(spillway.koa())
        return app.callback()`
      const { ask, mistakes } = await koa(t, 'late', lines)
      await ask('/users/7')
      assert.deepEqual(mistakes(), [])
      await ask('/metrics', '/nothing')
      const [{ mistake, at, msg }, ...more] = mistakes()
      assert.deepEqual(more, [])
      assert.deepEqual([mistake, at.replace(/:\d+$/, '')], ['late-middleware', `late-${name}.js:4`])
      assert.match(msg, /spillway\.koa\(\) is registered after all 2 routes, such as GET \/users\/:id/)
    })

    it('warns of a route at the path of an endpoint', async (t) => {
      const lines = `const router = new Router({ prefix: '/metrics' }).get('/', koaOk)
        return new Koa().use(spillway.koa()).use(router.routes()).callback()`
      const { ask, mistakes } = await koa(t, 'hidden', lines)
      await ask('/users/7')
      const [{ mistake, subject, msg }, ...more] = mistakes()
      assert.deepEqual(more, [])
      assert.deepEqual([mistake, subject], ['hidden-route', '/metrics'])
      assert.match(msg, /Your GET \/metrics never receives a request/)
    })

    it('does not warn if most routes come later, if attach() measures them, or if they cannot be read', async (t) => {
      const APPS = {
        probe: `new Koa().use(new Router().get('/healthz', koaOk).routes()).use(spillway.koa())
          .use(new Router().get('/a', koaOk).get('/b', koaOk).routes())`,
        mounted: `new Koa().use(new Router().get('/healthz', koaOk).routes()).use(spillway.koa())
          .use(mount('/api', new Koa().use(koaOk)))`,
        attached: `new Koa().use(new Router().get('/a', koaOk).routes()).use(spillway.koa())`,
        plain: 'new Koa().use((ctx, next) => next()).use(spillway.koa()).use(koaOk)',
      }
      for (const [file, app] of Object.entries(APPS)) {
        const given = { Koa, Router, http, koaOk, mount: require('koa-mount') }
        const server = `http.createServer((${app}).callback())`
        const lines = `return ${file === 'attached' ? `spillway.attach(${server})` : server}`
        const { ask, mistakes } = await runApp(t, { file: `none-${file}-${name}.js`, lines, given })
        await ask('/healthz', '/a', '/metrics', '/nothing')
        assert.deepEqual(mistakes(), [], file)
      }
    })
  })
}
