'use strict'
// What `koa()` makes of errors: the answers of `errorHandler()`, and to everybody who listens, Koa's own
// ways.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const path = require('node:path')
const { Readable } = require('node:stream')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const Router = require('@koa/router')
const { Connection } = require('../support/connection')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const runNode = (lines) =>
  promisify(execFile)(process.execPath, ['-e', lines], {
    cwd: path.join(__dirname, '..', '..'),
  })
const with_ = (message, properties) => Object.assign(new Error(message), properties)
const errorsOf = (spillway) =>
  spillway.snapshot().errors.map(({ route, status, type, count }) => [route, status, type, count])

for (const name of ['koa', 'koa-2']) {
  const Koa = require(name)

  it(`${name}: the end of an answer that a serverless adapter tells within end() is no error`, async (t) => {
    const spillway = spillwayFor(t)
    const app = new Koa().use(spillway.koa()).use((ctx) => {
      ctx.body = 'ok'
    })
    const write = (_piece, encoding, done = encoding) => typeof done === 'function' && done()
    const parts = { writable: true, _writableState: {}, cork() {}, uncork() {}, write }
    const socket = /** @type {any} */ (Object.assign(new EventEmitter(), parts))
    const req = Object.assign(new http.IncomingMessage(socket), { method: 'GET', url: '/a', complete: true })
    const res = new http.ServerResponse(req)
    res.assignSocket(socket)
    app.callback()(req, res)
    await ended(spillway, 1)
    assert.deepEqual(errorsOf(spillway), [])
  })

  /** An app that fails under `/users/:id`, and what its listener of errors was told. */
  const failing = async (t, fail, { options, before, setUp } = {}) => {
    const spillway = spillwayFor(t, options)
    const app = new Koa()
    const told = []
    app.on('error', (error, ctx) => told.push({ error, ctx }))
    setUp?.(app)
    if (before !== undefined) app.use(before)
    app.use(spillway.koa())
    app.use(new Router().all('/users/:id', fail).routes())
    return { spillway, app, told, ...(await serve(t, app.callback())) }
  }

  describe(`errors in koa() on ${name}`, () => {
    for (const [what, thrown, status, detail, type] of [
      ['an Error', new Error('secret'), 500, undefined, 'Error'],
      ['an Error of 404', with_('no user 7', { status: 404 }), 404, undefined, 'Error'],
      ['what ctx.throw throws', with_('no user 7', { status: 404, expose: true }), 404, 'no user 7', 'Error'],
      [
        'what co-body throws',
        Object.assign(new SyntaxError('Unexpected token } in JSON'), { status: 400, body: '}' }),
        400,
        undefined,
        'SyntaxError',
      ],
      ['a frozen Error', Object.freeze(new Error('secret')), 500, undefined, 'Error'],
      ['a string', 'secret', 500, undefined, 'string'],
      ['null', null, 500, undefined, 'null'],
      ['undefined', undefined, 500, undefined, 'undefined'],
    ]) {
      it(`answer a handler that throws ${what} with ${status}, and tell the app as Koa does`, async (t) => {
        const { spillway, told, get } = await failing(t, async () => {
          throw thrown
        })
        const { headers, body, ...answer } = await get('/users/7')
        assert.equal(answer.status, status)
        assert.equal(headers['content-type'], 'application/problem+json')
        assert.equal(JSON.parse(body).detail, detail)
        assert.equal(
          (await get('/users/7', { headers: { accept: 'text/plain' } })).headers['content-type'],
          'text/plain; charset=utf-8'
        )
        assert.equal((await get('/users/7', { method: 'HEAD' })).body, '')
        await ended(spillway, 3)
        assert.deepEqual(errorsOf(spillway), [['/users/:id', status, type, 3]])
        assert.equal(told.length, 3)
        if (thrown instanceof Error) assert.equal(told[0].error, thrown)
        else assert.match(told[0].error.message, /^non-error thrown: /)
        assert.equal(told[0].ctx.path, '/users/7')
        assert.deepEqual(spillway.snapshot().internalErrors, {})
      })
    }

    it('keep the headers of the error, and those of the application that describe no body', async (t) => {
      const { get } = await failing(t, (ctx) => {
        ctx.set({ 'Access-Control-Allow-Origin': '*', ETag: '"x"', 'Cache-Control': 'public' })
        ctx.set({ 'CDN-Cache-Control': 'max-age=600', 'Surrogate-Control': 'max-age=600', Location: '/z' })
        ctx.cookies.set('session', 'of a log-in that failed')
        ctx.throw(503, { headers: { 'Retry-After': '7', Link: '</help>; rel=help' } })
      })
      const { headers } = await get('/users/7')
      assert.equal(headers.link, '</help>; rel=help')
      for (const gone of ['cdn-cache-control', 'surrogate-control', 'location', 'set-cookie'])
        assert.equal(headers[gone], undefined, gone)
      assert.deepEqual(
        ['retry-after', 'access-control-allow-origin', 'etag', 'cache-control'].map(
          (field) => headers[field]
        ),
        ['7', '*', undefined, 'no-store']
      )
    })

    it("leave Koa's own log to Koa: it shows what it would show, once", async () => {
      const { stderr } = await runNode(`
        const Koa = require('${name}')
        const http = require('http')
        const spillway = require('spillway').createSpillway({ logger: false })
        const app = new Koa()
        app.use(spillway.koa())
        app.use((ctx) => ctx.throw(ctx.path === '/hidden' ? 404 : ctx.path === '/exposed' ? 400 : 500, 'boom ' + ctx.path))
        const server = http.createServer(app.callback()).listen(0, '127.0.0.1', async () => {
          for (const path of ['/shown', '/hidden', '/exposed'])
            await (await fetch('http://127.0.0.1:' + server.address().port + path)).text()
          server.close()
          server.closeAllConnections()
        })
      `)
      assert.equal(stderr.match(/InternalServerError: boom \/shown/g)?.length, 1, stderr)
      assert.doesNotMatch(stderr, /hidden|exposed/)
    })

    it('leave what a middleware further out catches to that', async (t) => {
      const { spillway, get, told } = await failing(
        t,
        () => {
          throw new Error('x')
        },
        {
          before: (ctx, next) =>
            next().catch((error) => {
              ctx.status = 418
              ctx.body = error.message
            }),
        }
      )
      const { status, body } = await get('/users/7')
      assert.deepEqual([status, body, told], [418, 'x', []])
      await ended(spillway, 1)
      assert.deepEqual(errorsOf(spillway), [])
    })

    it("count for an app.context.onerror of the application's own, and leave the answer to that", async (t) => {
      const { spillway, get } = await failing(
        t,
        () => {
          throw new Error('x')
        },
        {
          setUp: (app) => {
            app.context.onerror = function (error) {
              if (!error) return
              this.res.statusCode = 418
              this.res.end(error.message)
            }
          },
        }
      )
      const { status, body } = await get('/users/7')
      assert.deepEqual([status, body], [418, 'x'])
      await ended(spillway, 1)
      assert.deepEqual(errorsOf(spillway), [['/users/:id', 500, 'Error', 1]])
    })

    it('are counted, and answered by Koa, with `errors: false`', async (t) => {
      const options = { errors: false }
      const { spillway, get, told } = await failing(t, (ctx) => ctx.throw(400, 'theirs'), { options })
      const { headers, body } = await get('/users/7')
      assert.deepEqual(
        [headers['content-type'], body, told.length],
        ['text/plain; charset=utf-8', 'theirs', 1]
      )
      await ended(spillway, 1)
      assert.deepEqual(errorsOf(spillway), [['/users/:id', 400, 'BadRequestError', 1]])
    })

    it('are counted for both of two instances in one app, and answered once', async (t) => {
      const second = spillwayFor(t)
      const { spillway, get, told } = await failing(t, (ctx) => ctx.throw(400), { before: second.koa() })
      assert.equal((await get('/users/7')).status, 400)
      for (const each of [spillway, second]) {
        await ended(each, 1)
        assert.deepEqual(errorsOf(each), [['/users/:id', 400, 'BadRequestError', 1]])
      }
      assert.equal(told.length, 1)
    })

    it('are caught once in each of two apps with one middleware, however often they take turns', async (t) => {
      const spillway = spillwayFor(t)
      const [middleware, again] = [spillway.koa(), spillway.koa()]
      const gets = []
      for (let i = 0; i < 2; i++) {
        const app = new Koa()
        app.on('error', () => {})
        app.use(middleware).use(again)
        app.use(() => {
          throw 'a string, which is told from another only by the answer'
        })
        gets.push((await serve(t, app.callback())).get)
      }
      for (let i = 0; i < 6; i++) assert.equal((await gets[i % 2]('/')).status, 500)
      await ended(spillway, 6)
      assert.deepEqual(errorsOf(spillway), [['/', 500, 'string', 6]])
    })

    it('cut an answer that was begun, and say so to the app', async (t) => {
      const { port, spillway, told } = await failing(t, (ctx) => {
        ctx.respond = false
        ctx.res.write('half')
        throw new Error('x')
      })
      const connection = await Connection.open(port)
      connection.send('GET /users/7 HTTP/1.1\r\nHost: x\r\n\r\n')
      await connection.untilClosed()
      assert.doesNotMatch(connection.received, /\r\n0\r\n/)
      const { routes } = await ended(spillway, 1)
      assert.equal(routes[0].outcomes.errored, 1)
      assert.deepEqual(
        told.map(({ error }) => [error.message, error.headerSent]),
        [['x', true]]
      )
    })

    it('of a body that fails on the way cut it, and are counted once though Koa tells of them twice', async (t) => {
      const { port, spillway } = await failing(t, (ctx) => {
        ctx.body = Readable.from(
          (async function* () {
            yield 'half'
            await new Promise(setImmediate)
            throw new RangeError('disk')
          })(),
          { objectMode: false }
        )
      })
      const connection = await Connection.open(port)
      connection.send('GET /users/7 HTTP/1.1\r\nHost: x\r\n\r\n')
      await connection.untilClosed()
      await ended(spillway, 1)
      assert.deepEqual(errorsOf(spillway), [['/users/:id', 500, 'RangeError', 1]])
    })

    it('of a client that has left are none', async (t) => {
      let connection
      const { port, spillway } = await failing(t, (ctx) => {
        ctx.body = new Readable({ read() {} })
        ctx.body.push('begun')
        ctx.res.once('pipe', () => connection.reset())
      })
      connection = await Connection.open(port)
      connection.send('GET /users/7 HTTP/1.1\r\nHost: x\r\n\r\n')
      await ended(spillway, 1)
      assert.deepEqual(errorsOf(spillway), [])
    })

    it('of a listener of the app are survived, and the request is answered', async (t) => {
      const { spillway, get } = await failing(t, (ctx) => ctx.throw(400), {
        setUp: (app) =>
          app.on('error', () => {
            throw new Error('in the listener')
          }),
      })
      assert.equal((await get('/users/7')).status, 400)
      assert.deepEqual(spillway.snapshot().internalErrors, { "a listener of the app's error event": 1 })
    })

    it('after close() are left to Koa', async (t) => {
      const { spillway, get } = await failing(t, (ctx) => ctx.throw(400, 'theirs'))
      await get('/users/7')
      spillway.close()
      assert.equal((await get('/users/7')).body, 'theirs')
    })

    it('over HTTP/2 are none of a HEAD whose handler takes its time, unless null is thrown', async (t) => {
      const spillway = spillwayFor(t)
      const app = new Koa()
      app.silent = true
      app.use(spillway.koa())
      app.use(async (ctx) => {
        // Koa has been told by then that the answer has ended.
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
        if (ctx.path === '/null') throw null
        // Koa 2 leaves it to the handler: it takes the response for one that is not writable.
        ctx.respond = false
        ctx.res.writeHead(200).end()
      })
      const { port } = await serve(t, http2.createServer(app.callback()))
      const session = http2.connect(`http://127.0.0.1:${port}`)
      t.after(() => session.destroy())
      const head = async (path) => {
        const [headers] = await once(session.request({ ':path': path, ':method': 'HEAD' }), 'response')
        return headers[':status']
      }
      assert.deepEqual([await head('/'), await head('/null')], [200, 500])
      await ended(spillway, 2)
      assert.deepEqual(errorsOf(spillway), [['/', 500, 'null', 1]])
    })

    it('over HTTP/2 are answered alike, and an answer that was begun is reset', async (t) => {
      const spillway = spillwayFor(t)
      const app = new Koa()
      app.silent = true
      app.use(spillway.koa())
      app.use((ctx) => {
        if (ctx.path === '/half') {
          ctx.respond = false
          ctx.res.write('half')
        }
        ctx.throw(429, 'slowly', { headers: { 'Retry-After': '7', Connection: 'close', 'X-Split': 'a\nb' } })
      })
      const { port } = await serve(t, http2.createServer(app.callback()))
      const session = http2.connect(`http://127.0.0.1:${port}`)
      t.after(() => session.destroy())
      const whole = session.request({ ':path': '/' }).setEncoding('utf8')
      const [headers] = await once(whole, 'response')
      let text = ''
      for await (const piece of whole) text += piece
      assert.deepEqual(
        [headers[':status'], headers['retry-after'], headers['x-split']],
        [429, '7', undefined]
      )
      assert.equal(JSON.parse(text).detail, 'slowly')
      const half = session.request({ ':path': '/half' }).resume()
      half.on('error', () => {})
      await new Promise((resolve) => half.on('close', resolve))
      assert.equal(half.rstCode, http2.constants.NGHTTP2_INTERNAL_ERROR)
      const { routes, errors } = await ended(spillway, 2)
      const sum = (outcome) => routes.reduce((total, { outcomes }) => total + outcomes[outcome], 0)
      assert.deepEqual([sum('completed'), sum('errored')], [1, 1])
      assert.deepEqual(
        errors.map(({ status, count }) => [status, count]),
        [
          [429, 1],
          [429, 1],
        ]
      )
    })

    it('reach the answer of errorMode next as an OverloadError, which is no error of the application', async (t) => {
      const shed = { mode: 'threshold', maxConcurrent: 1, errorMode: 'next' }
      let release
      let entered
      const held = new Promise((resolve) => (entered = resolve))
      const fail = (ctx) => {
        ctx.body = 'ok'
        entered()
        return new Promise((resolve) => (release = resolve))
      }
      const { spillway, get } = await failing(t, fail, { options: { shed } })
      const first = get('/users/7')
      await held
      const { status, headers } = await get('/users/7')
      release()
      await first
      assert.equal(status, 503)
      assert.match(headers['retry-after'], /^\d+$/)
      assert.deepEqual(errorsOf(spillway), [])
    })
  })
}
