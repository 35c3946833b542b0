'use strict'
// The server's span of OpenTelemetry's own instrumentation, in front of us and behind: the route is exact,
// the wait in the queue is told, an error is on it and not on a span of a handler.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { collected, startInstrumentation } = require('../support/telemetry')

const { reader, serverSpans } = startInstrumentation()

const http = require('node:http')
const { SpanKind, context, createContextKey, trace } = require('@opentelemetry/api')
const express = require('express')
const express4 = require('express-4')
const Koa = require('koa')
const { Router } = require('@koa/router')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA')

const boom = () => {
  throw new TypeError('boom')
}

function expressApp(make, spillway, isMiddleware) {
  const app = make()
  const router = make.Router()
  if (isMiddleware) app.use(spillway.express())
  router.get('/users/:id', (_req, res) => res.json({}))
  router.get('/boom', boom)
  // Who has only looked at it is not its route.
  app.get('/passed/:on', (_req, _res, next) => next())
  app.use('/api', router)
  app.use(spillway.errorHandler())
  return app
}

function koaApp(spillway) {
  const app = new Koa()
  const router = new Router({ prefix: '/api' })
  app.silent = true
  app.use(spillway.koa())
  router.get('/users/:id', (ctx) => {
    ctx.body = {}
  })
  router.get('/boom', boom)
  app.use(router.routes())
  return app.callback()
}

const APPS = {
  'Express 5, express()': (spillway) => expressApp(express, spillway, true),
  'Express 5, attach': (spillway) => expressApp(express, spillway, false),
  'Express 4, express()': (spillway) => expressApp(express4, spillway, true),
  'Express 4, attach': (spillway) => expressApp(express4, spillway, false),
  'Koa, koa()': koaApp,
  'Koa, koa() and attach': koaApp,
}

for (const [what, appOf] of Object.entries(APPS)) {
  test(`${what}: the server's span has the route exactly, and so has its name`, async (t) => {
    const spillway = spillwayFor(t)
    const server = http.createServer(appOf(spillway))
    if (what.includes('attach')) spillway.attach(server)
    const { get } = await serve(t, server)
    // The first request of a server is met elsewhere than those after it.
    for (const path of ['/api/users/1', '/api/users/2', '/api/boom', '/passed/1', '/nowhere']) await get(path)
    const spans = await serverSpans(5)
    assert.deepEqual(
      spans.map(({ name, attributes }) => [name, attributes['http.route']]),
      [
        ['GET /api/users/:id', '/api/users/:id'],
        ['GET /api/users/:id', '/api/users/:id'],
        ['GET /api/boom', '/api/boom'],
        ['GET', undefined],
        ['GET', undefined],
      ]
    )
    const [event] = spans[2].events
    assert.deepEqual([event?.name, event?.attributes?.['exception.type']], ['exception', 'TypeError'])
    assert.ok(spans.every(({ attributes }) => !('spillway.queue.wait' in attributes)))
    assert.deepEqual(spillway.snapshot().internalErrors, {})
  })
}

test("instrumentation-http's own histogram has our route", async () => {
  const [duration] = await collected(reader, /instrumentation-http/)
  assert.equal(duration.descriptor.name, 'http.server.request.duration')
  const routes = new Set(duration.dataPoints.map(({ attributes }) => attributes['http.route']))
  assert.deepEqual(routes, new Set(['/api/users/:id', '/api/boom', undefined]))
})

for (const way of ['attach', 'express()']) {
  test(`${way}: a request that waited in the queue tells how long, in seconds, and runs in its own span`, async (t) => {
    const spillway = spillwayFor(t, { shed: { maxConcurrent: 1 } })
    const app = express()
    if (way === 'express()') app.use(spillway.express())
    let goOn = () => {}
    const inSpan = []
    app.get('/slow', (_req, res) => (goOn = () => res.end()))
    app.get('/waits', (_req, res) => {
      inSpan.push(trace.getSpan(context.active()).spanContext().traceId)
      res.end()
    })
    const server = http.createServer(app)
    if (way === 'attach') spillway.attach(server)
    const { get } = await serve(t, server)
    await get('/nowhere')
    const slow = get('/slow')
    while (spillway.snapshot().admission.inFlight < 1) await new Promise((resolve) => setImmediate(resolve))
    const waits = get('/waits')
    while (spillway.snapshot().admission.queued < 1) await new Promise((resolve) => setImmediate(resolve))
    goOn()
    assert.deepEqual([(await slow).status, (await waits).status], [200, 200])
    const spans = await serverSpans(3)
    const span = spans.find(({ attributes }) => attributes['http.route'] === '/waits')
    assert.deepEqual(inSpan, [span.spanContext().traceId])
    const wait = span.attributes['spillway.queue.wait']
    assert.ok(wait > 0 && wait < 10, String(wait))
  })
}

for (const [name, make] of Object.entries({ 'Express 5': express, 'Express 4': express4 })) {
  test(`${name}, express(): what is turned away has its span, and Express has not seen it, instrumented or not`, async (t) => {
    const spillway = spillwayFor(t, { shed: { mode: 'threshold', maxConcurrent: 1 } })
    const app = make()
    app.use(spillway.express())
    let goOn = () => {}
    app.get('/slow', (_req, res) => (goOn = () => res.end()))
    const { get } = await serve(t, app)
    assert.equal((await get('/nowhere')).headers['x-powered-by'], 'Express')
    const slow = get('/slow')
    while (spillway.snapshot().admission.inFlight < 1) await new Promise((resolve) => setImmediate(resolve))
    const { status, headers } = await get('/refused')
    goOn()
    await slow
    assert.deepEqual([status, headers['x-powered-by']], [503, undefined])
    const spans = await serverSpans(3)
    const statuses = spans.map(
      ({ attributes }) => attributes['http.response.status_code'] ?? attributes['http.status_code']
    )
    assert.deepEqual(statuses.sort(), [200, 404, 503])
    assert.deepEqual(
      spans
        .map(({ attributes }) => [attributes['error.type'], attributes['spillway.shed.reason']])
        .filter(([type]) => type !== undefined),
      [['shed', 'concurrency']]
    )
  })
}

test('an error has its type on the span, as in the metrics', async (t) => {
  const spillway = spillwayFor(t, { errors: { timeout: 20 } })
  const app = express().use(spillway.express())
  app.get('/ok', (_req, res) => res.end())
  app.get('/down', (_req, res) => res.status(502).end())
  app.get('/late', () => {})
  app.get('/cut', (_req, res) => res.write('half', () => res.destroy()))
  const { get } = await serve(t, app)
  for (const path of ['/ok', '/down', '/late']) await get(path)
  await assert.rejects(get('/cut'))
  const spans = await serverSpans(4)
  assert.deepEqual(
    spans.map(({ attributes }) => [attributes['http.route'], attributes['error.type']]),
    [
      ['/ok', undefined],
      ['/down', '502'],
      ['/late', 'timeout'],
      ['/cut', 'cut_off'],
    ]
  )
})

test('a client that disconnects before the response: the span still gets the route', async (t) => {
  const spillway = spillwayFor(t)
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (req) => req.socket.destroy())
  const { get } = await serve(t, app)
  for (let i = 0; i < 2; i++) await assert.rejects(get('/users/1'))
  const spans = await serverSpans(2)
  assert.deepEqual(
    spans.map(({ attributes }) => attributes['http.route']),
    ['/users/:id', '/users/:id']
  )
})

const tracer = () => trace.getTracer('by hand')

test('a span made by hand gets the route, if it is of kind SERVER and has not ended', async (t) => {
  // A label, for instrumentation of a framework would put a span of its own around the handler.
  const spillway = spillwayFor(t, { routes: { label: () => '/:kind' } })
  const put = []
  const kinds = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL, ended: SpanKind.SERVER }
  const server = http.createServer((req, res) => {
    const kind = req.url.slice(1)
    // Not within instrumentation-http's.
    context.with(trace.deleteSpan(context.active()).deleteValue(RPC_METADATA), () =>
      tracer().startActiveSpan('own', { kind: kinds[kind] }, (span) => {
        if (kind === 'ended') span.end()
        const setAttribute = span.setAttribute.bind(span)
        span.setAttribute = (name, value) => {
          put.push([kind, name, value])
          return setAttribute(name, value)
        }
        res.on('close', () => span.isRecording() && span.end())
        res.end()
      })
    )
  })
  const { get } = await serve(t, spillway.attach(server))
  for (const kind of Object.keys(kinds)) await get(`/${kind}`)
  // Two of ours, three of instrumentation-http.
  await serverSpans(5)
  assert.deepEqual(
    put.filter(([, name]) => name === 'http.route'),
    [['server', 'http.route', '/:kind']]
  )
})

test('a span that throws is an internal error, and the request is counted', async (t) => {
  const spillway = spillwayFor(t)
  const app = express()
  app.use(spillway.express())
  app.get('/', (_req, res) => {
    const set = () => {
      throw new Error('of the SDK')
    }
    Object.defineProperty(context.active().getValue(RPC_METADATA), 'route', { get: () => undefined, set })
    res.end()
  })
  const { get } = await serve(t, app)
  await get('/')
  await serverSpans(1)
  assert.deepEqual(spillway.snapshot().internalErrors, { tracing: 1 })
  assert.equal(spillway.snapshot().routes[0].outcomes.completed, 1)
})
