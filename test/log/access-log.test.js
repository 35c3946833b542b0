'use strict'
// A line a request, in pino-http's shape, through a real pino.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { describe, it } = require('node:test')
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks')
const { ROOT_CONTEXT, context, trace } = require('@opentelemetry/api')
const { BasicTracerProvider } = require('@opentelemetry/sdk-trace-base')
const Router = require('@koa/router')
const { stdSerializers } = require('pino')
const { Connection } = require('../support/connection')
const { pinoWithLines } = require('../support/lines')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const INFO = 30
const WARN = 40
const ERROR = 50

function logging(t, options) {
  const { lines, logger } = pinoWithLines({ base: null })
  const spillway = spillwayFor(t, { logger, log: { access: true }, ...options })
  return { lines, spillway }
}

/** What is asked of the application, and what the line has of it. */
const ENDINGS = [
  ['/users/7?token=s3cret', { statusCode: 200 }, INFO, 'request completed', '/users/:id', '/users/7'],
  ['/nowhere', { statusCode: 404 }, WARN, 'request completed', '(unmatched)', '/nowhere'],
  ['/refuses', { statusCode: 400 }, WARN, 'request completed', '/refuses', '/refuses'],
  ['/fails', { statusCode: 500 }, ERROR, 'request errored', '/fails', '/fails'],
]

const expressApp = (module) => (spillway) => {
  const app = require(module)()
  app.set('env', 'test')
  app.use(spillway.express())
  app.get('/users/:id', (_req, res) => res.cookie('session', 's3cret').json({}))
  app.get('/refuses', (_req, res) => res.status(400).end())
  app.get('/fails', (_req, res) => res.status(500).end())
  app.use(spillway.errorHandler())
  return app
}

const koaApp = (module) => (spillway) => {
  const router = new Router()
  router.get('/users/:id', (ctx) => {
    ctx.cookies.set('session', 's3cret')
    ctx.body = {}
  })
  router.get('/refuses', (ctx) => {
    ctx.status = 400
  })
  router.get('/fails', (ctx) => {
    ctx.status = 500
  })
  return new (require(module))().use(spillway.koa()).use(router.routes()).callback()
}

const APPS = {
  'Express 4': expressApp('express-4'),
  'Express 5': expressApp('express'),
  'Koa 2': koaApp('koa-2'),
  'Koa 3': koaApp('koa'),
}

for (const [name, appWith] of Object.entries(APPS)) {
  describe(`the access log of ${name}`, () => {
    for (const [path, res, level, msg, route, url] of ENDINGS) {
      it(`says of ${path} ${msg} at level ${level}`, async (t) => {
        const { lines, spillway } = logging(t)
        const { get, port } = await serve(t, appWith(spillway))
        await get(path, { headers: { cookie: 'a=s3cret', authorization: 's3cret', 'x-request-id': 'r-1' } })
        await ended(spillway, 1)
        assert.equal(lines.length, 1)
        const [{ time, req, res: answer, responseTime, ...line }] = lines
        assert.deepEqual(line, { level, component: 'spillway', route, msg })
        assert.ok(responseTime > 0)
        assert.equal(answer.statusCode, res.statusCode)
        assert.equal(req.remoteAddress, '127.0.0.1')
        assert.ok(req.remotePort > 0)
        assert.deepEqual([req.id, req.method, req.url], ['r-1', 'GET', url])
        const isBrief = level === INFO
        const all = {
          cookie: '[Redacted]',
          authorization: '[Redacted]',
          'x-request-id': 'r-1',
          connection: 'close',
        }
        assert.deepEqual(req.headers, { host: `127.0.0.1:${port}`, ...(!isBrief && all) })
        assert.doesNotMatch(JSON.stringify(lines), /s3cret/)
        if (isBrief) {
          assert.deepEqual(Object.keys(answer.headers), ['content-type', 'content-length'])
          assert.match(answer.headers['content-type'], /^application\/json/)
        }
      })
    }
  })
}

describe('the access log', () => {
  it('is off by default', async (t) => {
    const { lines, spillway } = logging(t, { log: {} })
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => res.end())
    )
    await get('/')
    await ended(spillway, 1)
    assert.deepEqual(lines, [])
  })

  it('logs a disconnected client as aborted, without a status if none was sent', async (t) => {
    const { lines, spillway } = logging(t)
    let entered
    const isIn = new Promise((resolve) => {
      entered = resolve
    })
    const { port } = await serve(
      t,
      spillway.wrap(() => entered())
    )
    const connection = await Connection.open(port)
    connection.send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await isIn
    connection.destroy()
    await ended(spillway, 1)
    assert.deepEqual(
      lines.map(({ level, msg, req, res }) => [level, msg, req.url, res]),
      [[WARN, 'request aborted', '/slow', { statusCode: null }]]
    )
  })

  it('logs a response that the server cut off as errored, whatever its status', async (t) => {
    const { lines, spillway } = logging(t)
    const { port } = await serve(
      t,
      spillway.wrap((_req, res) => {
        res.write('half')
        res.destroy()
      })
    )
    const connection = await Connection.open(port)
    connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await ended(spillway, 1)
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [[ERROR, 'request errored']]
    )
  })

  it('has a line for each of several requests of a connection, and none for the endpoints', async (t) => {
    const { lines, spillway } = logging(t)
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => res.end())
    )
    for (const path of ['/a', '/metrics', '/livez', '/readyz', '/b']) await get(path)
    await ended(spillway, 2)
    assert.deepEqual(
      lines.map(({ req }) => req.url),
      ['/a', '/b']
    )
  })

  it('respects the level of the logger', async (t) => {
    const { lines, logger } = pinoWithLines({ level: 'warn' })
    const spillway = spillwayFor(t, { logger, log: { access: true } })
    const { get } = await serve(
      t,
      spillway.wrap((req, res) => {
        res.statusCode = Number(req.url.slice(1))
        res.end()
      })
    )
    for (const status of [200, 404, 500]) await get(`/${status}`)
    await ended(spillway, 3)
    assert.deepEqual(
      lines.map(({ res }) => res.statusCode),
      [404, 500]
    )
  })

  it('is brief for successful requests, except for configured headers', async (t) => {
    const { lines, spillway } = logging(t, { log: { access: true, headers: ['X-Tenant', 'X-Served-By'] } })
    const { get } = await serve(
      t,
      spillway.wrap((req, res) => {
        res.setHeader('X-Served-By', 'b')
        res.statusCode = Number(req.url.slice(1))
        res.end()
      })
    )
    const headers = { 'x-tenant': 'a', 'user-agent': 'u'.repeat(999), accept: '*/*' }
    for (const status of [200, 404]) await get(`/${status}`, { headers })
    await ended(spillway, 2)
    const [well, unwell] = lines
    assert.deepEqual(Object.keys(well.req.headers), ['host', 'user-agent', 'x-tenant'])
    assert.equal(well.req.headers['user-agent'].length, 256)
    assert.equal(well.res.headers['x-served-by'], 'b')
    assert.deepEqual([unwell.req.headers.accept, unwell.req.headers['x-tenant']], ['*/*', 'a'])
    assert.equal(unwell.res.headers['x-served-by'], 'b')
  })

  it('is not affected by serializers of the logger for whole requests', async (t) => {
    const { lines, logger } = pinoWithLines({ serializers: stdSerializers })
    const spillway = spillwayFor(t, { logger, log: { access: true } })
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => res.end())
    )
    await get('/a?token=s3cret')
    await ended(spillway, 1)
    const [{ req, res }] = lines
    assert.deepEqual([req.url, req.remoteAddress, res.statusCode], ['/a', '127.0.0.1', 200])
  })

  it('shows the path of a request over HTTP/2', async (t) => {
    const { lines, spillway } = logging(t)
    const { port } = await serve(t, http2.createServer(spillway.wrap((_req, res) => res.end('ok'))))
    const session = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => session.close())
    const stream = session.request({ ':path': '/a?token=s3cret' })
    stream.resume()
    await once(stream, 'close')
    await ended(spillway, 1)
    assert.deepEqual([lines[0].req.url, lines[0].res.statusCode], ['/a', 200])
    assert.doesNotMatch(JSON.stringify(lines), /s3cret/)
  })

  it('has a limited number of lines for rejected requests, with the count of those left out', async (t) => {
    const { lines, spillway } = logging(t, { shed: { mode: 'threshold', maxConcurrent: 1 } })
    const held = []
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => held.push(res))
    )
    const first = get('/first')
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const answers = Promise.all(Array.from({ length: 60 }, () => get('/more')))
    // One in a hundred milliseconds gets in whatever the rules say.
    while (shedOf(spillway) + held.length < 61) await new Promise((resolve) => setImmediate(resolve))
    for (const res of held) res.end()
    await Promise.all([first, answers])
    await ended(spillway, held.length)
    const rejected = lines.filter(({ msg }) => msg === 'request rejected')
    assert.ok(rejected.length >= 10 && rejected.length < 20, `${rejected.length} lines`)
    const [{ level, res, req, route, reason, priority, value, bound }] = rejected
    assert.deepEqual([level, res.statusCode, req.url, route], [WARN, 503, '/more', undefined])
    assert.deepEqual([reason, value, bound, priority], ['concurrency', 1, 1, 'normal'])
    assert.equal(lines.filter(({ msg }) => msg === 'request completed').length, held.length)
  })

  it('says how long a rejected request was queued, and nothing of one rejected on arrival', async (t) => {
    const deadlines = { '/queued': 20, '/late': 0 }
    const { lines, spillway } = logging(t, {
      shed: { maxConcurrent: 1 },
      deadline: { of: ({ url }) => deadlines[url] },
    })
    let held
    const arrived = new Promise((resolve) => {
      held = resolve
    })
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => held(res))
    )
    const first = get('/first')
    const res = await arrived
    await get('/queued')
    await get('/late')
    res.end()
    await first
    await ended(spillway, 1)
    const [queued, late] = lines.filter(({ msg }) => msg === 'request rejected')
    assert.deepEqual([queued.reason, late.reason], ['deadline', 'age'])
    assert.deepEqual([queued.bound, late.value, late.bound], [20, 0, 0])
    assert.ok(queued.value >= 20, `${queued.value} ms`)
    assert.ok(queued.queueMs >= 20, `${queued.queueMs} ms`)
    assert.equal(late.queueMs, undefined)
  })

  it('carries the ids of the span in force', async (t) => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    t.after(() => context.disable())
    const { lines, spillway } = logging(t)
    const tracer = new BasicTracerProvider().getTracer('test')
    let span
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => {
        span = tracer.startSpan('request')
        context.with(trace.setSpan(ROOT_CONTEXT, span), () => setImmediate(() => res.end()))
      })
    )
    await get('/')
    await ended(spillway, 1)
    const { traceId, spanId } = span.spanContext()
    const { trace_id, span_id, trace_flags } = lines[0]
    assert.deepEqual([trace_id, span_id, trace_flags], [traceId, spanId, '01'])
  })
})

const shedOf = (spillway) => spillway.snapshot().admission.shed.reduce((sum, { count }) => sum + count, 0)
