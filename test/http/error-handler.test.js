'use strict'
// What `errorHandler()` promises on Express and Connect: an answer to every error, safe, whole and once.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { describe, it } = require('node:test')
const connect = require('connect')
const { Connection } = require('../support/connection')
const { EXPRESSES } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

/**
 * Headers that cache an answer, describe its body or lead elsewhere. Express and Koa differ in which of them
 * they remove.
 */
const GONE = [
  'cdn-cache-control',
  'netlify-cdn-cache-control',
  'surrogate-control',
  'surrogate-key',
  'cache-tag',
  'x-accel-expires',
  'last-modified',
  'pragma',
  'digest',
  'content-digest',
  'location',
  'refresh',
  'link',
  'x-accel-redirect',
  'x-sendfile',
]
const PROBLEM = 'application/problem+json'
const with_ = (message, properties) => Object.assign(new Error(message), properties)
const errorsOf = (spillway) =>
  spillway.snapshot().errors.map(({ route, status, type, count }) => [route, status, type, count])

function listeningLogger() {
  const lines = []
  const write = (level) => (fields, message) => lines.push({ level, message, ...fields })
  return { lines, logger: { warn: write('warn'), error: write('error') } }
}

/** What is thrown, its status, and the detail a stranger reads. */
const THROWN = [
  ['an Error', new Error('secret'), 500],
  ['an Error of 404', with_('no user 7', { status: 404 }), 404],
  ['an Error of 404 that may be shown', with_('no user 7', { status: 404, expose: true }), 404, 'no user 7'],
  ['an Error of 404 that is not to be shown', with_('secret', { status: 404, expose: false }), 404],
  [
    'an Error of 503 that may be shown',
    with_('in an hour', { statusCode: 503, expose: true }),
    503,
    'in an hour',
  ],
  ['an Error with a status that is none', with_('secret', { status: 'E_X', statusCode: 1000 }), 500],
  ['an Error of 499, which HTTP has no name for', with_('gone', { status: 499, expose: true }), 499, 'gone'],
  ['a string', 'secret', 500],
  ['a frozen Error', Object.freeze(new Error('secret')), 500],
  ['a plain object', { message: 'secret' }, 500],
]

for (const name of [...Object.values(EXPRESSES), 'connect']) {
  const make = name === 'connect' ? connect : require(name)
  const isExpress = name !== 'connect'

  /** An app that fails as told under `/fails/:how`, and as its own label says at the end. */
  const failing = async (t, fail, options) => {
    const spillway = spillwayFor(t, options)
    const app = make()
    app.use(spillway.express())
    if (isExpress) app.set('env', 'test').all('/fails/:id', fail)
    else app.use('/fails', fail)
    app.use(spillway.errorHandler())
    return { app, spillway, ...(await serve(t, app)) }
  }
  const label = isExpress ? '/fails/:id' : '(unmatched)'

  describe(`errorHandler() on ${name}`, () => {
    for (const [what, thrown, status, detail] of THROWN) {
      for (const way of ['throws', 'passes']) {
        it(`answers a handler that ${way} ${what} with ${status}`, async (t) => {
          const { spillway, get } = await failing(t, (_req, _res, next) => {
            if (way === 'passes') return next(thrown)
            throw thrown
          })
          const { headers, body, ...answer } = await get('/fails/7')
          assert.equal(answer.status, status)
          assert.equal(headers['content-type'], PROBLEM)
          assert.equal(headers['cache-control'], 'no-store')
          assert.equal(headers['x-content-type-options'], 'nosniff')
          const title = http.STATUS_CODES[status] ?? 'Error'
          assert.deepEqual(JSON.parse(body), {
            type: 'about:blank',
            title,
            status,
            ...(detail && { detail }),
          })
          const text = await get('/fails/7', { headers: { accept: 'text/html' } })
          assert.equal(text.headers['content-type'], 'text/plain; charset=utf-8')
          assert.equal(text.body, detail ? `${title}: ${detail}\n` : `${title}\n`)
          const snapshot = await ended(spillway, 2)
          assert.deepEqual(
            snapshot.errors.map(({ status, count }) => [status, count]),
            [[status, 2]]
          )
        })
      }
    }

    it('answers HEAD with the head of the answer and no body, and keeps the connection', async (t) => {
      const { port } = await failing(t, () => {
        throw with_('no user 7', { status: 404 })
      })
      const connection = await Connection.open(port)
      for (let i = 1; i <= 2; i++) {
        connection.send('HEAD /fails/7 HTTP/1.1\r\nHost: x\r\n\r\n')
        await connection.until('\r\n\r\n', i)
      }
      assert.match(connection.received, /content-length: [1-9]/i)
      assert.doesNotMatch(connection.received, /about:blank/)
      connection.destroy()
    })

    it('keeps the valid headers of the error that an error may set', async (t) => {
      const { get } = await failing(t, () => {
        throw with_('x', {
          status: 429,
          headers: {
            'Retry-After': 7,
            'Cache-Control': 'max-age=1',
            'Set-Cookie': ['a=1', 'b=2'],
            'Content-Length': '1',
            'Content-Encoding': 'gzip',
            'Transfer-Encoding': 'chunked',
            Connection: 'upgrade',
            ETag: '"x"',
            'X-Split': 'a\r\nSet-Cookie: evil=1',
            'X Name': 'x',
            'X-Object': {},
            'X-Long': 'x'.repeat(10_000),
          },
        })
      })
      const { status, headers } = await get('/fails/7')
      assert.deepEqual(
        [status, headers['retry-after'], headers['cache-control'], headers['set-cookie']],
        [429, '7', 'max-age=1', ['a=1', 'b=2']]
      )
      for (const dropped of [
        'content-encoding',
        'transfer-encoding',
        'etag',
        'x-split',
        'x name',
        'x-object',
        'x-long',
      ]) {
        assert.equal(headers[dropped], undefined, dropped)
      }
      assert.notEqual(headers.connection, 'upgrade')
    })

    it('answers whatever the headers of the error are, and keeps those that can be sent', async (t) => {
      const revoked = () => {
        const { proxy, revoke } = Proxy.revocable([], {})
        revoke()
        return proxy
      }
      const changing = new Proxy(['a'], {
        get: (target, key, receiver) => {
          const value = Reflect.get(target, key, receiver)
          if (key === '0') target[0] = 'b\r\nX-Evil: 1'
          return value
        },
      })
      const boom = () => {
        throw new Error('a getter')
      }
      const ok = { 'X-Ok': 'yes' }
      const hostile = {
        'is a revoked Proxy': revoked(),
        'are revoked Proxies': { ...ok, 'X-One': revoked(), 'X-Two': [revoked()] },
        'have a getter that throws': Object.defineProperty({ ...ok }, 'X-Boom', {
          get: boom,
          enumerable: true,
        }),
        'change while they are read': { ...ok, 'X-Changing': changing },
        'are too many': {
          ...ok,
          ...Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`x-${i}`, 'v'])),
        },
        'are too long': {
          'X-Long': 'v'.repeat(100_000),
          ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-${i}`, 'v'.repeat(4000)])),
          ...ok,
        },
        'are a list without end': {
          ...ok,
          'X-List': new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 53 : 'v') }),
        },
        'have names that are none': {
          ...ok,
          'bad name': 'v',
          '': 'v',
          ':status': 'v',
          ['n'.repeat(100_000)]: 'v',
        },
        'have values that are none': {
          ...ok,
          'X-A': 'a\nb',
          'X-B': Symbol('b'),
          'X-C': null,
          'X-D': () => 'd',
          'X-E': [[]],
        },
      }
      const { get } = await failing(t, (req) => {
        throw with_('x', { status: 429, headers: hostile[decodeURIComponent(req.url.split('/').at(-1))] })
      })
      for (const what of Object.keys(hostile)) {
        const answer = await get(`/fails/${encodeURIComponent(what)}`)
        assert.equal(answer.status, 429, what)
        assert.equal(answer.headers['x-ok'], what === 'is a revoked Proxy' ? undefined : 'yes', what)
        assert.equal(answer.headers['x-evil'], undefined, what)
        assert.ok(JSON.stringify(answer.headers).length < 14_000, what)
        if (what === 'change while they are read') assert.equal(answer.headers['x-changing'], 'a')
      }
    })

    it('keeps headers for any response, and removes headers of the response that failed', async (t) => {
      const { get } = await failing(t, (_req, res) => {
        res.statusMessage = 'All is well'
        for (const [field, value] of [
          ['Access-Control-Allow-Origin', '*'],
          ['Content-Security-Policy', "default-src 'none'"],
          ['X-Request-Id', '7'],
          ['Cache-Control', 'public, max-age=86400'],
          ['Content-Encoding', 'gzip'],
          ['Content-Disposition', 'attachment'],
          ['ETag', '"x"'],
          ['Transfer-Encoding', 'chunked'],
          ['Set-Cookie', 'a=b'],
          ['Vary', 'Origin'],
          ...GONE.map((each) => [each, 'x']),
        ]) {
          res.setHeader(field, value)
        }
        throw new Error('x')
      })
      const { headers, body } = await get('/fails/7')
      assert.deepEqual(
        [headers['access-control-allow-origin'], headers['content-security-policy'], headers['x-request-id']],
        ['*', "default-src 'none'", '7']
      )
      assert.deepEqual([headers['set-cookie'], headers.vary], [['a=b'], 'Origin'])
      assert.equal(headers['cache-control'], 'no-store')
      for (const gone of ['content-encoding', 'content-disposition', 'etag', 'transfer-encoding', ...GONE]) {
        assert.equal(headers[gone], undefined, gone)
      }
      assert.equal(JSON.parse(body).status, 500)
    })

    it('takes the status set on the response, but does not show the message because of it', async (t) => {
      const { get } = await failing(t, (_req, res) => {
        res.statusCode = 409
        throw new Error('secret')
      })
      const { status, body } = await get('/fails/7')
      assert.deepEqual([status, JSON.parse(body).detail], [409, undefined])
    })

    it('cuts off a response that has begun, so that its client detects the failure', async (t) => {
      const { port, spillway } = await failing(t, (_req, res) => {
        res.write('half')
        throw new Error('x')
      })
      const connection = await Connection.open(port)
      connection.send('GET /fails/7 HTTP/1.1\r\nHost: x\r\n\r\n')
      await connection.untilClosed()
      assert.match(connection.received, /^HTTP\/1\.1 200 OK\r\n/)
      assert.doesNotMatch(connection.received, /\r\n0\r\n/)
      const { errors, routes } = await ended(spillway, 1)
      assert.equal(errors[0].count, 1)
      assert.equal(routes[0].outcomes.errored, 1)
    })

    for (const error of [new Error('Request aborted'), AbortSignal.abort().reason]) {
      it(`counts an error that says '${error.message}' of a client that waits`, async (t) => {
        const { get, spillway } = await failing(t, (_req, _res, next) => next(error))
        assert.equal((await get('/fails/7')).status, 500)
        await ended(spillway, 1)
        assert.deepEqual(errorsOf(spillway), [[label, 500, error.name, 1]])
      })
    }

    it('leaves a whole response alone, and counts the error after it', async (t) => {
      const { get, spillway } = await failing(t, (_req, res, next) => {
        res.end('whole')
        next(new Error('after'))
      })
      const { status, body } = await get('/fails/7')
      assert.deepEqual([status, body], [200, 'whole'])
      await ended(spillway, 1)
      assert.deepEqual(errorsOf(spillway), [[label, 500, 'Error', 1]])
    })

    for (const [what, error, counted] of [
      ['counts an error of a handler', new Error('of ours'), [[label, 500, 'Error', 1]]],
      ['does not count what the connection says', with_('aborted', { code: 'ECONNRESET' }), []],
      ['does not count what multer and formidable say', new Error('Request aborted'), []],
      ['does not count what was given up for it', AbortSignal.abort().reason, []],
      ['does not count what axios gave up for it', with_('canceled', { code: 'ERR_CANCELED' }), []],
    ]) {
      it(`${what} whose client has left`, async (t) => {
        let connection
        const { port, spillway } = await failing(t, (_req, res, next) => {
          res.on('close', () => next(error))
          connection.destroy()
        })
        connection = await Connection.open(port)
        connection.send('GET /fails/7 HTTP/1.1\r\nHost: x\r\n\r\n')
        await ended(spillway, 1)
        while (spillway.snapshot().errors.length < counted.length)
          await new Promise((resolve) => setImmediate(resolve))
        assert.deepEqual(errorsOf(spillway), counted)
      })
    }

    it('reads the rest of a body, so that the connection is used again', async (t) => {
      const { port } = await failing(t, (req, _res, next) => {
        req.once('data', () => {
          req.pause()
          next(with_('too much', { status: 413, expose: true }))
        })
      })
      const connection = await Connection.open(port)
      connection.send(
        `POST /fails/7 HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(100_000)}`
      )
      await connection.until('"detail"')
      connection.send('x'.repeat(100_000), 'POST /fails/7 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx')
      await connection.until('"detail"', 2)
      connection.destroy()
    })

    it('is logged once, with its request, its route and the redacted headers', async (t) => {
      const { lines, logger } = listeningLogger()
      const { get } = await failing(
        t,
        () => {
          throw new TypeError('boom')
        },
        { logger }
      )
      await get('/fails/7?key=s3cret', { headers: { authorization: 'Bearer s3cret', 'x-request-id': 'r-1' } })
      assert.equal(lines.length, 1)
      const [{ level, message, err, req, route, status }] = lines
      assert.deepEqual([level, message], ['error', `spillway: GET ${label} failed with 500`])
      assert.deepEqual([err.type, err.message, route, status], ['TypeError', 'boom', label, 500])
      assert.deepEqual([req.id, req.headers.authorization], ['r-1', '[Redacted]'])
      assert.doesNotMatch(JSON.stringify(lines), /s3cret/)
    })

    it('counts an error object that is thrown for every request once for each', async (t) => {
      const always = new Error('always the same')
      const { get, spillway } = await failing(t, () => {
        throw always
      })
      for (let i = 0; i < 3; i++) await get('/fails/7')
      await ended(spillway, 3)
      assert.deepEqual(errorsOf(spillway), [[label, 500, 'Error', 3]])
    })

    it('without `errors.answer` counts and logs, and passes the error on to the next error handler', async (t) => {
      const { lines, logger } = listeningLogger()
      const spillway = spillwayFor(t, { errors: false, logger })
      const app = make().use(spillway.express())
      app.use(() => {
        throw new Error('x')
      })
      app.use(spillway.errorHandler()).use(spillway.errorHandler())
      app.use((error, _req, res, _next) => {
        res.statusCode = 418
        res.end(error.message)
      })
      const { get } = await serve(t, app)
      const { status, body } = await get('/')
      assert.deepEqual([status, body], [418, 'x'])
      await ended(spillway, 1)
      assert.equal(spillway.snapshot().errors[0].count, 1, 'once, by however many handlers')
      assert.equal(lines.length, 1)
    })

    it('answers the OverloadError of errorMode next with 503 and Retry-After, and counts and logs no error', async (t) => {
      const { lines, logger } = listeningLogger()
      const shed = { mode: 'threshold', maxConcurrent: 1, errorMode: 'next' }
      const spillway = spillwayFor(t, { shed, logger })
      let release
      let entered
      const held = new Promise((resolve) => (entered = resolve))
      const app = make().use(spillway.express())
      app.use((_req, res) => {
        release = () => res.end('ok')
        entered()
      })
      app.use(spillway.errorHandler())
      const { get } = await serve(t, app)
      const first = get('/')
      await held
      const { status, headers, body } = await get('/')
      release()
      await first
      assert.equal(status, 503)
      assert.match(headers['retry-after'], /^\d+$/)
      assert.deepEqual(JSON.parse(body), {
        type: 'about:blank',
        title: 'Service Unavailable',
        status: 503,
        detail: 'Overloaded. Try again later.',
      })
      assert.deepEqual(spillway.snapshot().errors, [])
      assert.deepEqual(
        lines.filter(({ event }) => event === 'error'),
        []
      )
    })

    it('throws with what to write if it is used elsewhere, or not called', (t) => {
      const spillway = spillwayFor(t)
      const misuse = { code: 'ERR_SPILLWAY_MISUSE' }
      assert.throws(() => spillway.errorHandler()({ req: {} }, () => {}), misuse)
      assert.throws(() => spillway.errorHandler({}, {}, {}, () => {}), misuse)
      assert.equal(spillway.errorHandler().length, 4, 'that is how Express knows an error handler')
    })

    it('records an error where there is no response, as in a resolver, and passes it on', (t) => {
      const { logger, lines } = listeningLogger()
      const spillway = spillwayFor(t, { logger })
      const passed = []
      const error = new Error('resolver failed')
      spillway.errorHandler()(
        error,
        /** @type {any} */ ({ method: 'POST', url: '/graphql', headers: {} }),
        undefined,
        (given) => passed.push(given)
      )
      assert.deepEqual(passed, [error])
      assert.equal(lines.filter(({ err }) => err?.message === 'resolver failed').length, 1)
      assert.deepEqual(
        spillway.snapshot().errors.map(({ type, count }) => [type, count]),
        [['Error', 1]]
      )
    })

    it('answers errors after close(), and without a middleware of spillway', async (t) => {
      const spillway = spillwayFor(t)
      const app = make()
      app.use(() => {
        throw with_('x', { status: 402 })
      })
      app.use(spillway.errorHandler())
      const { get } = await serve(t, app)
      assert.equal((await get('/')).status, 402)
      assert.deepEqual(errorsOf(spillway), [['(unmatched)', 402, 'Error', 1]])
      spillway.close()
      assert.equal((await get('/')).status, 402)
    })

    it('cuts the connection if the error response itself fails', async (t) => {
      const { port, spillway } = await failing(t, (_req, res) => {
        res.writeHead = () => {
          throw new Error('on-headers')
        }
        throw new Error('x')
      })
      const connection = await Connection.open(port)
      connection.send('GET /fails/7 HTTP/1.1\r\nHost: x\r\n\r\n')
      await connection.untilClosed()
      await ended(spillway, 1)
      assert.deepEqual(spillway.snapshot().internalErrors, { error_answer: 1 })
    })

    if (!isExpress) return

    it('counts under the route the request is counted under, folded and labelled alike', async (t) => {
      const spillway = spillwayFor(t, {
        routes: { max: 2, label: (req, _res, template) => (req.query.own ? 'own' : template) },
      })
      const app = make().set('env', 'test').use(spillway.express())
      const fail = () => {
        throw new RangeError('x')
      }
      const inner = make.Router({ mergeParams: true }).get('/orders/:id', fail)
      app.use('/users/:user', inner).get('/second', fail).get('/third', fail)
      app.use(spillway.errorHandler())
      const { get } = await serve(t, app)
      for (const path of ['/users/7/orders/9', '/second?own=1', '/third', '/second?own=1']) await get(path)
      const { routes } = await ended(spillway, 4)
      assert.deepEqual(errorsOf(spillway), [
        ['/users/:user/orders/:id', 500, 'RangeError', 1],
        ['own', 500, 'RangeError', 2],
        ['(other)', 500, 'RangeError', 1],
      ])
      for (const { route, count } of spillway.snapshot().errors) {
        const { outcomes } = routes.find((each) => each.route === route)
        assert.equal(outcomes.errored + outcomes.completed, count, route)
      }
    })

    it('answers what a body parser refuses, and a malformed URL, with 400, and shows no message of a parser', async (t) => {
      const spillway = spillwayFor(t)
      const app = make()
        .set('env', 'test')
        .use(spillway.express())
        .use(make.json({ limit: 10 }))
      app.post('/users/:id', (_req, res) => res.end())
      app.use(spillway.errorHandler())
      const { request } = await serve(t, app)
      const post = (path, body) =>
        request({ path, method: 'POST', headers: { 'content-type': 'application/json' } }, body)
      const answers = [
        await post('/users/7', '{bad'),
        await post('/users/7', `"${'x'.repeat(99)}"`),
        await post('/users/%ZZ', '[1]'),
      ]
      assert.deepEqual(
        answers.map(({ status }) => status),
        [400, 413, 400]
      )
      assert.deepEqual(
        answers.map(({ body }) => JSON.parse(body).detail),
        [undefined, 'request entity too large', undefined]
      )
      await ended(spillway, 3)
      assert.deepEqual(
        errorsOf(spillway).map(([, ...rest]) => rest),
        [
          [400, 'SyntaxError', 1],
          [413, 'PayloadTooLargeError', 1],
          [400, 'URIError', 1],
        ]
      )
    })

    it("takes next('route') and next('router') for the signals they are", async (t) => {
      const spillway = spillwayFor(t)
      const app = make().set('env', 'test').use(spillway.express())
      app.get(
        '/a',
        (_req, _res, next) => next('route'),
        () => assert.fail('passed over')
      )
      app.get('/a', (_req, res) => res.end('second'))
      const router = make.Router()
      router.get('/b', (_req, _res, next) => next('router'))
      router.get('/b', () => assert.fail('passed over'))
      app.use(router).get('/b', (_req, res) => res.end('after'))
      app.use(spillway.errorHandler())
      const { get } = await serve(t, app)
      assert.equal((await get('/a')).body, 'second')
      assert.equal((await get('/b')).body, 'after')
      assert.deepEqual(spillway.snapshot().errors, [])
    })
  })
}

describe('errorHandler() where NODE_ENV says development', () => {
  it('shows message and stack, and nowhere else', async (t) => {
    const before = process.env.NODE_ENV
    t.after(() => {
      if (before === undefined) delete process.env.NODE_ENV
      else process.env.NODE_ENV = before
    })
    for (const [env, isShown] of [
      ['development', true],
      ['production', false],
      ['', false],
    ]) {
      process.env.NODE_ENV = env
      const spillway = spillwayFor(t)
      const app = connect().use(() => {
        throw new Error('secret')
      })
      const { get } = await serve(t, app.use(spillway.errorHandler()))
      const { detail, stack } = JSON.parse((await get('/')).body)
      assert.deepEqual(
        [detail === 'secret', stack?.startsWith('Error: secret\n') ?? false],
        [isShown, isShown],
        env
      )
      const { body } = await get('/', { headers: { accept: 'text/plain' } })
      const [title, first, ...frames] = body.split('\n')
      assert.deepEqual(
        [title, first, frames.some((frame) => frame.includes(__filename))],
        isShown
          ? ['Internal Server Error: secret', 'Error: secret', true]
          : ['Internal Server Error', '', false],
        env
      )
    }
  })
})

describe('errorHandler() on a half-open connection', () => {
  it('answers a client that has half-closed its connection', async (t) => {
    const spillway = spillwayFor(t)
    const app = connect().use(spillway.express())
    app.use((_req, _res, next) => setImmediate(next, with_('x', { status: 400 })))
    const { port } = await serve(t, app.use(spillway.errorHandler()))
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const [data] = await once(socket, 'data')
    assert.match(String(data), /^HTTP\/1\.1 400 /)
    socket.destroy()
  })
})
