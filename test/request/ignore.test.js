'use strict'
// Requests that are left out of the metrics, of the log and of shedding: which, of what, and what becomes of
// them.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it, test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { Ignore, IGNORE_LOG, IGNORE_METRICS, IGNORE_SHED } = require('../../src/core/request/ignore')
const { QUEUE, REFUSE, holdingServer } = require('../gate/holding-server')
const { Connection } = require('../support/connection')
const { ORDER, drained, turn, untilNotListening } = require('../support/draining')
const { pinoWithLines } = require('../support/lines')
const { parse, oneValue } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ALL = IGNORE_METRICS | IGNORE_LOG | IGNORE_SHED

function ignoring(rules) {
  const reported = []
  const internalErrors = new InternalErrors({
    error: ({ place, err }, line) => reported.push([place, err.message, line]),
  })
  const ignore = new Ignore(rules, internalErrors)
  return { of: (url, more) => ignore.of({ url, ...more }), reported, internalErrors }
}

describe('a path', () => {
  const { of } = ignoring('/healthz')
  for (const url of [
    '/healthz',
    '/healthz?',
    '/healthz?a=/b',
    'http://host/healthz',
    'HTTPS://host:8/healthz?x',
  ])
    it(`is that of ${url}`, () => assert.equal(of(url), ALL))
  for (const url of [
    '/',
    '/healthz/',
    '/healthzz',
    '/HEALTHZ',
    '/a/healthz',
    '/?/healthz',
    'http://host',
    '*',
    '',
  ])
    it(`is not that of ${url || 'nothing'}`, () => assert.equal(of(url), 0))
})

test('a path is matched as the client sent it, even after a router has cut it', () => {
  assert.equal(ignoring('/api/a').of('/a', { originalUrl: '/api/a?x' }), ALL)
  assert.equal(ignoring('/a').of('/a', { originalUrl: '/api/a' }), 0)
  assert.equal(ignoring('/a').of(undefined), 0)
})

test('a pattern is tested on the path, and a pattern with `lastIndex` matches each time', () => {
  const { of } = ignoring([/^\/assets\//g, /\.ico$/y])
  for (let i = 0; i < 3; i++) assert.equal(of('/assets/a.js?v=1'), ALL)
  assert.equal(of('/a?/assets/'), 0)
})

test('a rule for a part leaves requests out of that part only, and rules add up', () => {
  const { of } = ignoring({ metrics: ['/a', /^\/b/], log: '/a', shed: (req) => req.url === '/c' })
  assert.deepEqual(
    ['/a', '/b', '/c', '/d'].map((url) => of(url)),
    [IGNORE_METRICS | IGNORE_LOG, IGNORE_METRICS, IGNORE_SHED, 0]
  )
})

test('a function is called once a request, for however many parts', () => {
  let asked = 0
  const ask = () => {
    asked++
    return true
  }
  assert.equal(ignoring({ metrics: ask, log: [ask, ask] }).of('/'), IGNORE_METRICS | IGNORE_LOG)
  assert.equal(asked, 1)
})

for (const [what, ask, message] of [
  ['throws', () => assert.fail('as it should'), /as it should/],
  ['returns a promise', async () => true, /it returned a promise/],
  ['rejects', () => Promise.reject(new Error('as it should')), /it returned a promise/],
]) {
  test(`a function that ${what} ignores nothing, is counted and logged once`, async () => {
    const { of, reported, internalErrors } = ignoring([ask, '/a'])
    assert.deepEqual([of('/'), of('/'), of('/a')], [0, 0, ALL])
    await turn()
    assert.equal(reported.length, 1)
    assert.equal(reported[0][0], 'ignore')
    assert.match(reported[0][1], message)
    assert.match(reported[0][2], /^spillway: caught an error in `ignore`\. Further errors there are counted,/)
    assert.ok(new Map(internalErrors.list()).get('ignore') >= 3)
  })
}

test('a function may return any truthy or falsy value that is no promise', () => {
  const { of, reported } = ignoring((req) => req.url === '/a' && req.mark)
  assert.deepEqual([of('/a', { mark: 'x' }), of('/a'), of('/b')], [ALL, 0, 0])
  assert.deepEqual(reported, [])
})

const BUILDS = {
  attach: (spillway, answer) => spillway.attach(http.createServer(answer)),
  'express()': (spillway, answer) => express().use(spillway.express()).use(answer),
  'attach and express()': (spillway, answer) =>
    spillway.attach(http.createServer(express().use(spillway.express()).use(answer))),
  'koa()': (spillway, answer) =>
    new Koa()
      .use(spillway.koa())
      .use((ctx) => {
        ctx.respond = false
        ctx.status = 200
        answer(ctx.req, ctx.res)
      })
      .callback(),
}

const answer = (req, res) => {
  res.statusCode = req.url.startsWith('/fail') ? 500 : 200
  res.end()
}
const PATHS = ['/healthz', '/assets/a.js', '/fail', '/a']

for (const [way, build] of Object.entries(BUILDS)) {
  test(`${way}: a list leaves out of metrics and log, and nothing else`, async (t) => {
    const { lines, logger } = pinoWithLines({ base: null })
    const spillway = spillwayFor(t, {
      logger,
      errors: false,
      log: { access: true },
      ignore: ['/healthz', /^\/assets\//, (req) => req.headers['x-probe'] === '1'],
    })
    const { get } = await serve(t, build(spillway, answer))
    for (const path of PATHS) assert.equal((await get(path)).status, path === '/fail' ? 500 : 200)
    await get('/b', { headers: { 'x-probe': '1' } })
    await ended(spillway, 2)
    const { requests, slowest, internalErrors } = spillway.snapshot()
    assert.deepEqual([requests.inFlight, requests.sinceStart.count, slowest.length], [0, 2, 2])
    assert.deepEqual(internalErrors, {})
    assert.deepEqual(
      lines.map(({ req }) => req.url),
      ['/fail', '/a']
    )
    const families = parse((await get('/metrics')).body)
    const outcomes = families.get('spillway_requests_total').samples.filter(({ value }) => value > 0)
    assert.deepEqual(outcomes.map(({ labels, value }) => [labels.outcome, value]).sort(), [
      ['completed', 1],
      ['errored', 1],
    ])
    assert.equal(oneValue(families, 'http_server_active_requests', { url_scheme: 'http' }), 0)
  })
}

test('a request left out of the metrics is logged with its route; a request left out of the log is counted', async (t) => {
  const { lines, logger } = pinoWithLines({ base: null })
  const spillway = spillwayFor(t, {
    logger,
    errors: false,
    log: { access: true, slowAfter: 0.001 },
    ignore: { metrics: '/users/1', log: '/users/2' },
  })
  const app = express().use(spillway.express())
  app.get('/users/:id', (_req, res) => res.end())
  const { get } = await serve(t, app)
  for (const path of ['/users/1', '/users/2']) await get(path)
  await ended(spillway, 1)
  while (lines.length < 2) await turn()
  assert.deepEqual(
    lines.map(({ req, route }) => [req.url, route]),
    [
      ['/users/1', '/users/:id'],
      ['/users/1', '/users/:id'],
    ]
  )
  const families = parse((await get('/metrics')).body)
  assert.equal(
    oneValue(families, 'spillway_requests_total', { http_route: '/users/:id', outcome: 'completed' }),
    1
  )
})

test('an error of a request that is left out is answered and logged, but not counted', async (t) => {
  const { lines, logger } = pinoWithLines({ base: null })
  const spillway = spillwayFor(t, { logger, ignore: '/fail' })
  const app = express().use(spillway.express())
  app.get('/fail', () => assert.fail('as it should'))
  const { get } = await serve(t, app.use(spillway.errorHandler()))
  assert.equal((await get('/fail')).status, 500)
  assert.equal(lines.length, 1)
  assert.deepEqual(spillway.snapshot().errors, [])
})

test('an upgrade that is left out appears in no metric', async (t) => {
  const spillway = spillwayFor(t, { ignore: '/socket' })
  const { server, request } = await serve(t, http.createServer(answer))
  spillway.attach(server)
  server.on('upgrade', (_req, socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'))
  for (const path of ['/socket', '/other'])
    await request({ path, headers: { connection: 'upgrade', upgrade: 'x' } })
  assert.equal((await ended(spillway, 1)).requests.sinceStart.count, 1)
})

for (const [mode, shed] of [
  ['adaptive', QUEUE],
  ['threshold', REFUSE],
]) {
  test(`${mode}: left out of shedding, it is let in at once, and neither queued nor counted by the gate`, async (t) => {
    const served = await holdingServer(t, { shed, ignore: { shed: '/healthz' } })
    const { answer: heldAnswer, release } = await served.hold()
    const before = served.admission()
    const { status } = await served.get('/healthz')
    assert.equal(status, 200)
    const { admitted, inFlight, shed: turnedAway, queued } = served.admission()
    assert.deepEqual([admitted, inFlight, turnedAway, queued], [before.admitted, 1, [], 0])
    release()
    await heldAnswer
    assert.equal((await ended(served.spillway, 2)).requests.sinceStart.count, 2)
  })
}

test('the gate counts a rejected request even if it is left out of the metrics', async (t) => {
  const served = await holdingServer(t, { shed: REFUSE, ignore: { metrics: '/a' } })
  const { answer: heldAnswer, release } = await served.hold()
  assert.equal((await served.get('/a')).status, 503)
  assert.equal(served.admission().shed[0].count, 1)
  release()
  await heldAnswer
})

const passOn = (_req, _res, next) => next()
/** Whether `express()` is the first middleware, and how the app is served. */
const SET_UPS = {
  'first, alone': { before: [], way: (_spillway, app) => app },
  'first, with attach': { before: [], way: (spillway, app) => spillway.attach(http.createServer(app)) },
  'first, with wrap': { before: [], way: (spillway, app) => spillway.wrap(app) },
  'behind another middleware': { before: [passOn], way: (_spillway, app) => app },
}

for (const version of ['express', 'express-4']) {
  for (const [name, { before, way }] of Object.entries(SET_UPS)) {
    test(`a function gets the request of ${version} from the first request on: ${name}`, async (t) => {
      const seen = []
      const ignore = ({ path, query }) => seen.push([path, { ...query }]) && path === '/healthz'
      const spillway = spillwayFor(t, { ignore, logger: false })
      const app = require(version)()
      for (const middleware of [...before, spillway.express()]) app.use(middleware)
      app.use((_req, res) => res.end())
      const { get } = await serve(t, way(spillway, app))
      for (let i = 0; i < 3; i++) await get('/healthz?a=1')
      await get('/counted')
      await ended(spillway, 1)
      assert.deepEqual(seen, [...Array(3).fill(['/healthz', { a: '1' }]), ['/counted', {}]])
    })
  }
}

test('a function gets the request as it arrives where other code precedes express() under attach', async (t) => {
  const seen = []
  const ignore = ({ path, url }) => void seen.push([path, url])
  const spillway = spillwayFor(t, { ignore, logger: false })
  const app = express()
  app.use(passOn, spillway.express(), (_req, res) => res.end())
  const { get } = await serve(t, spillway.attach(http.createServer(app)))
  for (let i = 0; i < 2; i++) await get('/a')
  assert.deepEqual(seen, Array(2).fill([undefined, '/a']))
})

test('the functions of the gate are not called for requests left out of shedding', async (t) => {
  const asked = []
  const classify = ({ url }) => {
    asked.push(url)
    return 'normal'
  }
  const spillway = spillwayFor(t, { shed: { classify }, ignore: { shed: '/healthz' } })
  const { get } = await serve(t, spillway.attach(http.createServer(answer)))
  for (const path of ['/healthz', '/a']) await get(path)
  assert.deepEqual(asked, ['/a'])
})

test('the loop cost of a request left out of shedding is measured', async (t) => {
  const spillway = spillwayFor(t, { ignore: '/burn' })
  const burn = (req, res) => {
    const until = performance.now() + 30
    while (performance.now() < until);
    answer(req, res)
  }
  const { get } = await serve(t, spillway.attach(http.createServer(burn)))
  await get('/burn')
  await turn()
  assert.ok(spillway.snapshot().runtime.loop.delayMs.max >= 30)
})

for (const [way, build] of Object.entries(BUILDS)) {
  test(`${way}: a drain waits for what is left out of everything, and says it is the last`, async (t) => {
    const create = (spillway, application) => {
      const server = build(spillway, application)
      return typeof server === 'function' ? http.createServer(server) : server
    }
    const { spillway, server, port, held, untilHeld } = await drained(t, create, { ignore: '/' })
    const connection = await Connection.open(port)
    connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await untilHeld(1)
    let isDrained = false
    const done = spillway.drain(ORDER).finally(() => (isDrained = true))
    await untilNotListening(server)
    assert.equal(spillway.snapshot().requests.inFlight, 0)
    for (let i = 0; i < 3; i++) await turn()
    assert.equal(isDrained, false)
    held[0].res.end('finished')
    await connection.untilClosed()
    assert.match(connection.received, /Connection: close\r\n[\s\S]*finished$/)
    assert.equal((await done).cut, 0)
  })
}

test('a drain counts the requests it cuts off, even if they are left out', async (t) => {
  const { spillway, server, port, untilHeld, advance } = await drained(t, undefined, { ignore: '/' })
  const connection = await Connection.open(port)
  connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await untilHeld(1)
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  advance(ORDER.timeout)
  assert.equal((await done).cut, 1)
})
