'use strict'
// Ages and deadlines of real requests: what is rejected on arrival and in the queue, in each framework and
// mode.

const assert = require('node:assert/strict')
const http = require('node:http')
const http2 = require('node:http2')
const { once } = require('node:events')
const { describe, it, test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { Spillway } = require('../../src/spillway')
const { until } = require('../gate/holding-server')
const { serve } = require('../support/serve')
const { stillClock } = require('../support/still-clock')

/** The wall clock stands as well. */
function standingClock() {
  const clock = stillClock()
  return { ...clock, wallMs: () => Date.UTC(2026, 0, 1) + clock.now() }
}

const AGED = { proxy: { requestStart: true }, shed: { mode: 'adaptive', maxAge: 2000 } }

const FRAMEWORKS = {
  'http and attach()': (spillway, handle) =>
    spillway.attach(http.createServer((req, res) => res.end(handle(req)))),
  'http and wrap()': (spillway, handle) =>
    http.createServer(spillway.wrap((req, res) => res.end(handle(req)))),
  'Express alone': (spillway, handle) =>
    http.createServer(express().use(spillway.express(), (req, res) => void res.end(handle(req)))),
  'Express and attach()': (spillway, handle) =>
    spillway.attach(
      http.createServer(express().use(spillway.express(), (req, res) => void res.end(handle(req))))
    ),
  Koa: (spillway, handle) =>
    http.createServer(
      new Koa()
        .use(spillway.koa())
        .use((ctx) => void (ctx.body = handle(ctx)))
        .callback()
    ),
}

/** A server whose clock stands, and a client that says how old its request is. */
async function aged(
  t,
  options = AGED,
  { create = FRAMEWORKS['http and attach()'], handle = () => 'done' } = {}
) {
  const clock = standingClock()
  const lines = []
  const logger = {
    warn: (fields, message) => lines.push(message),
    error: (fields, message) => lines.push(message),
  }
  const spillway = new Spillway({ logger, insight: { stalls: false }, ...options }, clock)
  t.after(() => spillway.close())
  const answerOf = (given) => handle(given, spillway)
  const { get, port } = await serve(t, create(spillway, answerOf))
  const stampOf = (ageMs) => `t=${((clock.wallMs() - ageMs) / 1000).toFixed(3)}`
  const ask = (ageMs, headers = {}) =>
    get('/', {
      headers: { ...(ageMs === undefined ? {} : { 'x-request-start': stampOf(ageMs) }), ...headers },
    })
  const statusOf = async (...given) => (await ask(...given)).status
  const rejected = () =>
    spillway.snapshot().admission.rejected.map(({ reason, value, bound }) => [reason, value, bound])
  return { ask, clock, get, lines, port, rejected, spillway, statusOf }
}

for (const [name, create] of Object.entries(FRAMEWORKS)) {
  describe(name, () => {
    it('rejects what is older than shed.maxAge, once the clocks are known to agree', async (t) => {
      const { rejected, spillway, statusOf } = await aged(t, AGED, { create })
      assert.equal(await statusOf(2500), 200)
      assert.equal(await statusOf(3), 200)
      assert.equal(await statusOf(2500), 503)
      assert.equal(await statusOf(1999), 200)
      assert.equal(await statusOf(undefined), 200)
      assert.deepEqual(rejected(), [['age', 2500, 2000]])
      const { requests, without, totalMs } = /** @type {any} */ (spillway.snapshot().deadlines).proxy
      assert.deepEqual([requests, without, totalMs], [3, 1, 4502])
    })

    it('rejects what is older than its deadline, and says what is left of others', async (t) => {
      const options = {
        proxy: { requestStart: true },
        deadline: { header: 'X-Request-Timeout-Ms' },
        shed: { mode: 'adaptive' },
      }
      const handle = (given, spillway) => String(spillway.remaining(given))
      const { ask, rejected } = await aged(t, options, { create, handle })
      const left = async (ageMs, timeout) => (await ask(ageMs, { 'x-request-timeout-ms': timeout })).body
      assert.equal(await left(0, '500'), '500')
      assert.equal(await left(200, '500'), '300')
      assert.equal((await ask(600, { 'x-request-timeout-ms': '500' })).status, 503)
      assert.equal((await ask(0, { 'x-request-timeout-ms': '0' })).status, 503)
      assert.equal(await left(200, 'never'), 'Infinity')
      assert.deepEqual(rejected(), [
        ['age', 600, 500],
        ['age', 0, 0],
      ])
    })

    it('counts in mode observe what mode adaptive rejects, and rejects nothing', async (t) => {
      const { spillway, statusOf } = await aged(
        t,
        { ...AGED, shed: { mode: 'observe', maxAge: 2000 } },
        { create }
      )
      for (const ageMs of [3, 2500, 1000, 2500]) assert.equal(await statusOf(ageMs), 200)
      assert.deepEqual(spillway.snapshot().admission.wouldShed, [
        { reason: 'age', priority: 'normal', count: 2 },
      ])
      spillway.update({ shed: { mode: 'adaptive' } })
      assert.equal(await statusOf(2500), 503)
      spillway.update({ shed: { mode: 'off' } })
      assert.equal(await statusOf(2500), 200)
    })
  })
}

test('an age of up to 100 ms may be a difference of clocks, and a short deadline does not count it', async (t) => {
  const options = {
    proxy: { requestStart: true },
    deadline: { header: 'x-request-timeout-ms' },
    shed: { mode: 'adaptive' },
  }
  const handle = (given, spillway) => String(spillway.remaining(given))
  const { ask, rejected } = await aged(t, options, { handle })
  const left = async (ageMs, timeout) => (await ask(ageMs, { 'x-request-timeout-ms': timeout })).body
  assert.equal(await left(0, '60'), '60')
  assert.equal(await left(95, '60'), '60')
  assert.equal(await left(120, '60'), '40')
  assert.equal(await left(95, '200'), '105')
  assert.equal((await ask(160, { 'x-request-timeout-ms': '60' })).status, 503)
  assert.equal((await ask(95, { 'x-request-timeout-ms': '0' })).status, 503)
  assert.deepEqual(rejected(), [
    ['age', 160, 160],
    ['age', 95, 95],
  ])
})

test('hostile stamps are not believed, and the log says so once', async (t) => {
  const { ask, get, lines, spillway, clock } = await aged(t)
  await ask(0)
  const wall = clock.wallMs()
  const hostile = [
    '-5',
    'NaN',
    '1e308',
    '9'.repeat(10_240),
    String(wall - 3_600_000),
    String(wall + 3_600_000),
    String(wall - 300_001),
    String(wall + 1001),
    't=1',
  ]
  for (const value of hostile)
    assert.equal((await get('/', { headers: { 'x-request-start': value } })).status, 200)
  const { proxy } = /** @type {any} */ (spillway.snapshot().deadlines)
  assert.deepEqual([proxy.requests, proxy.implausible, proxy.totalMs], [1, hostile.length, 0])
  assert.deepEqual(lines, [
    'spillway: the timestamp of a request is not a time: the timestamp is ignored. Compare the clocks of proxy and service.',
  ])
})

test('of several stamps the last counts, and X-Queue-Start where there is no X-Request-Start', async (t) => {
  const { ask, clock, get, rejected } = await aged(t)
  await ask(0)
  const old = String(clock.wallMs() - 4000)
  const young = String(clock.wallMs())
  const statusOf = async (headers) => (await get('/', { headers })).status
  assert.equal(await statusOf({ 'x-request-start': [old, young] }), 200)
  assert.equal(await statusOf({ 'x-request-start': [young, old] }), 503)
  assert.equal(await statusOf({ 'x-queue-start': old }), 503)
  assert.equal(await statusOf({ 'x-queue-start': old, 'x-request-start': young }), 200)
  assert.equal(rejected().length, 2)
})

test('only the named header is read, and none without the option', async (t) => {
  const named = await aged(t, { ...AGED, proxy: { requestStart: 'X-Edge-Start' } })
  const old = String(named.clock.wallMs() - 4000)
  assert.equal(
    (await named.get('/', { headers: { 'x-edge-start': String(named.clock.wallMs()) } })).status,
    200
  )
  assert.equal(await named.statusOf(4000), 200)
  assert.equal((await named.get('/', { headers: { 'x-edge-start': old } })).status, 503)
  const off = await aged(t, { shed: { mode: 'adaptive' } })
  assert.equal(await off.statusOf(4000), 200)
  assert.equal(off.spillway.snapshot().deadlines, null)
})

test('class critical is not rejected for shed.maxAge, but for its own deadline', async (t) => {
  const shed = { mode: 'adaptive', maxAge: 2000, classify: () => 'critical' }
  const { statusOf } = await aged(t, { ...AGED, shed, deadline: { header: 'grpc-timeout' } })
  assert.equal(await statusOf(0), 200)
  assert.equal(await statusOf(2500), 200)
  assert.equal(await statusOf(2500, { 'grpc-timeout': '1S' }), 503)
})

for (const [what, deadline, headers, left] of /** @type {const} */ ([
  ['the header', { header: 'x-request-timeout-ms', default: 700 }, { 'x-request-timeout-ms': '300' }, 300],
  ['the default without a header', { header: 'x-request-timeout-ms', default: 700 }, {}, 700],
  [
    'the default for a header that is none',
    { header: 'x-request-timeout-ms', default: 700 },
    { 'x-request-timeout-ms': 'NaN' },
    700,
  ],
  [
    'the default for a header that came twice',
    { header: 'x-request-timeout-ms', default: 700 },
    { 'x-request-timeout-ms': ['1', '2'] },
    700,
  ],
  [
    'at most max',
    { header: 'x-request-timeout-ms', max: 500 },
    { 'x-request-timeout-ms': '9999999999' },
    500,
  ],
  ['at most max without a header', { header: 'x-request-timeout-ms', max: 500 }, {}, 500],
  ['max if nothing else is given', { max: 500 }, {}, 500],
  [
    'the function first',
    { header: 'x-request-timeout-ms', of: () => 200 },
    { 'x-request-timeout-ms': '300' },
    200,
  ],
  [
    'the header if the function says nothing',
    { header: 'x-request-timeout-ms', of: () => undefined },
    { 'x-request-timeout-ms': '300' },
    300,
  ],
  [
    'the header if the function says NaN',
    { header: 'x-request-timeout-ms', of: () => Number.NaN },
    { 'x-request-timeout-ms': '300' },
    300,
  ],
  ['the default if the function says NaN', { of: () => Number.NaN, default: 700 }, {}, 700],
  ['at most max if the function says Infinity', { of: () => Infinity, default: 700, max: 900 }, {}, 900],
  ['Infinity if nothing says anything', { of: () => null }, {}, Number.POSITIVE_INFINITY],
])) {
  test(`what is left: ${what}`, async (t) => {
    const handle = (given, spillway) => String(spillway.remaining(given))
    const { ask, spillway } = await aged(t, /** @type {any} */ ({ deadline, shed: { mode: 'adaptive' } }), {
      handle,
    })
    assert.equal((await ask(undefined, headers)).body, String(left))
    assert.equal(
      /** @type {any} */ (spillway.snapshot().deadlines).withDeadline,
      Number.isFinite(left) ? 1 : 0
    )
  })
}

for (const [what, deadline, headers] of /** @type {const} */ ([
  ['the header', { header: 'x-request-timeout-ms', default: 700 }, { 'x-request-timeout-ms': '-40' }],
  ['the header of gRPC', { header: 'grpc-timeout', default: 700 }, { 'grpc-timeout': '-40m' }],
  ['the function', { of: () => -40, default: 700 }, {}],
])) {
  test(`a negative number of ${what} is a deadline that has passed, as 0 is`, async (t) => {
    const options = /** @type {any} */ ({ deadline, shed: { mode: 'adaptive' } })
    const { ask, rejected } = await aged(t, options)
    assert.equal((await ask(undefined, headers)).status, 503)
    assert.deepEqual(rejected(), [['age', 0, 0]])
  })
}

for (const [what, of] of [
  [
    'throws',
    () => {
      throw new Error('a mistake of the user')
    },
  ],
  ['returns text', () => '5'],
  [
    'returns a promise that rejects',
    async () => {
      throw new Error('a mistake of the user')
    },
  ],
]) {
  test(`a function that ${what} says nothing, and is logged once`, async (t) => {
    const { lines, statusOf } = await aged(t, { deadline: { of, default: 700 }, shed: { mode: 'adaptive' } })
    for (let i = 0; i < 3; i++) assert.equal(await statusOf(), 200)
    assert.deepEqual(lines, [
      'spillway: caught an error in `deadline.of`. Further errors there are counted, not logged.',
    ])
  })
}

test('time that passes is not left', async (t) => {
  let held
  const { ask, clock } = await aged(
    t,
    { deadline: { header: 'x-request-timeout-ms' }, shed: { mode: 'adaptive' } },
    {
      create: (given, handle) =>
        given.attach(
          http.createServer((req, res) => void (held = { answer: () => res.end(handle(req)), req }))
        ),
      handle: (given, instance) => String(instance.remaining(given)),
    }
  )
  for (const [passesMs, left] of [
    [120.5, '379'],
    [2000, '0'],
  ]) {
    held = undefined
    const answer = ask(undefined, { 'x-request-timeout-ms': '500' })
    await until(() => held !== undefined)
    clock.advance(passesMs)
    held.answer()
    assert.equal((await answer).body, left)
  }
})

/** One request holds the only slot. */
async function held(t, options) {
  const answers = []
  const server = await aged(t, options, {
    create: (spillway) => spillway.attach(http.createServer((_req, res) => void answers.push(res))),
  })
  const first = server.ask(0)
  await until(() => answers.length === 1)
  const queued = (count) => until(() => server.spillway.snapshot().admission.queued === count)
  const release = async () => {
    answers.shift().end('done')
    await first
  }
  return { ...server, answers, queued, release }
}

test('in the queue a request gets no older than shed.maxAge, counted from the proxy', async (t) => {
  const shed = { mode: 'adaptive', maxAge: 2000, maxConcurrent: 1, maxDelay: 60_000, targetDelay: 60_000 }
  const { ask, clock, queued, rejected, release } = await held(t, { ...AGED, shed })
  const old = ask(1500)
  await queued(1)
  const young = ask(10)
  await queued(2)
  clock.advance(501)
  assert.equal((await old).status, 503)
  assert.deepEqual(rejected(), [['deadline', 501, 500]])
  const rest = release()
  await queued(0)
  clock.advance(1)
  void young.catch(() => {})
  await rest
})

test('a deadline that has passed when the slot is free is not run', async (t) => {
  const shed = { mode: 'adaptive', maxConcurrent: 1, maxDelay: 60_000, targetDelay: 60_000 }
  const { answers, ask, queued, rejected, release, clock } = await held(t, {
    ...AGED,
    shed,
    deadline: { header: 'grpc-timeout' },
  })
  const late = ask(0, { 'grpc-timeout': '300m' })
  await queued(1)
  clock.advance(300)
  await release()
  assert.equal((await late).status, 503)
  assert.equal(answers.length, 0)
  assert.deepEqual(rejected(), [['deadline', 300, 300]])
})

test('HTTP/2: ages and deadlines are those of the stream', async (t) => {
  const clock = standingClock()
  const spillway = new Spillway({ logger: false, ...AGED, deadline: { header: 'grpc-timeout' } }, clock)
  t.after(() => spillway.close())
  const server = spillway.attach(
    http2.createServer((req, res) => void res.end(String(spillway.remaining(req))))
  )
  const { port } = await serve(t, server)
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  const ask = async (ageMs) => {
    const stream = client.request({ 'x-request-start': String(clock.wallMs() - ageMs), 'grpc-timeout': '1S' })
    const [{ ':status': status }] = await once(stream, 'response')
    let body = ''
    for await (const piece of stream.setEncoding('utf8')) body += piece
    return [status, body.length < 10 ? body : '']
  }
  assert.deepEqual(await ask(0), [200, '1000'])
  assert.deepEqual(await ask(400), [200, '600'])
  assert.deepEqual(await ask(1000), [503, ''])
})

test('the time in the proxy is a part of slow requests and of routes, in metrics and log', async (t) => {
  const lines = []
  const clock = standingClock()
  const logger = { warn: (fields, message) => lines.push([message, fields.proxyMs]), error() {} }
  const spillway = new Spillway(
    { logger, ...AGED, log: { slowAfter: 100 }, insight: { stalls: false } },
    clock
  )
  t.after(() => spillway.close())
  const { get } = await serve(
    t,
    spillway.attach(
      http.createServer((_req, res) => {
        clock.advance(150)
        res.end('done')
      })
    )
  )
  const ask = (ageMs) => get('/', { headers: { 'x-request-start': String(clock.wallMs() - ageMs) } })
  await ask(10)
  await ask(1200)
  await until(() => lines.length === 2)
  const { slowest, routes } = spillway.snapshot()
  assert.deepEqual(slowest.map(({ proxyMs }) => proxyMs).sort(), [10, 1200])
  assert.equal(/** @type {any} */ (routes[0].parts).sinceStart.proxyMs, 1210)
  assert.deepEqual(
    lines.map(([, proxyMs]) => proxyMs),
    [10, 1200]
  )
  const { body } = await get('/metrics')
  assert.match(body, /^spillway_proxy_wait_seconds_count 2$/m)
  assert.match(body, /^spillway_proxy_wait_seconds_bucket\{le="0.01"\} 1$/m)
  assert.match(body, /^spillway_proxy_seconds_total 1.21$/m)
  assert.match(body, /^spillway_request_part_seconds_total\{http_route="[^"]*",part="proxy"\} 1.21$/m)
})

test('a proxy whose clock is behind is found out, and named once', async (t) => {
  const { clock, lines, spillway, statusOf } = await aged(t)
  for (let i = 0; i < 20; i++) {
    clock.advance(300)
    assert.equal(await statusOf(4000), 200)
  }
  assert.deepEqual(lines, [
    'spillway: the clock of a proxy seems 4 s behind: this difference is subtracted from the age of each request. Synchronize the clocks.',
  ])
  assert.equal(/** @type {any} */ (spillway.snapshot().deadlines).proxy.clockDifferenceMs, 4000)
  assert.equal(await statusOf(5500), 200)
  assert.equal(await statusOf(6500), 503)
})

for (const [name, options] of [
  ['with deadlines', { deadline: { default: 1000 } }],
  ['without deadlines', {}],
])
  test(`remaining() refuses what is no request, ${name}`, (t) => {
    const spillway = new Spillway({ logger: false, ...options })
    t.after(() => spillway.close())
    for (const given of [undefined, null, {}, 'x', { headers: {} }])
      assert.throws(() => spillway.remaining(/** @type {any} */ (given)), {
        name: 'SpillwayError',
        code: 'ERR_SPILLWAY_NOT_A_REQUEST',
      })
  })

test('an upgraded connection has no deadline', async (t) => {
  const spillway = new Spillway({ logger: false, deadline: { header: 'x-timeout-ms', default: 1000 } })
  t.after(() => spillway.close())
  const server = spillway.attach(http.createServer())
  const upgraded = once(server, 'upgrade')
  const { port } = await serve(t, server)
  const headers = { Connection: 'Upgrade', Upgrade: 'echo', 'X-Timeout-Ms': '5000' }
  const client = http.get({ host: '127.0.0.1', port, headers }).on('error', () => {})
  const [req, socket] = await upgraded
  assert.equal(spillway.remaining(req), Number.POSITIVE_INFINITY)
  client.destroy()
  socket.destroy()
})
