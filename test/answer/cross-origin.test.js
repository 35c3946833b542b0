'use strict'
// A 503 can be read by the browser application that it belongs to: the CORS headers are those that the
// application last set.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it } = require('node:test')
const Router = require('@koa/router')
const cors = require('cors')
const koaCors = require('@koa/cors')
const express = require('express')
const Koa = require('koa')
const { CrossOrigin } = require('../../src/core/answer/cross-origin')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { DrivenAdmission } = require('../gate/driven-admission')
const { leapingClock } = require('../support/leaping-clock')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const SHOP = 'https://shop.example'
const EVIL = 'https://evil.example'
const PREFLIGHT = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-cart' }

const APPS = {
  'cors() of Express': (spillway, options) => {
    const app = express()
    app.use(spillway.express(), cors(options))
    app.get('/api/items', (_req, res) => res.json([]))
    app.get('/hold', () => {})
    return app
  },
  '@koa/cors': (spillway, options) => {
    const app = new Koa()
    app.use(spillway.koa()).use(koaCors(options))
    const items = (ctx) => {
      ctx.body = []
    }
    const router = new Router().get('/api/items', items).get('/hold', () => new Promise(() => {}))
    app.use(router.routes())
    return app.callback()
  },
}

/** An app that each client asks once, and that rejects everything from then on. */
async function overloaded(t, make, options, clients, isAttached = true, shed = {}) {
  const clock = leapingClock()
  const spillway = spillwayFor(t, { shed: { mode: 'threshold', maxConcurrent: 1, ...shed } }, clock)
  const { server, request } = await serve(t, make(spillway, options))
  if (isAttached) spillway.attach(server)
  const ask = (headers, method = 'GET', path = '/api/items') => request({ path, method, headers })
  for (const [i, client] of clients.entries()) {
    await ask(...client)
    await ended(spillway, i + 1)
    // An answer is looked at every ten milliseconds.
    clock.leap()
  }
  const held = http.get({ port: server.address().port, host: '127.0.0.1', path: '/hold', agent: false })
  held.on('error', () => {})
  t.after(() => held.destroy())
  while (spillway.snapshot().admission.inFlight === 0) await new Promise((resolve) => setImmediate(resolve))
  return { spillway, ask }
}

const corsOf = ({ headers }) =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('access-control-'))
      .map(([name, value]) => [name.slice('access-control-'.length), value])
  )

for (const [name, make] of Object.entries(APPS)) {
  describe(`a 503 before ${name}`, () => {
    it('repeats what the application allowed the same origin, and exposes Retry-After', async (t) => {
      const { ask, spillway } = await overloaded(t, make, { origin: SHOP, credentials: true }, [
        [{ origin: SHOP }],
      ])
      const answer = await ask({ origin: SHOP }, 'GET', '/api/other?x=1')
      assert.equal(answer.status, 503)
      assert.match(answer.headers['retry-after'], /^[12]$/)
      assert.deepEqual(corsOf(answer), {
        'allow-origin': SHOP,
        'allow-credentials': 'true',
        'expose-headers': 'Retry-After',
      })
      assert.equal(JSON.parse(answer.body).status, 503)
      assert.deepEqual(spillway.snapshot().internalErrors, {})
    })

    it('keeps the list of exposed headers', async (t) => {
      const options = { origin: SHOP, exposedHeaders: ['X-Total'], exposeHeaders: ['X-Total'] }
      const { ask } = await overloaded(t, make, options, [[{ origin: SHOP }]])
      assert.equal(corsOf(await ask({ origin: SHOP }))['expose-headers'], 'X-Total, Retry-After')
    })

    it('allows no origin, path or credentials that the application has not allowed', async (t) => {
      const reflecting = { origin: (given, done) => done(null, given === SHOP ? SHOP : false) }
      const options = name.includes('koa')
        ? { origin: (ctx) => (ctx.get('origin') === SHOP ? SHOP : '') }
        : reflecting
      const { ask } = await overloaded(t, make, options, [[{ origin: SHOP }], [{ origin: EVIL }]])
      assert.deepEqual(corsOf(await ask({ origin: EVIL })), {})
      assert.deepEqual(corsOf(await ask({ origin: SHOP }, 'GET', '/other')), {})
      assert.deepEqual(corsOf(await ask({})), {})
      assert.deepEqual(corsOf(await ask({ origin: SHOP })), {
        'allow-origin': SHOP,
        'expose-headers': 'Retry-After',
      })
    })

    it('answers a preflight as the application last answered the same one, and no other', async (t) => {
      const options = {
        origin: SHOP,
        credentials: true,
        allowMethods: ['GET', 'PUT'],
        methods: ['GET', 'PUT'],
      }
      const { ask } = await overloaded(t, make, options, [[{ origin: SHOP, ...PREFLIGHT }, 'OPTIONS']])
      const answer = await ask({ origin: SHOP, ...PREFLIGHT }, 'OPTIONS', '/api/items?page=2')
      assert.equal(answer.status, 204)
      assert.equal(answer.body, '')
      assert.deepEqual(corsOf(answer), {
        'allow-origin': SHOP,
        'allow-credentials': 'true',
        'allow-methods': 'GET,PUT',
        'allow-headers': 'x-cart',
      })
      const others = [
        { ...PREFLIGHT, origin: EVIL },
        { ...PREFLIGHT, origin: SHOP, 'access-control-request-headers': 'x-admin' },
        { ...PREFLIGHT, origin: SHOP, 'access-control-request-method': 'DELETE' },
      ]
      for (const other of others) {
        const refused = await ask(other, 'OPTIONS')
        assert.equal(refused.status, 503)
        assert.deepEqual(corsOf(refused), {})
      }
    })

    it('permits no request to another path or host, which the application may forbid', async (t) => {
      const { ask } = await overloaded(t, make, { origin: SHOP, credentials: true }, [
        [{ origin: SHOP, ...PREFLIGHT }, 'OPTIONS'],
      ])
      for (const [path, host] of [['/api/transfers'], ['/api/items', 'bank.example']]) {
        const headers = { origin: SHOP, ...PREFLIGHT, ...(host !== undefined && { host }) }
        const refused = await ask(headers, 'OPTIONS', path)
        assert.equal(refused.status, 503, path)
        assert.deepEqual(corsOf(refused), {})
      }
    })
  })
}

it('a 503 carries no header that an earlier middleware set for its own answer: a CDN would cache it', async (t) => {
  const { ask } = await overloaded(
    t,
    (spillway) => {
      const app = express()
      app.use((_req, res, next) => {
        res.set({ 'CDN-Cache-Control': 'max-age=600', ETag: '"x"', 'X-Request-Id': '7' })
        next()
      })
      app.use(spillway.express())
      app.get('/hold', () => {})
      // No server is attached, and the middleware is not the first: it decides itself.
      return app
    },
    {},
    [],
    false
  )
  const { status, headers } = await ask({})
  assert.equal(status, 503)
  assert.deepEqual(
    [headers['cdn-cache-control'], headers.etag, headers['cache-control'], headers['x-request-id']],
    [undefined, undefined, 'no-store', '7']
  )
})

it('a 503 of another host carries none', async (t) => {
  const { ask } = await overloaded(t, APPS['cors() of Express'], { origin: SHOP }, [[{ origin: SHOP }]])
  assert.deepEqual(corsOf(await ask({ origin: SHOP, host: 'bank.example' })), {})
  assert.equal(corsOf(await ask({ origin: SHOP }))['allow-origin'], SHOP)
})

it('an answer that the application writes itself carries none: its body may be for its own pages', async (t) => {
  const respond = ({ url }, res) => (url === '/api/own' ? void res.writeHead(200).end('private') : false)
  const { ask } = await overloaded(
    t,
    APPS['cors() of Express'],
    { origin: SHOP },
    [[{ origin: SHOP }]],
    true,
    {
      respond,
    }
  )
  const own = await ask({ origin: SHOP }, 'GET', '/api/own')
  assert.deepEqual([own.status, own.body, corsOf(own)], [200, 'private', {}])
  const standard = await ask({ origin: SHOP })
  assert.deepEqual([standard.status, corsOf(standard)['allow-origin']], [503, SHOP])
})

it('a client that calls itself * is told nothing, and does not speak for others', async (t) => {
  const reflecting = { origin: (given, done) => done(null, given), credentials: true }
  const { ask } = await overloaded(t, APPS['cors() of Express'], reflecting, [[{ origin: '*' }]])
  assert.deepEqual(corsOf(await ask({ origin: EVIL })), {})
})

it('a wildcard is repeated to every origin, without credentials', async (t) => {
  const { ask } = await overloaded(t, APPS['cors() of Express'], {}, [[{ origin: SHOP }]])
  assert.deepEqual(corsOf(await ask({ origin: EVIL })), {
    'allow-origin': '*',
    'expose-headers': 'Retry-After',
  })
})

describe('what is remembered', () => {
  const internalErrors = new InternalErrors({ error() {} })
  /** A response with the headers of an application. */
  const responseOf = (headers = {}) => ({
    headers,
    getHeader: (name) => headers[name],
    hasHeader: (name) => headers[name] !== undefined,
    setHeader: (name, value) => (headers[name] = value),
  })
  const learn = (memory, origin, nowMs, allowed = origin, url = '/api') => {
    // The last answer that was looked at is long ago.
    memory.nextMs = 0
    memory.onEnd(
      /** @type {any} */ ({
        req: { method: 'GET', url, headers: { origin } },
        res: responseOf({ 'access-control-allow-origin': allowed }),
        ticket: { isRejected: false },
        status: 200,
      }),
      nowMs
    )
  }
  const isKnown = (memory, origin, startedMs = 0) => {
    const res = responseOf()
    memory.allow({ req: { method: 'GET', url: '/api', headers: { origin } }, res, startedMs })
    return res.headers['access-control-allow-origin'] === origin
  }
  const memoryOf = () => {
    const memory = new CrossOrigin(internalErrors)
    memory.update('adaptive')
    return memory
  }

  it('is bounded: the origins that were confirmed last stay', () => {
    const memory = memoryOf()
    learn(memory, SHOP, 0)
    for (let i = 1; i < 500; i++) {
      learn(memory, `https://${i}.example`, i)
      if (i % 50 === 0) learn(memory, SHOP, i)
    }
    assert.equal(isKnown(memory, SHOP), true)
    assert.equal(isKnown(memory, 'https://499.example'), true)
    assert.equal(isKnown(memory, 'https://300.example'), false)
    learn(memory, `https://${'x'.repeat(2000)}`, 500)
    assert.equal(isKnown(memory, `https://${'x'.repeat(2000)}`), false)
  })

  it('is forgotten ten minutes after the application last allowed it', () => {
    const memory = memoryOf()
    learn(memory, SHOP, 0)
    assert.equal(isKnown(memory, SHOP, 600_000), true)
    assert.equal(isKnown(memory, SHOP, 600_001), false)
    learn(memory, SHOP, 700_000)
    assert.equal(isKnown(memory, SHOP, 700_001), true)
  })

  it('costs nothing where nothing is rejected: no answer is looked at', () => {
    const memory = memoryOf()
    for (const mode of /** @type {const} */ (['observe', 'off'])) {
      memory.update(mode)
      assert.equal(memory.nextMs, Number.POSITIVE_INFINITY)
    }
    memory.update('adaptive')
    learn(memory, SHOP, 1000)
    assert.equal(memory.nextMs, 1010)
  })

  it('parses the headers of a request for itself at most every 10 ms, and never where nothing is rejected', () => {
    let parsed = 0
    const req = {
      get headers() {
        parsed++
        return { origin: SHOP }
      },
    }
    /** How often the headers are parsed once a request has ended. */
    const parsedAfter = (driven, ms) => {
      const request = driven.ask()
      Object.defineProperty(request, 'req', { value: req })
      request.res.getHeader = () => undefined
      driven.clock.advance(ms)
      const before = parsed
      driven.end(request)
      return parsed - before
    }
    const driven = new DrivenAdmission()
    assert.ok(parsedAfter(driven, 20) > 0)
    assert.equal(parsedAfter(driven, 9), 0)
    assert.ok(parsedAfter(driven, 1) > 0)
    driven.update({ mode: 'observe' })
    assert.equal(parsedAfter(driven, 20), 0)
  })
})
