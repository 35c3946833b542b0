'use strict'
// snapshot(): one frozen plain object with everything, its numbers by a clock moved by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Spillway } = require('../../src/spillway')
const { FakeClock } = require('../support/fake-clock')
const { serve } = require('../support/serve')

const turn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * A spillway on a clock moved by hand, and `request(path, durationMs, status)`, which waits until it is
 * counted.
 */
async function measuredBy(t, clock, options) {
  const spillway = new Spillway({ logger: false, shed: { mode: 'off' }, ...options }, clock)
  t.after(() => spillway.close())
  const { request } = await serve(
    t,
    spillway.wrap((req, res) => {
      const { 'x-ms': durationMs, 'x-status': status, 'x-body-ms': bodyMs } = req.headers
      clock.advance(Number(durationMs))
      res.writeHead(Number(status))
      if (bodyMs !== undefined) {
        res.write('begun')
        clock.advance(Number(bodyMs))
      }
      res.end('done')
    })
  )
  let count = 0
  return {
    spillway,
    async request(path, durationMs, { status = 200, method = 'GET', bodyMs } = {}) {
      const headers = {
        'x-ms': durationMs,
        'x-status': status,
        ...(bodyMs !== undefined && { 'x-body-ms': bodyMs }),
      }
      await request({ path, method, headers })
      count++
      while (spillway.snapshot().requests.sinceStart.count < count) await turn()
    },
  }
}

const SUMMARY = {
  count: 'number',
  ratePerSecond: 'number',
  errorRatio: 'number',
  p50Ms: 'number',
  p90Ms: 'number',
  p95Ms: 'number',
  p99Ms: 'number',
  p999Ms: 'number',
  maxMs: 'number',
}
const SUMS = { count: 'number', errors: 'number', totalMs: 'number', maxMs: 'number' }
const CALLS = { lastMinute: SUMS, sinceStart: SUMS }
const HOST_SUMS = {
  ...SUMS,
  connections: 'number',
  lookupMs: 'number',
  connectMs: 'number',
  firstByteMs: 'number',
}
const PARTS = {
  queueMs: 'number',
  runMs: 'number',
  loopBusyMs: 'number',
  gcMs: 'number',
  waitMs: 'number',
  bodyMs: 'number',
}
const PART_SUMS = { ...PARTS, unreadMs: 'number', proxyMs: 'number' }
const SHAPE = {
  at: 'string',
  uptimeSeconds: 'number',
  requests: { inFlight: 'number', lastMinute: SUMMARY, sinceStart: SUMMARY },
  routes: [
    {
      method: 'string',
      route: 'string',
      lastMinute: SUMMARY,
      sinceStart: SUMMARY,
      outcomes: {
        completed: 'number',
        errored: 'number',
        aborted: 'number',
        upgraded: 'number',
        timed_out: 'number',
      },
      firstByteMeanMs: 'number',
      requestBytes: 'number',
      responseBytes: 'number',
      shed: 'number',
      streams: { count: 'number', totalSeconds: 'number' },
      parts: { sinceStart: PART_SUMS, lastMinute: PART_SUMS },
      loopMs: { sinceStart: 'number', lastMinute: 'number' },
      gaveUp: { sinceStart: 'number', lastMinute: 'number' },
    },
  ],
  routesFolded: 'number',
  oldest: [],
  processErrors: { uncaughtException: 'number', unhandledRejection: 'number' },
  clientErrors: {},
  slowest: [
    {
      at: 'string',
      method: 'string',
      route: 'string',
      status: 'number',
      outcome: 'string',
      durationMs: 'number',
      queueMs: 'number',
      firstByteMs: 'number',
      loopDelayMs: 'number',
      parts: PARTS,
      unreadMs: 'number',
      proxyMs: 'object',
      requestId: 'object',
      traceId: 'object',
    },
  ],
  admission: {
    mode: 'string',
    isOverloaded: 'boolean',
    inFlight: 'number',
    queued: 'number',
    limit: 'object',
    limitedBy: 'object',
    costMs: 'number',
    admitted: 'number',
    abandoned: 'number',
    shed: [],
    wouldShed: [],
    rejected: [],
    answeredLate: 'number',
    advice: 'object',
  },
  outgoing: {
    hosts: [
      {
        host: 'string',
        lastMinute: HOST_SUMS,
        sinceStart: HOST_SUMS,
        routes: [{ method: 'object', route: 'object', ...CALLS }],
      },
    ],
    folded: 'number',
  },
  sockets: {
    connections: {
      open: 'number',
      opened: 'number',
      transports: [],
      closed: {},
      refused: {},
      held: 'number',
      room: 'number',
    },
    messages: { received: 'number', receivedBytes: 'number', sent: 'number', sentBytes: 'number' },
    events: [],
    folded: 'number',
  },
  bulkheads: [],
  pools: [],
  deadlines: 'object',
  warnings: { counts: {}, recent: [] },
  runtime: {
    loop: {
      delayMs: {
        min: 'number',
        max: 'number',
        mean: 'number',
        stddev: 'number',
        p50: 'number',
        p90: 'number',
        p99: 'number',
      },
      utilization: 'number',
    },
    cpu: { utilization: 'number', userSeconds: 'number', systemSeconds: 'number' },
    heap: {
      usedBytes: 'number',
      totalBytes: 'number',
      limitBytes: 'number',
      afterGcBytes: 'object',
      trend: {
        verdict: 'string',
        megabytesPerHour: 'object',
        confidence: 'object',
        windowSeconds: 'object',
        secondsToLimit: 'object',
      },
      spaces: [
        {
          name: 'string',
          usedBytes: 'number',
          sizeBytes: 'number',
          availableBytes: 'number',
          physicalBytes: 'number',
        },
      ],
    },
    memory: { rssBytes: 'number', limitBytes: 'number', externalBytes: 'number' },
    collections: Object.fromEntries(
      ['minor', 'major', 'incremental', 'weakcb'].map((kind) => [
        kind,
        { count: 'number', totalMs: 'number' },
      ])
    ),
  },
  errors: [],
  internalErrors: {},
  stalls: { count: 'number', totalMs: 'number', sites: [] },
  forbidden: [],
  releases: {
    current: {
      version: 'string',
      revision: 'string',
      since: 'string',
      until: 'object',
      requests: {
        count: 'number',
        p50Ms: 'number',
        p95Ms: 'number',
        p99Ms: 'number',
        errorRatio: 'number',
        shedRatio: 'number',
      },
    },
    previous: 'object',
    routes: [],
  },
}

function shapeOf(value) {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])]
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shapeOf(each)]))
}

test('it has every field, each of its type, all plain and frozen, and fit for JSON', async (t) => {
  const { spillway, request } = await measuredBy(t, new FakeClock())
  await request('/a', 1)
  const snapshot = spillway.snapshot()
  const shape = shapeOf(snapshot)
  // What no collection has told yet is null, and from then on a number.
  assert.match(shape.runtime.heap.afterGcBytes, /^(object|number)$/)
  shape.runtime.heap.afterGcBytes = 'object'
  assert.deepEqual(shape, SHAPE)
  assert.deepEqual(JSON.parse(JSON.stringify(snapshot)), snapshot)
  assertFrozen(snapshot, 'snapshot')
})

function assertFrozen(value, path) {
  if (typeof value !== 'object' || value === null) return
  assert.ok(Object.isFrozen(value), path)
  assert.ok([Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value)), path)
  for (const [key, each] of Object.entries(value)) assertFrozen(each, `${path}.${key}`)
}

test('before the first request all numbers are 0, and no ratio is NaN', (t) => {
  const spillway = new Spillway({ logger: false, shed: { mode: 'off' } }, new FakeClock())
  t.after(() => spillway.close())
  const { requests, routes, uptimeSeconds } = spillway.snapshot()
  const zeros = Object.fromEntries(Object.keys(SUMMARY).map((key) => [key, 0]))
  assert.deepEqual(requests, { inFlight: 0, lastMinute: zeros, sinceStart: zeros })
  assert.deepEqual(routes, [])
  assert.equal(uptimeSeconds, 0)
})

test('quantiles, rate and errors, by route and in total, over the last minute and since the start', async (t) => {
  const clock = new FakeClock()
  const { spillway, request } = await measuredBy(t, clock, { routes: { label: (req) => req.url } })
  for (let i = 1; i <= 20; i++) await request('/fast', i)
  for (let i = 0; i < 4; i++) await request('/slow', 1000, { status: i === 0 ? 503 : 200, method: 'POST' })
  clock.advance(10_000 - 210 - 4000)
  const { requests, routes, uptimeSeconds } = spillway.snapshot()
  assert.equal(uptimeSeconds, 10)
  assert.deepEqual(
    routes.map(({ method, route }) => `${method} ${route}`),
    ['GET /fast', 'POST /slow']
  )
  const [fast, slow] = routes.map(({ lastMinute }) => lastMinute)
  assert.equal(fast.count, 20)
  assert.equal(fast.errorRatio, 0)
  for (const [key, ms] of Object.entries({
    p50Ms: 10,
    p90Ms: 18,
    p95Ms: 19,
    p99Ms: 20,
    p999Ms: 20,
    maxMs: 20,
  })) {
    assert.ok(Math.abs(fast[key] - ms) <= ms * 0.01, `${key}: ${fast[key]}`)
  }
  assert.equal(slow.count, 4)
  assert.equal(slow.errorRatio, 0.25)
  assert.deepEqual(routes[1].outcomes, {
    completed: 3,
    errored: 1,
    aborted: 0,
    upgraded: 0,
    timed_out: 0,
  })
  assert.ok(Math.abs(requests.lastMinute.p50Ms - 12) <= 0.12)
  assert.equal(requests.lastMinute.count, 24)
  assert.equal(requests.lastMinute.errorRatio, 1 / 24)
  assert.equal(requests.lastMinute.ratePerSecond, 2.4)
  assert.deepEqual(requests.sinceStart, requests.lastMinute)
})

test('after some minutes the last minute is empty, and totals since the start remain', async (t) => {
  const clock = new FakeClock()
  const { spillway, request } = await measuredBy(t, clock)
  await request('/a', 10, { status: 500 })
  clock.advance(200_000)
  const { requests, routes } = spillway.snapshot()
  for (const { lastMinute, sinceStart } of [requests, routes[0]]) {
    assert.equal(lastMinute.count, 0)
    assert.equal(lastMinute.p99Ms, 0)
    assert.equal(lastMinute.errorRatio, 0)
    assert.equal(sinceStart.count, 1)
    assert.equal(sinceStart.errorRatio, 1)
    assert.ok(Math.abs(sinceStart.p99Ms - 10) <= 0.1)
  }
})

test('a rate includes idle time and the time before the first request of a route', async (t) => {
  const clock = new FakeClock()
  const { spillway, request } = await measuredBy(t, clock, { routes: { label: (req) => req.url } })
  await request('/a', 4)
  clock.advance(120_000)
  await request('/a', 4)
  await request('/new', 4)
  const { requests, routes } = spillway.snapshot()
  const ratesOf = ({ lastMinute, sinceStart }) =>
    [lastMinute, sinceStart].map(({ count, ratePerSecond }) => count / ratePerSecond)
  for (const each of [requests, ...routes]) assert.deepEqual(ratesOf(each).map(Math.round), [30, 120])
})

test('the first byte has a mean, and streams are separate', async (t) => {
  const { spillway, request } = await measuredBy(t, new FakeClock(), { latency: { streamAfter: 1000 } })
  await request('/a', 10)
  await request('/a', 20)
  await request('/a', 30, { bodyMs: 2000 })
  const [route] = spillway.snapshot().routes
  assert.equal(route.firstByteMeanMs, 20)
  assert.deepEqual(route.streams, { count: 1, totalSeconds: 2.03 })
  assert.equal(route.sinceStart.count, 3)
  assert.ok(route.sinceStart.maxMs <= 20.2)
  assert.ok(route.requestBytes > 0 && route.responseBytes > 0)
})

test('a route of which no byte was ever sent has a first byte mean of 0', async (t) => {
  const spillway = new Spillway({ logger: false, shed: { mode: 'off' } }, new FakeClock())
  t.after(() => spillway.close())
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.destroy())
  )
  await assert.rejects(get('/'), { code: 'ECONNRESET' })
  while (spillway.snapshot().routes.length === 0) await turn()
  const [route] = spillway.snapshot().routes
  assert.equal(route.firstByteMeanMs, 0)
  assert.equal(route.sinceStart.errorRatio, 1)
})

test('it has the time of day, and its uptime comes from the monotonic clock', (t) => {
  const clock = new FakeClock()
  const spillway = new Spillway({ logger: false }, clock)
  t.after(() => spillway.close())
  clock.advance(5000)
  clock.wallMs = () => Date.UTC(2020, 1, 2, 3, 4, 5, 678)
  const { at, uptimeSeconds } = spillway.snapshot()
  assert.equal(at, '2020-02-02T03:04:05.678Z')
  assert.equal(uptimeSeconds, 5)
})

test('a snapshot does not change afterwards', async (t) => {
  const { spillway, request } = await measuredBy(t, new FakeClock())
  await request('/a', 1)
  const snapshot = spillway.snapshot()
  const before = JSON.stringify(snapshot)
  await request('/a', 50)
  await request('/b', 50)
  assert.equal(JSON.stringify(snapshot), before)
})

test('folded requests and internal errors are shown', async (t) => {
  let calls = 0
  const label = (req) => {
    calls++
    if (req.url === '/fault') throw new Error('as it should')
    return req.url
  }
  const { spillway, request } = await measuredBy(t, new FakeClock(), { routes: { max: 1, label } })
  for (const path of ['/a', '/b', '/c', '/fault']) await request(path, 1)
  const { routes, routesFolded, internalErrors } = spillway.snapshot()
  assert.equal(calls, 4)
  assert.deepEqual(
    routes.map(({ route }) => route),
    ['/a', '(other)', '(unmatched)']
  )
  assert.equal(routesFolded, 2)
  assert.deepEqual(internalErrors, { 'routes.label': 1 })
})
