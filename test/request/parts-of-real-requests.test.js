'use strict'
// The parts of requests to real servers, in each way that a request may come, by a clock that only moves when
// told.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { Spillway } = require('../../src/spillway')
const { systemClock } = require('../../src/core/clock')
const { serve } = require('../support/serve')
const { ended } = require('../support/spillway')

const turn = () => new Promise((resolve) => setImmediate(resolve))

function toldClock() {
  let nowMs = 10_000
  let idleMs = 500
  return {
    ...systemClock,
    now: () => nowMs,
    idleMs: () => idleMs,
    work: (ms) => (nowMs += ms),
    idle(ms) {
      nowMs += ms
      idleMs += ms
    },
  }
}

function spillwayOn(t, clock, options) {
  const spillway = new Spillway({ logger: false, ...options }, clock)
  t.after(() => spillway.close())
  return spillway
}

/** Runs 30 ms, awaits 50, works 7, answers, and the client takes 11 to read. */
async function respond(clock, res) {
  clock.work(30)
  await turn()
  clock.idle(50)
  clock.work(7)
  res.write('begun')
  clock.idle(11)
  res.end()
}
const PARTS = { queueMs: 0, runMs: 30, loopBusyMs: 7, gcMs: 0, waitMs: 50, bodyMs: 11 }

const inKoa = (clock) => (ctx) => {
  ctx.respond = false
  return respond(clock, ctx.res)
}
const WAYS = {
  attach(spillway, clock) {
    const server = http.createServer((_req, res) => respond(clock, res))
    spillway.attach(server)
    return server
  },
  wrap: (spillway, clock) => spillway.wrap((_req, res) => respond(clock, res)),
  'express()': (spillway, clock) =>
    express()
      .use(spillway.express())
      .use((_req, res) => respond(clock, res)),
  'express() behind another middleware': (spillway, clock) =>
    express()
      .use((_req, _res, next) => next())
      .use(spillway.express())
      .use((_req, res) => respond(clock, res)),
  'koa()': (spillway, clock) => new Koa().use(spillway.koa()).use(inKoa(clock)).callback(),
}
const OPTIONS = {
  'by default': {},
  'with shedding off': { shed: { mode: 'off' } },
  // A middleware may decide then, even behind a server hook.
  'with a function of the user': { shed: { classify: () => 'high' } },
}

for (const [way, listenerFor] of Object.entries(WAYS)) {
  for (const [how, options] of Object.entries(OPTIONS)) {
    test(`${way} ${how}: where the time went, of the first request and the next`, async (t) => {
      const clock = toldClock()
      const spillway = spillwayOn(t, clock, options)
      const { get } = await serve(t, listenerFor(spillway, clock))
      for (let count = 1; count <= 2; count++) {
        await get('/')
        await ended(spillway, count)
        const [{ parts, durationMs }] = spillway.snapshot().slowest
        assert.deepEqual([parts, durationMs], [PARTS, 98])
      }
      const [{ parts, loopMs }] = spillway.snapshot().routes
      const doubled = Object.fromEntries(Object.entries(PARTS).map(([part, ms]) => [part, 2 * ms]))
      for (const { unreadMs, proxyMs, ...sums } of Object.values(parts)) {
        assert.deepEqual(roundedIn(sums), doubled)
        assert.deepEqual([unreadMs >= 0, proxyMs], [true, 0])
      }
      // The handler, and its code after the `await`.
      assert.deepEqual(roundedIn(loopMs), { sinceStart: 74, lastMinute: 74 })
    })
  }
}

const roundedIn = (sums) =>
  Object.fromEntries(Object.entries(sums).map(([name, ms]) => [name, Math.round(ms * 1000) / 1000]))

for (const [name, insight] of Object.entries({
  'insight: false': false,
  'insight.parts: false': { parts: false },
})) {
  test(`with ${name} no time is split, and loopDelayMs is known all the same`, async (t) => {
    const clock = toldClock()
    const spillway = spillwayOn(t, clock, { insight })
    const { get } = await serve(t, WAYS.attach(spillway, clock))
    await get('/')
    await ended(spillway, 1)
    const { routes, slowest } = spillway.snapshot()
    assert.deepEqual([routes[0].parts, routes[0].loopMs], [null, null])
    const [{ durationMs, parts, unreadMs, loopDelayMs }] = slowest
    assert.deepEqual([durationMs, parts, unreadMs], [98, null, null])
    assert.ok(loopDelayMs > 0)
  })
}

test('a queued request has its queue, whatever the loop did meanwhile, and the run of when it was dequeued', async (t) => {
  const clock = toldClock()
  const spillway = spillwayOn(t, clock, { shed: { maxConcurrent: 1 } })
  const held = []
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => {
      clock.work(4)
      if (held.push(res) > 1) res.end()
    })
  )
  const first = get('/first')
  while (held.length < 1) await turn()
  const second = get('/second')
  while (spillway.snapshot().admission.queued < 1) await turn()
  clock.idle(25)
  clock.work(15)
  held[0].end()
  await Promise.all([first, second])
  await ended(spillway, 2)
  const { parts } = spillway.snapshot().slowest.find(({ queueMs }) => queueMs > 0) ?? {}
  assert.deepEqual(parts, { ...PARTS, queueMs: 40, runMs: 4, loopBusyMs: 0, waitMs: 0, bodyMs: 0 })
})

test('a queued request whose handler goes on in the same turn has used the loop once', async (t) => {
  const clock = toldClock()
  const spillway = spillwayOn(t, clock, { shed: { maxConcurrent: 1 } })
  const held = []
  const { get } = await serve(
    t,
    spillway.wrap(async (req, res) => {
      if (req.url === '/first') return void held.push(res)
      clock.work(40)
      await undefined
      clock.work(2)
      res.end()
    })
  )
  const first = get('/first')
  while (held.length < 1) await turn()
  const second = get('/second')
  while (spillway.snapshot().admission.queued < 1) await turn()
  held[0].end()
  await Promise.all([first, second])
  await ended(spillway, 2)
  const [{ loopMs }] = spillway.snapshot().routes
  assert.equal(loopMs.sinceStart, 42)
})

test('a request that a busy turn kept in the kernel tells so, up to the answer before it on its connection', async (t) => {
  const clock = toldClock()
  const spillway = spillwayOn(t, clock)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const { request } = await serve(
    t,
    spillway.wrap((req, res) => {
      clock.work(Number(req.url.slice(1)))
      res.end()
    })
  )
  const unreadMs = () => spillway.snapshot().slowest.map(({ durationMs, unreadMs: ms }) => [durationMs, ms])
  await request({ path: '/300', agent })
  await ended(spillway, 1)
  // No turn was told to idle: the one before the next request took 300 ms, all of it before the answer.
  await request({ path: '/20', agent })
  await ended(spillway, 2)
  assert.deepEqual(unreadMs(), [
    [300, 0],
    [20, 0],
  ])
})

test('the metrics of a route sum its methods', async (t) => {
  const clock = toldClock()
  const spillway = spillwayOn(t, clock)
  const { get, request } = await serve(
    t,
    spillway.wrap((_req, res) => {
      clock.work(250)
      res.end()
    })
  )
  await get('/')
  await request({ path: '/', method: 'PUT' })
  await ended(spillway, 2)
  const { body } = await get('/metrics')
  assert.deepEqual(
    body
      .split('\n')
      .filter((line) => /^spillway_(request_part|route_loop)_seconds_total.*(run"|hed\))/.test(line)),
    [
      'spillway_request_part_seconds_total{http_route="(unmatched)",part="run"} 0.5',
      'spillway_route_loop_seconds_total{http_route="(unmatched)"} 0.5',
    ]
  )
})
