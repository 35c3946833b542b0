'use strict'
// The paths we answer ourselves, and only those.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const client = require('prom-client')
const { Endpoints, streamHandler } = require('../../src/core/http/endpoints')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { serve } = require('../support/serve')
const { Sink } = require('../support/sink')
const { spillwayFor } = require('../support/spillway')

const JSON_TYPE = 'application/json; charset=utf-8'
const ELSEWHERE = 'the application'
const FRAMEWORKS = {
  wrap: (spillway) => spillway.wrap((_req, res) => res.end(ELSEWHERE)),
  attach: (spillway) => spillway.attach(http.createServer((_req, res) => res.end(ELSEWHERE))),
  'express()': (spillway) =>
    express()
      .use(spillway.express())
      .use((_req, res) => res.end(ELSEWHERE)),
  'koa()': (spillway) => {
    const app = new Koa().use(spillway.koa())
    return app.use((ctx) => (ctx.body = ELSEWHERE)).callback()
  },
}

for (const [way, build] of Object.entries(FRAMEWORKS)) {
  test(`${way}: each endpoint answers GET and HEAD without caching`, async (t) => {
    const { get } = await serve(t, build(spillwayFor(t)))
    for (const path of ['/metrics', '/livez', '/readyz', '/livez?verbose=1', '/metrics?', '/readyz?a=b?c']) {
      const full = await get(path)
      assert.equal(full.status, 200, path)
      assert.equal(full.headers['cache-control'], 'no-store')
      assert.notEqual(full.body, ELSEWHERE)
      assert.notEqual(full.body, '')
      const head = await get(path, { method: 'HEAD' })
      assert.equal(head.status, 200)
      assert.equal(head.body, '')
      assert.equal(head.headers['content-type'], full.headers['content-type'])
      assert.equal(head.headers['content-length'], full.headers['content-length'])
    }
  })

  test(`${way}: any other method gets 405 with the allowed methods`, async (t) => {
    const { request } = await serve(t, build(spillwayFor(t)))
    for (const path of ['/metrics', '/livez', '/readyz']) {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
        const { status, headers, body } = await request({ path, method })
        assert.equal(status, 405, `${method} ${path}`)
        assert.equal(headers.allow, 'GET, HEAD')
        assert.equal(headers['cache-control'], 'no-store')
        assert.equal(body, '')
      }
    }
  })

  test(`${way}: a URL that resembles an endpoint goes to the application`, async (t) => {
    const { get, request } = await serve(t, build(spillwayFor(t)))
    for (const path of [
      '/',
      '/m',
      '/metric',
      '/metricsx',
      '/metrics/',
      '/metrics/x',
      '/x/metrics',
      '/METRICS',
      '/%6detrics',
    ]) {
      assert.equal((await get(path)).body, ELSEWHERE, path)
    }
    assert.notEqual((await request({ path: '*', method: 'OPTIONS' })).status, 405)
  })

  test(`${way}: a request for an endpoint is not measured`, async (t) => {
    const spillway = spillwayFor(t)
    const { get } = await serve(t, build(spillway))
    for (const path of ['/metrics', '/livez', '/readyz']) await get(path)
    await get('/metrics', { method: 'POST' })
    assert.deepEqual(spillway.snapshot().routes, [])
    assert.equal(spillway.snapshot().requests.inFlight, 0)
  })

  test(`${way}: paths can be changed, and each endpoint disabled`, async (t) => {
    const endpoints = { metrics: '/internal/metrics', live: '/a', ready: false }
    const { get } = await serve(t, build(spillwayFor(t, { endpoints })))
    assert.match((await get('/internal/metrics?x')).body, /# TYPE spillway_requests_total counter/)
    assert.deepEqual(JSON.parse((await get('/a')).body), { status: 'ok' })
    for (const path of ['/metrics', '/livez', '/readyz', '/internal', '/b']) {
      assert.equal((await get(path)).body, ELSEWHERE, path)
    }
  })
}

test('with all endpoints disabled nothing is answered', () => {
  const endpoints = new Endpoints({ metrics: false, live: false }, {})
  for (const url of ['/metrics', '/', '', '*']) assert.equal(endpoints.serve({ url }, {}), false)
})

test('liveness and readiness are JSON with a length', async (t) => {
  const { get } = await serve(
    t,
    spillwayFor(t).wrap(() => {})
  )
  for (const path of ['/livez', '/readyz']) {
    const { headers, body } = await get(path)
    assert.equal(headers['content-type'], JSON_TYPE)
    assert.equal(headers['content-length'], String(body.length))
    assert.deepEqual(JSON.parse(body), { status: 'ok' })
  }
})

for (const [way, build] of Object.entries(FRAMEWORKS)) {
  test(`${way}: readiness waits for the checks, liveness runs none`, async (t) => {
    const spillway = spillwayFor(t)
    let isUp = true
    spillway.health.check('database', async () => isUp, { cache: 0 })
    spillway.health.check('queue', () => {}, { cache: 0 })
    const { get } = await serve(t, build(spillway))
    const ready = await get('/readyz')
    assert.equal(ready.status, 200)
    assert.deepEqual(JSON.parse(ready.body), { status: 'ok', checks: { database: 'ok', queue: 'ok' } })
    isUp = false
    const unready = await get('/readyz')
    assert.equal(unready.status, 503)
    assert.equal(unready.headers['cache-control'], 'no-store')
    assert.deepEqual(JSON.parse(unready.body), {
      status: 'unavailable',
      reason: 'check',
      checks: { database: 'failed', queue: 'ok' },
    })
    const head = await get('/readyz', { method: 'HEAD' })
    assert.deepEqual(
      [head.status, head.body, head.headers['content-length']],
      [503, '', String(unready.body.length)]
    )
    assert.equal((await get('/readyz', { method: 'POST' })).status, 405)
    assert.equal((await get('/livez')).status, 200)
  })
}

test('a client that accepts application/health+json gets it', async (t) => {
  const spillway = spillwayFor(t)
  const { get } = await serve(
    t,
    spillway.wrap(() => {})
  )
  const ask = (path) => get(path, { headers: { Accept: 'text/html, application/health+json;q=0.9' } })
  const live = await ask('/livez')
  assert.equal(live.headers['content-type'], 'application/health+json')
  assert.deepEqual(JSON.parse(live.body), { status: 'pass' })
  spillway.health.check('database', () => false)
  spillway.health.check('queue', () => true)
  const { status, body } = await ask('/readyz')
  assert.equal(status, 503)
  assert.deepEqual(JSON.parse(body), {
    status: 'fail',
    output: 'check',
    checks: { database: [{ status: 'fail', output: 'failed' }], queue: [{ status: 'pass' }] },
  })
  assert.equal((await get('/readyz', { headers: { Accept: '*/*' } })).headers['content-type'], JSON_TYPE)
})

test('with manual readiness: 503 until ready()', async (t) => {
  const spillway = spillwayFor(t, { health: { manual: true } })
  const { get } = await serve(
    t,
    spillway.wrap(() => {})
  )
  const { status, body } = await get('/readyz')
  assert.deepEqual([status, JSON.parse(body)], [503, { status: 'unavailable', reason: 'starting' }])
  spillway.ready()
  assert.equal((await get('/readyz')).status, 200)
})

test('a probe that disconnects before the checks end does no harm', async (t) => {
  const spillway = spillwayFor(t)
  let asked
  const isAsked = new Promise((resolve) => (asked = resolve))
  let answer
  spillway.health.check('database', () => {
    asked()
    return new Promise((resolve) => (answer = resolve))
  })
  const { port, get } = await serve(
    t,
    spillway.wrap(() => {})
  )
  const req = http.get({ port, host: '127.0.0.1', path: '/readyz', agent: false }).on('error', () => {})
  await isAsked
  req.destroy()
  await new Promise((resolve) => req.on('close', resolve))
  answer(true)
  assert.equal((await get('/readyz')).status, 200)
})

for (const name of ['ready', 'metrics']) {
  test(`${name}: a response that a framework or a timeout has sent meanwhile is left alone`, async (t) => {
    const registry = new client.Registry()
    const spillway = spillwayFor(t, { registry })
    let answer
    const answered = new Promise((resolve) => (answer = resolve))
    spillway.health.check('database', () => answered)
    new client.Gauge({ name: 'slow', help: 'slow', registers: [registry], collect: () => answered })
    // Without `ctx.respond = false` Koa answers as soon as this has returned.
    const app = new Koa().use(({ req, res }) =>
      spillway.handler(req.url === '/live' ? 'live' : name)(req, res)
    )
    const { get } = await serve(t, app.callback())
    await get('/')
    answer()
    await get('/live')
    assert.deepEqual(spillway.snapshot().internalErrors, {})
  })
}

test('a health response that cannot be written is counted and destroyed', async (t) => {
  const spillway = spillwayFor(t)
  spillway.health.check('database', async () => true)
  const { get } = await serve(t, (req, res) => {
    // As where a listener for the head of the answer fails.
    res.writeHead = () => {
      throw new Error('as it should')
    }
    spillway.handler('ready')(req, res)
  })
  await assert.rejects(get('/'), { code: 'ECONNRESET' })
  assert.deepEqual(spillway.snapshot().internalErrors, { ready: 1 })
})

test('a handler can be mounted anywhere', async (t) => {
  const spillway = spillwayFor(t, { endpoints: { metrics: false, live: false, ready: false } })
  const app = express().all('/internal/:what', (req, res) => spillway.handler(req.params.what)(req, res))
  const { get } = await serve(t, app)
  assert.match((await get('/internal/metrics')).body, /# TYPE spillway_requests_total counter/)
  assert.equal((await get('/internal/live')).status, 200)
  assert.equal((await get('/internal/live', { method: 'PUT' })).status, 405)
})

test('a failing exporter is counted and its response destroyed, so that a partial scrape is not taken as complete', async (t) => {
  const internalErrors = new InternalErrors({ error() {} })
  const exporter = {
    formatFor: () => ({ contentType: 'text/plain' }),
    async write(res) {
      res.write('half of it')
      throw new Error('as it should')
    },
  }
  const { port } = await serve(t, streamHandler({ value: exporter }, internalErrors))
  const req = http.get({ port, host: '127.0.0.1', agent: false })
  const [res] = await once(req, 'response')
  await assert.rejects(res.toArray(), { code: 'ECONNRESET' })
  assert.deepEqual(internalErrors.list(), [['metrics', 1]])
})

test('HEAD does not call the exporter', () => {
  const exporter = { formatFor: () => ({ contentType: 'text/plain' }), write: () => assert.fail('asked') }
  const sink = new Sink()
  streamHandler({ value: exporter }, new InternalErrors({ error() {} }))(
    { method: 'HEAD', headers: {} },
    sink
  )
  assert.equal(sink.status, 200)
  assert.deepEqual(sink.headers, {
    'Content-Type': 'text/plain',
    'Cache-Control': 'no-store',
    Vary: 'Accept',
  })
})
