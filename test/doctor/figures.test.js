'use strict'
// The figures of two readings: of a real instance, by a clock that is moved by hand.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const { setImmediate: nextTurn } = require('node:timers/promises')
const express = require('express')
const { CallPlace } = require('../../src/core/call-place')
const { Instance } = require('../../src/instance')
const { resolveOptions } = require('../../src/core/options/options')
const { figuresOf } = require('../../src/features/doctor/figures')
const { UsualDurations, takeReading } = require('../../src/features/doctor/reading')
const { ABORTED, COMPLETED, ERRORED } = require('../../src/core/request/outcome')
const { METHODS } = require('../../src/core/request/methods')
const { handClock } = require('../support/hand-clock')
const { requestWith } = require('../support/request')
const { serve } = require('../support/serve')

const MINUTE_MS = 60_000
const near = (value, expected) =>
  assert.ok(Math.abs(value / expected - 1) < 0.01, `${value} is not ${expected}`)
const LONG_TURNS = { long: { count: 0, ms: 0, requests: 0 }, veryLong: { count: 0, ms: 0, requests: 0 } }
const NO_PROXIES = { looked: 0, proxied: 0, kept: 0, idleCloses: 0, unusedCloses: 0, server: undefined }
const NO_WAITS = { observedMs: 0, fullMs: 0, waits: 0, waitedMs: 0 }

/** An instance, and readings of it whose process figures are given. */
function readable(t, { startedFeatures = {}, ...others } = {}, options = {}) {
  const clock = handClock()
  const instance = new Instance(
    resolveOptions({ logger: false, ...options }),
    /** @type {any} */ (clock),
    new CallPlace(Instance)
  )
  t.after(() => instance.close())
  const deps = /** @type {any} */ (
    Object.assign(Object.create(instance), others, {
      startedFeatures: { ...instance.startedFeatures, ...startedFeatures },
    })
  )
  const process = {
    longTurns: LONG_TURNS,
    threadPool: NO_WAITS,
    throttling: undefined,
    scheduler: undefined,
    proxies: NO_PROXIES,
  }
  const usual = new UsualDurations()
  return {
    clock,
    deps,
    instance,
    usual,
    process,
    read: () =>
      takeReading(deps, {
        longTurns: /** @type {any} */ ({ sample: () => process.longTurns }),
        cpuThrottling: /** @type {any} */ ({ sample: () => process.throttling }),
        threadPool: /** @type {any} */ ({ sample: () => process.threadPool }),
        proxies: /** @type {any} */ ({ sample: () => process.proxies }),
        readScheduler: () => process.scheduler,
      }),
    figures: (earlier, now) => figuresOf(deps, { readings: [earlier].flat(), now, usual, recent: [] }),
    /** Requests of one route that have ended. */
    end(route, given) {
      const { count, durationMs, outcome = COMPLETED, method = 'GET', firstByteMs = durationMs } = given
      const { status = outcome === ERRORED ? 500 : 200, onEnd } = given
      const series = instance.recorder.routes.find(route, METHODS.indexOf(method))
      for (let i = 0; i < count; i++) {
        const request = {
          outcome,
          status,
          durationMs,
          firstByteMs,
          scheme: 0,
          requestBytes: 1,
          responseBytes: 1,
        }
        series.record(request, clock.now())
        instance.recorder.requests.ended++
        onEnd?.({ ...request, series })
      }
    },
  }
}

test('routes have what happened between the readings, and what had failed before', (t) => {
  const { clock, end, figures, instance, read, usual } = readable(t)
  end('/orders', { count: 100, durationMs: 20, outcome: ERRORED })
  end('/orders', { count: 300, durationMs: 20 })
  usual.onLook(instance.recorder.routes.series[0], 400, 20)
  const earlier = read()
  clock.advance(MINUTE_MS)
  end('/orders', { count: 30, durationMs: 100 })
  end('/orders', { count: 10, durationMs: 300, outcome: ERRORED, firstByteMs: 200 })
  end('/items', { count: 60, durationMs: 50, method: 'POST', firstByteMs: -1 })
  const { requests, routes, seconds } = figures(earlier, read())
  assert.equal(seconds, 60)
  assert.deepEqual([requests.count, requests.errors], [100, 10])
  const [orders, items] = routes
  assert.deepEqual([orders.method, orders.route, orders.count, orders.errors], ['GET', '/orders', 40, 10])
  near(orders.meanMs, 150)
  near(orders.firstByteMs, 125)
  near(orders.timeShare, 6000 / 9000)
  assert.deepEqual(orders.before, { count: 400, errors: 100 })
  near(Number(orders.usualMs), 20)
  near(Number(orders.quantiles?.p50Ms), 100)
  assert.deepEqual(
    [items.method, items.route, items.count, items.before],
    ['POST', '/items', 60, { count: 0, errors: 0 }]
  )
  assert.ok(Number.isNaN(items.firstByteMs))
  assert.equal(items.usualMs, undefined)
})

test('the thread pool has the share of the time in which jobs waited, their mean wait, and its size', (t) => {
  const { clock, figures, process: of, read } = readable(t)
  of.threadPool = { observedMs: 20_000, fullMs: 5000, waits: 1, waitedMs: 5000 }
  const earlier = read()
  clock.advance(MINUTE_MS)
  assert.deepEqual(figures(earlier, read()).threadPool, { seconds: 0, fullShare: 0, waitMs: 0, threads: 4 })
  // The job that was outstanding has waited for 7 seconds more, and another one for 1.
  of.threadPool = { observedMs: 36_000, fullMs: 13_000, waits: 2, waitedMs: 13_000 }
  assert.deepEqual(figures(earlier, read()).threadPool, {
    seconds: 16,
    fullShare: 0.5,
    waitMs: 8000,
    threads: 4,
  })
  process.env.UV_THREADPOOL_SIZE = '16'
  t.after(() => delete process.env.UV_THREADPOOL_SIZE)
  assert.equal(figures(earlier, read()).threadPool.threads, 16)
})

test('proxies have what happened between the readings, and how long their server keeps a connection', (t) => {
  const { figures, process: of, read } = readable(t)
  const server = http.createServer()
  of.proxies = { looked: 10, proxied: 9, kept: 8, idleCloses: 7, unusedCloses: 6, server: undefined }
  const earlier = read()
  of.proxies = { looked: 20, proxied: 18, kept: 16, idleCloses: 14, unusedCloses: 12, server }
  const now = read()
  const counts = { looked: 10, proxied: 9, kept: 8, idleCloses: 7, unusedCloses: 6 }
  assert.deepEqual(figures(earlier, now).proxies, { ...counts, keptMs: 6000 })
  Object.assign(server, { keepAliveTimeout: 65_000, keepAliveTimeoutBuffer: 500 })
  assert.deepEqual(figures(earlier, now).proxies, { ...counts, keptMs: 65_500 })
  server.keepAliveTimeout = 0
  assert.deepEqual(figures(earlier, now).proxies, { ...counts, keptMs: 0 })
  assert.deepEqual(figures(earlier, earlier).proxies.keptMs, 0)
})

test('a route is left out if `ignore.log` names one of its requests', async (t) => {
  const { figures, instance, read } = readable(t, {}, { ignore: { log: '/poll' } })
  const earlier = read()
  const app = express()
  for (const path of ['/poll', '/orders']) app.get(path, (_req, res) => res.end())
  const server = http.createServer(app)
  instance.entrance.attach(server)
  const { get } = await serve(t, server)
  for (const path of ['/poll', '/orders']) await get(path)
  while (instance.recorder.requests.ended < 2) await nextTurn()
  const left = figures(earlier, read()).routes.map(({ route, isLeftOut }) => [route, isLeftOut])
  assert.deepEqual(left.sort(), [
    ['/orders', false],
    ['/poll', true],
  ])
})

/** Requests of 100 ms: 60 in the handler, 30 of a free loop before the answer and 10 after it. */
const splitBy = (instance, clock) => (ended) => {
  const request = requestWith({ ...ended, startedMs: clock.now(), returnedMs: clock.now() + 60 })
  request.ticket.decidedMs = clock.now()
  Object.assign(request, { durationMs: 100, firstByteMs: 90, headIdleMs: 30, endedIdleMs: 40, unreadMs: 5 })
  instance.recorder.timeParts.onEnd(request)
}

test('routes have the parts of their time between the readings, and their share of the loop', (t) => {
  const { clock, end, figures, instance, read } = readable(t)
  const onEnd = splitBy(instance, clock)
  end('/orders', { count: 7, durationMs: 100, onEnd })
  const earlier = read()
  clock.advance(MINUTE_MS)
  end('/orders', { count: 100, durationMs: 100, onEnd })
  end('/items', { count: 10, durationMs: 100, onEnd })
  const [orders, items] = figures(earlier, read()).routes
  assert.deepEqual(orders.parts, {
    queueMs: 0,
    runMs: 6000,
    loopBusyMs: 0,
    gcMs: 0,
    waitMs: 3000,
    bodyMs: 1000,
  })
  assert.deepEqual([orders.unreadMs, orders.loopShare], [500, 0.1])
  assert.deepEqual([items.parts?.runMs, items.loopShare], [600, 0.01])
})

test('with `insight.parts: false` no part of a time is known', (t) => {
  const { clock, end, figures, instance, read } = readable(t, {}, { insight: { parts: false } })
  const earlier = read()
  clock.advance(MINUTE_MS)
  end('/orders', { count: 10, durationMs: 100, onEnd: splitBy(instance, clock) })
  const [{ count, loopShare, parts, unreadMs }] = figures(earlier, read()).routes
  assert.deepEqual([count, loopShare, parts, unreadMs], [10, undefined, undefined, undefined])
})

test('requests that were aborted before an answer began are counted, with their time', (t) => {
  const { clock, end, figures, read } = readable(t)
  const gone = { outcome: ABORTED, status: 0, firstByteMs: -1 }
  end('/orders', { count: 5, durationMs: 9000, ...gone })
  const earlier = read()
  clock.advance(MINUTE_MS)
  end('/orders', { count: 30, durationMs: 4000, ...gone })
  end('/orders', { count: 10, durationMs: 2000, firstByteMs: 1500 })
  // The answer had begun, as in an event stream.
  end('/orders', { count: 2, durationMs: 2000, outcome: ABORTED })
  end('/report', { count: 6, durationMs: 4000, ...gone })
  // The server cut the connection: without an answer too, in a series of its own.
  end('/report', { count: 2, durationMs: 1000, ...gone, outcome: ERRORED })
  const [orders, report] = figures(earlier, read()).routes
  assert.deepEqual([orders.count, orders.aborted, orders.gaveUp.count], [42, 32, 30])
  near(orders.gaveUp.meanMs, 4000)
  near(orders.answeredMs, 2000)
  // Two of the answers had begun after 2 s.
  near(orders.leastWaitMs, (30 * 4000 + 10 * 1500 + 2 * 2000) / 42)
  assert.deepEqual([report.gaveUp.count, report.answeredMs], [6, Number.NaN])
  near(report.gaveUp.meanMs, 3250)
  near(report.leastWaitMs, 3250)
})

test('a route without a request between the readings is left out', (t) => {
  const { clock, end, figures, read } = readable(t)
  end('/orders', { count: 10, durationMs: 20 })
  const earlier = read()
  clock.advance(MINUTE_MS)
  const { requests, routes } = figures(earlier, read())
  assert.deepEqual([requests.count, routes], [0, []])
})

test('figures of the process are shares of the time between the readings', (t) => {
  const { clock, figures, process, read } = readable(t)
  Object.assign(process, {
    scheduler: { ranMs: 1000, waitedMs: 500 },
    throttling: { periods: 100, throttledPeriods: 10, throttledMs: 700 },
  })
  const earlier = read()
  clock.advance(MINUTE_MS)
  Object.assign(process, {
    scheduler: { ranMs: 31_000, waitedMs: 12_500 },
    throttling: { periods: 700, throttledPeriods: 160, throttledMs: 6700 },
    longTurns: {
      long: { count: 9, ms: 30_000, requests: 20 },
      veryLong: { count: 4, ms: 6000, requests: 3 },
    },
  })
  const now = read()
  const { loop, scheduler, throttling } = figures(earlier, now)
  const { foreignShare, ...rest } = scheduler ?? { foreignShare: 0 }
  assert.deepEqual(rest, { runShare: 0.5, waitShare: 0.2 })
  // This test ran on a CPU for a moment as well.
  near(foreignShare, 0.2)
  // Other threads of the process used a tenth of a CPU. The loop may have waited for them.
  const own = figures({ ...earlier, cpuMs: 5000 }, { ...now, cpuMs: 5000 + 0.6 * MINUTE_MS })
  near(own.scheduler?.foreignShare, 0.1)
  assert.deepEqual(throttling, { periods: 600, throttledPeriods: 150, share: 0.1 })
  assert.deepEqual(loop.long, { count: 9, share: 0.5, requests: 20 })
  assert.deepEqual(loop.veryLong, { count: 4, share: 0.1, requests: 3 })
})

test('what nobody measures in this process is undefined', (t) => {
  const { clock, figures, read } = readable(t, {}, { insight: false })
  const earlier = read()
  clock.advance(MINUTE_MS)
  const { scheduler, stalls, throttling } = figures(earlier, read())
  assert.deepEqual([scheduler, stalls, throttling], [undefined, undefined, undefined])
})

test('stalls cost what they have cost since the earlier reading, calls are by host and route, warnings as they are', (t) => {
  const site = {
    cause: 'native',
    file: '/app/a.js',
    method: 'POST',
    route: '/login',
    origin: 'request',
    frames: [],
  }
  let sites = [
    { ...site, function: 'hash', totalMs: 900 },
    { ...site, function: 'render', totalMs: 500 },
  ]
  const calls = (count, totalMs) => ({ count, totalMs, awaited: count, awaitedMs: totalMs })
  const stock = { host: 'stock', method: 'GET', route: '/orders' }
  const [known, unknown, old, mail] = [{}, {}, {}, {}]
  let totals = new Map([
    [known, { ...stock, ...calls(100, 900) }],
    [old, { ...stock, route: '/old', ...calls(3, 9000) }],
  ])
  const warnings = { counts: { MaxListenersExceededWarning: 1 }, recent: [] }
  const { clock, figures, read, usual } = readable(t, {
    startedFeatures: { stalls: { sample: () => ({ sites }) }, outgoing: { totals: () => totals } },
    warnings: { list: () => warnings },
  })
  const earlier = read()
  usual.onLook(known, 100, 9)
  clock.advance(MINUTE_MS)
  sites = [
    { ...site, function: 'hash', totalMs: 950 },
    { ...site, function: 'render', totalMs: 500 },
    { ...site, function: 'parse', totalMs: 200 },
  ]
  totals = new Map([
    [known, { ...stock, ...calls(110, 1500) }],
    [unknown, { ...stock, method: null, route: null, ...calls(2, 100) }],
    [old, { ...stock, route: '/old', ...calls(3, 9000) }],
    [mail, { host: 'mail', method: 'POST', route: '/login', ...calls(1, 650) }],
  ])
  const found = figures(earlier, read())
  assert.deepEqual(
    found.stalls?.sites.map(({ function: name, ms }) => [name, ms]),
    [
      ['parse', 200],
      ['hash', 50],
    ]
  )
  assert.deepEqual(
    found.outgoing?.map(({ host, route, count, totalMs, awaitedMs }) => [
      host,
      route,
      count,
      totalMs,
      awaitedMs,
    ]),
    [
      ['mail', '/login', 1, 650, 650],
      ['stock', '/orders', 10, 600, 600],
      ['stock', null, 2, 100, 100],
    ]
  )
  const [usualOfMail, usualOfStock] = (found.outgoing ?? []).map(({ usualMs }) => usualMs)
  assert.equal(usualOfMail, undefined)
  near(Number(usualOfStock), 9)
  assert.equal(found.warnings, warnings)
})

test('rejections are counted by reason, and kinds of errors by how often they came', (t) => {
  const { clock, figures, instance, read } = readable(t)
  const { stats } = instance.admission
  const fail = (type, count) => {
    for (let i = 0; i < count; i++) instance.failures.table.count({ route: '/orders' }, { status: 500, type })
  }
  stats.countRejected('loop', 2)
  fail('RangeError', 5)
  const earlier = read()
  clock.advance(MINUTE_MS)
  for (let i = 0; i < 3; i++) stats.countRejected('loop', 2)
  stats.countRejected('loop', 3)
  stats.countRejected('memory', 2)
  stats.countWouldReject('loop', 2)
  fail('RangeError', 1)
  fail('TypeError', 2)
  const { admission, errorKinds } = figures(earlier, read())
  assert.deepEqual(admission.reasons, { loop: 4, memory: 1 })
  assert.deepEqual([admission.rejected, admission.wouldReject], [5, 1])
  assert.deepEqual(errorKinds, [
    { route: '/orders', status: 500, type: 'TypeError', count: 2, place: null },
    { route: '/orders', status: 500, type: 'RangeError', count: 1, place: null },
  ])
  instance.admission.update({ ...instance.options.shed, mode: 'observe' })
  assert.deepEqual(figures(earlier, read()).admission.reasons, { loop: 1 })
})

test('an overload has the loop and the routes of the spans in which requests were rejected', (t) => {
  const { clock, end, figures, instance, read } = readable(t)
  const { stats } = instance.admission
  const onEnd = splitBy(instance, clock)
  const readings = [read()]
  const now = () => ({ ...read(), loopActiveMs: readings[readings.length - 1].loopActiveMs })
  const look = (loopActiveMs, rejected, route) => {
    clock.advance(10_000)
    for (let i = 0; i < rejected; i++) stats.countRejected('loop', 2)
    end(route, { count: 50, durationMs: 100, onEnd })
    readings.push({ ...read(), loopActiveMs: readings[readings.length - 1].loopActiveMs + loopActiveMs })
  }
  look(100, 0, '/items')
  assert.equal(figures(readings, now()).overload, undefined)
  look(9000, 3, '/orders')
  look(200, 0, '/items')
  look(7000, 1, '/orders')
  assert.deepEqual(figures(readings, now()).overload, {
    utilization: 0.8,
    routes: [{ method: 'GET', route: '/orders', loopShare: 0.3 }],
  })
  // A request that ran before is counted where it ends.
  look(1000, 1, '/orders')
  end('/orders', { count: 800, durationMs: 100, onEnd })
  const [, , , , last] = readings
  const long = { ...now(), atMs: last.atMs + 20_000, shed: { loop: 99 } }
  assert.deepEqual(figures([last], long).overload?.routes[0].loopShare, 0.05)
  instance.admission.update({ ...instance.options.shed, mode: 'observe' })
  assert.equal(figures(readings, now()).overload, undefined)
})
