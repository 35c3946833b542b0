'use strict'
// The user's functions where both attach() and a middleware of ours are used: they get the request and the
// response of the framework, with what the middlewares before ours have put on them.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it, test } = require('node:test')
const { REFUSE, attached, holdingServer } = require('./holding-server')

const withUser = (req, _res, next) => {
  req.user = { plan: 'paid' }
  next()
}

/** @returns {any} an app whose users are known before ours asks for them */
const appWith = (name) => (spillway, handler) =>
  require(name)().use(withUser).use(spillway.express()).use(handler)

for (const name of ['express', 'express-4']) {
  const build = appWith(name)
  for (const [how, create] of Object.entries({
    'attach() and express()': (spillway, handler) => attached(spillway, build(spillway, handler)),
    'express() alone': (spillway, handler) => http.createServer(build(spillway, handler)),
    'wrap() and express()': (spillway, handler) => http.createServer(spillway.wrap(build(spillway, handler))),
  })) {
    describe(`${name}: ${how}`, () => {
      for (const hook of ['classify', 'key', 'deadline']) {
        it(`${hook} sees what a middleware before ours put on the request`, async (t) => {
          const users = []
          const asked = (req) => void users.push(req.user?.plan)
          const shed = { maxConcurrent: 1, ...(hook === 'deadline' ? {} : { [hook]: asked }) }
          const deadline = hook === 'deadline' ? { of: asked } : undefined
          const logger = { warn() {}, error() {} }
          const { get, hold, waiting } = await holdingServer(t, { shed, deadline, create, logger })
          // A key is asked for where there is no room.
          for (let i = 0; i < 3; i++) {
            const first = await hold()
            const second = get('/')
            await waiting(1)
            first.release()
            await second
            await first.answer
          }
          assert.ok(users.length >= 3)
          assert.deepEqual(new Set(users), new Set(['paid']))
        })
      }

      it('respond and headers get what the framework has made of request and response', async (t) => {
        const shed = {
          ...REFUSE,
          respond: (req, res, { retryAfterSeconds }) =>
            res.status(529).json({ busy: req.user.plan, retryAfterSeconds }),
        }
        const { get, hold } = await holdingServer(t, { shed, create })
        const first = await hold()
        for (let i = 0; i < 3; i++) {
          const { status, headers, body } = await get('/')
          const { busy, retryAfterSeconds } = JSON.parse(body)
          assert.deepEqual([status, busy], [529, 'paid'])
          assert.deepEqual(
            [headers['retry-after'], headers['cache-control']],
            [String(retryAfterSeconds), 'no-store']
          )
        }
        first.release()
        await first.answer
      })
    })
  }
}

for (const name of ['express', 'express-4']) {
  for (const [how, serve] of Object.entries({
    'attach() and express()': attached,
    'express() alone': (_spillway, app) => http.createServer(app),
    'wrap() and express()': (spillway, app) => http.createServer(spillway.wrap(app)),
  })) {
    test(`${name}: ${how}: as the first middleware, functions that only read are called before ${name} runs`, async (t) => {
      const seen = []
      const classify = (req) => {
        seen.push([
          req.path,
          req.query.a,
          req.get('x-plan'),
          req.originalUrl,
          req.app.get('title'),
          req.res !== undefined,
        ])
        return 'low'
      }
      const create = (spillway, handler) =>
        serve(spillway, require(name)().set('title', 'Mine').use(spillway.express()).use(handler))
      const { get, hold } = await holdingServer(t, { shed: { ...REFUSE, classify }, create })
      // The first request of a server sets up that the next requests enter early.
      assert.equal((await get('/first')).status, 200)
      const first = await hold()
      const { status, headers } = await get('/b?a=1', { headers: { 'x-plan': 'free' } })
      assert.deepEqual([status, headers['x-powered-by']], [503, undefined])
      assert.deepEqual(seen.at(-1), ['/b', '1', 'free', '/b?a=1', 'Mine', true])
      first.release()
      await first.answer
    })
  }

  test(`${name}: a query parser that throws answers as it does without spillway`, async (t) => {
    const create = (spillway, handler) => {
      const app = require(name)().set('query parser', () => {
        throw new Error('no such query')
      })
      return attached(spillway, app.use(spillway.express()).use(handler))
    }
    const { get } = await holdingServer(t, { shed: { ...REFUSE, classify: ({ query }) => query.a }, create })
    assert.equal((await get('/?a=1')).status, name === 'express' ? 200 : 500)
  })
}

test("without a middleware, attach() calls the functions itself, with Node's request", async (t) => {
  const seen = []
  const classify = (req) => {
    seen.push(req.url)
    return 'low'
  }
  const { get, hold, admission } = await holdingServer(t, { shed: { ...REFUSE, classify } })
  const first = await hold()
  assert.equal((await get('/')).status, 503)
  first.release()
  await first.answer
  assert.deepEqual(seen, ['/hold', '/'])
  assert.deepEqual(admission().shed, [{ reason: 'concurrency', priority: 'low', count: 1 }])
})

test('without functions of the user, attach() decides before the framework runs', async (t) => {
  let entered = 0
  const create = (spillway, handler) => {
    const app = require('express')()
    app.use((_req, _res, next) => next(void entered++))
    return attached(spillway, app.use(spillway.express()).use(handler))
  }
  const { get, hold } = await holdingServer(t, { shed: REFUSE, create })
  const first = await hold()
  assert.equal((await get('/')).status, 503)
  assert.equal(entered, 1)
  first.release()
  await first.answer
})

for (const name of ['express', 'express-4']) {
  /** Serves an app that begins with `express()`. A listener of the user precedes the app, or joins later. */
  const behindListener = (listen) => (spillway, handler) => {
    const app = require(name)().use(spillway.express()).use(handler)
    const server = http.createServer()
    listen(spillway, server, app, (req) => {
      req.user = 'paid'
      // Express has only a getter for `ip`.
      req.ip = '192.0.2.1'
      req.url = `/new${req.url}`
    })
    return server
  }
  for (const [when, listen] of Object.entries({
    'before attach()': (spillway, server, app, listener) =>
      spillway.attach(server.on('request', listener).on('request', app)),
    'after attach()': (spillway, server, app, listener) =>
      spillway.attach(server.on('request', app)).prependListener('request', listener),
  })) {
    test(`${name}: functions see what a listener has put on the request that precedes the app, added ${when}`, async (t) => {
      const seen = []
      const classify = (req) => void seen.push([req.user, req.ip, req.originalUrl, req.query.a])
      const create = behindListener(listen)
      const { get } = await holdingServer(t, {
        shed: { classify },
        create,
        logger: { warn() {}, error() {} },
      })
      for (let i = 0; i < 2; i++) {
        assert.equal((await get('/?a=1')).status, 200)
        assert.deepEqual(seen.pop(), ['paid', '192.0.2.1', '/new/?a=1', '1'])
      }
    })
  }

  test(`${name}: functions see what a listener of \`checkContinue\` has put on the request`, async (t) => {
    const seen = []
    const classify = (req) => void seen.push(req.user)
    const create = (spillway, handler) => {
      const server = attached(spillway, require(name)().use(spillway.express()).use(handler))
      return server.on('checkContinue', (req, res) => {
        req.user = 'paid'
        res.writeContinue()
        server.emit('request', req, res)
      })
    }
    const { get } = await holdingServer(t, { shed: { classify }, create, logger: { warn() {}, error() {} } })
    assert.equal((await get('/', { headers: { Expect: '100-continue' } })).status, 200)
    assert.deepEqual(seen, ['paid'])
  })

  test(`${name}: functions may read \`req.params\`, which are empty before any route`, async (t) => {
    const seen = []
    const classify = (req) => void seen.push(req.params.tenant ?? req.query.tenant)
    const create = (spillway, handler) =>
      attached(spillway, require(name)().use(spillway.express()).use(handler))
    const { get } = await holdingServer(t, { shed: { classify }, create, logger: { warn() {}, error() {} } })
    await get('/?tenant=x')
    assert.deepEqual(seen, ['x'])
  })
}

test('a tracer that wraps the layers of Express 4 sees one `query` a request', async (t) => {
  let spans = 0
  const create = (spillway, handler) => {
    const app = require('express-4')().use(spillway.express()).use(handler)
    const [layer] = app._router.stack
    const original = layer.handle
    layer.handle = (req, res, next) => {
      spans++
      original(req, res, next)
    }
    // As OpenTelemetry's instrumentation does.
    layer.handle.__original = original
    return attached(spillway, app)
  }
  const { get } = await holdingServer(t, { shed: { classify: ({ query }) => query.a }, create })
  await get('/?a=low')
  assert.equal(spans, 1)
})
