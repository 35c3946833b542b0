'use strict'
// Who is answered on the endpoints of the application's port, by a function of the user's. Whom it refuses is
// a request of the application's like any other.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { REFUSE, holdingServer } = require('../gate/holding-server')

const ELSEWHERE = 'the application'
const PATHS = { metrics: '/metrics', live: '/livez', ready: '/readyz' }
const answer = (_req, res) => res.end(ELSEWHERE)
const FRAMEWORKS = {
  wrap: (spillway) => spillway.wrap(answer),
  attach: (spillway) => spillway.attach(http.createServer(answer)),
  'express()': (spillway) => express().use(spillway.express()).use(answer),
  'express() in a router': (spillway) => express().use('/', express.Router().use(spillway.express()), answer),
  'koa()': (spillway) =>
    new Koa()
      .use(spillway.koa())
      .use((ctx) => (ctx.body = ELSEWHERE))
      .callback(),
}
/** Who is at home here says so. */
const isFriend = (req) => req.headers['x-friend'] === 'yes'
const FRIEND = { headers: { 'x-friend': 'yes' } }

for (const [way, build] of Object.entries(FRAMEWORKS)) {
  test(`${way}: a denied request goes to the application and is measured; an allowed one is answered and is not`, async (t) => {
    const asked = []
    const allow = (req, endpoint) => {
      asked.push(endpoint)
      return isFriend(req)
    }
    const spillway = spillwayFor(t, { endpoints: { allow } })
    const { get } = await serve(t, build(spillway))
    for (let round = 0; round < 2; round++) {
      for (const path of Object.values(PATHS)) {
        const stranger = await get(`${path}?a=b`)
        assert.deepEqual([stranger.status, stranger.body], [200, ELSEWHERE], path)
        assert.equal((await get(path, { method: 'POST' })).body, ELSEWHERE)
        const friend = await get(path, FRIEND)
        assert.equal(friend.status, 200)
        assert.notEqual(friend.body, ELSEWHERE, path)
        assert.equal((await get(path, { method: 'DELETE', ...FRIEND })).status, 405)
      }
    }
    const { requests } = await ended(spillway, 12)
    assert.equal(requests.sinceStart.count, 12)
    const once = Object.keys(PATHS).flatMap((endpoint) => Array(4).fill(endpoint))
    assert.deepEqual(asked, [...once, ...once])
  })

  test(`${way}: it is called for the endpoints only, with their names`, async (t) => {
    const asked = []
    const allow = (_req, endpoint) => {
      asked.push(endpoint)
      return endpoint === 'live'
    }
    const endpoints = { metrics: '/internal/metrics', live: '/up', ready: false, allow }
    const { get } = await serve(t, build(spillwayFor(t, { endpoints })))
    for (const path of ['/', '/metrics', '/readyz', '/up/', '/internal']) {
      assert.equal((await get(path)).body, ELSEWHERE, path)
    }
    assert.deepEqual(asked, [])
    assert.equal((await get('/internal/metrics')).body, ELSEWHERE)
    assert.deepEqual(JSON.parse((await get('/up')).body), { status: 'ok' })
    assert.deepEqual(asked, ['metrics', 'live'])
  })
}

const MISTAKES = {
  throws: () => {
    throw new Error('as it should')
  },
  'is asynchronous': async () => true,
  'is asynchronous, and rejects': () => Promise.reject(new Error('as it should')),
  'returns what is true only to JavaScript': () => 'yes',
  'returns nothing': () => {},
}

for (const [what, allow] of Object.entries(MISTAKES)) {
  test(`a function that ${what} denies the request, and is reported once`, async (t) => {
    const told = []
    const logger = { warn() {}, error: ({ place }) => told.push(place) }
    const spillway = spillwayFor(t, { logger, endpoints: { allow } })
    const { get } = await serve(t, spillway.wrap(answer))
    for (const path of Object.values(PATHS)) assert.equal((await get(path)).body, ELSEWHERE)
    assert.ok(spillway.snapshot().internalErrors['endpoints.allow'] >= 3)
    assert.deepEqual(told, ['endpoints.allow'])
  })
}

test('false is not reported as a mistake', async (t) => {
  const spillway = spillwayFor(t, { endpoints: { allow: () => false } })
  const { get } = await serve(t, spillway.wrap(answer))
  assert.equal((await get('/metrics')).body, ELSEWHERE)
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})

test('with express() alone it gets the request that Express has made, the first one and those after', async (t) => {
  const seen = []
  const allow = (req) => {
    seen.push(req.ip)
    return req.ip === '10.0.0.7'
  }
  const app = express()
  app.set('trust proxy', true)
  app.use(spillwayFor(t, { endpoints: { allow } }).express()).use(answer)
  const { get } = await serve(t, app)
  for (let i = 0; i < 3; i++) {
    assert.match(
      (await get('/metrics', { headers: { 'x-forwarded-for': '10.0.0.7' } })).body,
      /^# TYPE spillway_/m
    )
    assert.equal((await get('/metrics', { headers: { 'x-forwarded-for': '10.0.0.8' } })).body, ELSEWHERE)
    assert.equal((await get('/other')).body, ELSEWHERE)
  }
  assert.deepEqual(seen, Array(3).fill(['10.0.0.7', '10.0.0.8']).flat())
})

test('a denied request is gated, an allowed one is not', async (t) => {
  const create = (_spillway, handler) => http.createServer(spillway.wrap(handler))
  const spillway = spillwayFor(t, { shed: REFUSE, endpoints: { allow: isFriend } })
  const { get, hold } = await holdingServer(t, { shed: { mode: 'off' }, create })
  const { answer: held, release } = await hold()
  assert.equal((await get('/metrics')).status, 503)
  assert.equal((await get('/metrics', FRIEND)).status, 200)
  release()
  await held
})

test('a mounted handler and the admin server do not call it, and it is still called after close()', async (t) => {
  const spillway = spillwayFor(t, { endpoints: { allow: () => false } })
  const { url } = await spillway.listen({ port: 0 })
  const mounted = await serve(t, spillway.handler('live'))
  assert.equal((await mounted.get('/')).status, 200)
  for (const path of Object.values(PATHS)) assert.equal((await fetch(url + path)).status, 200)
  const { get } = await serve(t, express().use(spillway.express()).use(answer))
  spillway.close()
  assert.equal((await get('/metrics')).body, ELSEWHERE)
})
