'use strict'
// What OpenTelemetry's own SDK collects of us: the conventions' names, units and kinds, exact numbers, and
// each once.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { metrics } = require('@opentelemetry/api')
const conventions = require('@opentelemetry/semantic-conventions/incubating')
const { AggregationType } = require('@opentelemetry/sdk-metrics')
const { systemClock } = require('../../src/core/clock')
const { OPENTELEMETRY_FAMILIES } = require('../../src/core/metrics/families')
const { FAMILIES } = require('../support/families')
const { instrumentsWith } = require('../../src/features/opentelemetry/instruments')
const { ADVISED_BOUNDS } = require('../../src/core/histogram/buckets')
const { Spillway } = require('../../src/spillway')
const express = require('express')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { collected, startMetrics } = require('../support/telemetry')

const HISTOGRAM = 0
const GAUGE = 2
const SUM = 3
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/**
 * Name, unit and data of what the conventions name: true is a sum that only rises, false one that also falls.
 */
const CONVENTIONAL = [
  [conventions.METRIC_HTTP_SERVER_REQUEST_DURATION, 's', HISTOGRAM],
  [conventions.METRIC_HTTP_SERVER_ACTIVE_REQUESTS, '{request}', SUM, false],
  [conventions.METRIC_NODEJS_EVENTLOOP_DELAY_MIN, 's', GAUGE],
  [conventions.METRIC_NODEJS_EVENTLOOP_DELAY_MAX, 's', GAUGE],
  [conventions.METRIC_NODEJS_EVENTLOOP_DELAY_MEAN, 's', GAUGE],
  [conventions.METRIC_NODEJS_EVENTLOOP_DELAY_STDDEV, 's', GAUGE],
  [conventions.METRIC_NODEJS_EVENTLOOP_DELAY_P50, 's', GAUGE],
  [conventions.METRIC_NODEJS_EVENTLOOP_DELAY_P90, 's', GAUGE],
  [conventions.METRIC_NODEJS_EVENTLOOP_DELAY_P99, 's', GAUGE],
  [conventions.METRIC_NODEJS_EVENTLOOP_UTILIZATION, '1', GAUGE],
  [conventions.METRIC_NODEJS_EVENTLOOP_TIME, 's', SUM, true],
  [conventions.METRIC_V8JS_GC_DURATION, 's', HISTOGRAM],
  [conventions.METRIC_V8JS_MEMORY_HEAP_USED, 'By', SUM, false],
  [conventions.METRIC_V8JS_RESOURCE_ACTIVE, '{resource}', GAUGE],
  [conventions.METRIC_V8JS_MEMORY_HEAP_SPACE_SIZE, 'By', SUM, false],
  [conventions.METRIC_V8JS_MEMORY_HEAP_SPACE_AVAILABLE_SIZE, 'By', SUM, false],
  [conventions.METRIC_V8JS_MEMORY_HEAP_SPACE_PHYSICAL_SIZE, 'By', SUM, false],
  [conventions.METRIC_PROCESS_CPU_TIME, 's', SUM, true],
  [conventions.METRIC_PROCESS_CPU_UTILIZATION, '1', GAUGE],
  [conventions.METRIC_PROCESS_MEMORY_USAGE, 'By', SUM, false],
]

async function answered(t, spillway) {
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (_req, res) => res.end())
  app.get('/down', (_req, res) => res.status(503).end())
  const { get } = await serve(t, app)
  for (const path of ['/users/1', '/users/2', '/down', '/nowhere']) await get(path)
  await ended(spillway, 4)
}

/** Until V8 has collected some: before, there is nothing to tell of it. */
async function collectGarbage(spillway) {
  let garbage = []
  while (spillway.snapshot().runtime.collections.minor.count === 0) {
    for (let i = 0; i < 10_000; i++) garbage.push([i])
    garbage = []
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The client of these tests is in the same process. */
const OF_SERVER = { insight: { outgoing: false } }

const inForm = ({ descriptor: { name, unit }, dataPointType, isMonotonic }) =>
  dataPointType === SUM ? [name, unit, SUM, isMonotonic] : [name, unit, dataPointType]
const named = (all, name) => all.find(({ descriptor }) => descriptor.name === name)

test('a reader with the producer gets all metrics of the conventions in their form', async (t) => {
  const spillway = spillwayFor(t, OF_SERVER)
  const reader = startMetrics(t, { metricProducers: [spillway.metricProducer()] })
  await answered(t, spillway)
  await collectGarbage(spillway)
  const all = await collected(reader)
  const theirs = all.filter(({ descriptor }) => !descriptor.name.startsWith('spillway.'))
  assert.deepEqual(theirs.map(inForm), CONVENTIONAL)
  const { boundaries } = named(all, conventions.METRIC_V8JS_GC_DURATION).dataPoints[0].value.buckets
  assert.deepEqual(boundaries, BOUNDS.slice(2))
})

test('the durations are exact, by the attributes of the conventions', async (t) => {
  const spillway = spillwayFor(t, OF_SERVER)
  const reader = startMetrics(t, { metricProducers: [spillway.metricProducer()] })
  await answered(t, spillway)
  const { dataPoints } = named(await collected(reader), conventions.METRIC_HTTP_SERVER_REQUEST_DURATION)
  const always = { [conventions.ATTR_HTTP_REQUEST_METHOD]: 'GET', [conventions.ATTR_URL_SCHEME]: 'http' }
  const route = conventions.ATTR_HTTP_ROUTE
  const status = conventions.ATTR_HTTP_RESPONSE_STATUS_CODE
  assert.deepEqual(
    dataPoints.map(({ attributes, value }) => [attributes, value.count]),
    [
      [{ ...always, [route]: '/users/:id', [status]: 200 }, 2],
      [{ ...always, [route]: '/down', [status]: 503, [conventions.ATTR_ERROR_TYPE]: '503' }, 1],
      [{ ...always, [status]: 404 }, 1],
    ]
  )
  for (const { value, startTime, endTime } of dataPoints) {
    assert.deepEqual(value.buckets.boundaries, BOUNDS)
    assert.equal(value.buckets.counts.length, BOUNDS.length + 1)
    assert.equal(
      value.buckets.counts.reduce((a, b) => a + b, 0),
      value.count
    )
    assert.ok(value.sum > 0)
    assert.ok(endTime[0] + endTime[1] / 1e9 > startTime[0] + startTime[1] / 1e9)
  }
})

test('without a producer there are observable instruments, and no histograms of the conventions', async (t) => {
  const reader = startMetrics(t)
  const spillway = spillwayFor(t, OF_SERVER)
  await answered(t, spillway)
  const all = await collected(reader)
  const theirs = all.filter(({ descriptor }) => !descriptor.name.startsWith('spillway.'))
  assert.deepEqual(
    theirs.map(inForm),
    CONVENTIONAL.filter(([, , type]) => type !== HISTOGRAM)
  )
  const admitted = named(all, 'spillway.admitted_requests')
  assert.deepEqual([admitted.isMonotonic, admitted.dataPoints[0].value], [true, 4])
  const firstBytes = named(all, 'spillway.response_first_byte.count')
  assert.equal(
    firstBytes.dataPoints.reduce((sum, { value }) => sum + value, 0),
    4
  )
})

test('an SDK that is registered after createSpillway() is found when a middleware is made', async (t) => {
  const spillway = spillwayFor(t, OF_SERVER)
  const reader = startMetrics(t)
  assert.deepEqual(await collected(reader), [])
  spillway.express()
  assert.equal(named(await collected(reader), 'spillway.admitted_requests').dataPoints[0].value, 0)
})

for (const when of ['before', 'after']) {
  test(`nothing is shown twice where the producer is asked for ${when} a reader without one has collected`, async (t) => {
    const without = startMetrics(t)
    const spillway = spillwayFor(t, OF_SERVER)
    if (when === 'after') assert.notDeepEqual(await collected(without), [])
    const producer = spillway.metricProducer()
    assert.equal(spillway.metricProducer(), producer)
    const reader = startMetrics(t, { metricProducers: [producer] })
    spillway.wrap(() => {})
    await answered(t, spillway)
    const names = (await collected(reader)).map(({ descriptor }) => descriptor.name)
    assert.equal(new Set(names).size, names.length)
    assert.equal(names.length > 30, true)
    // What it collected once a cumulative reader may repeat; it gets nothing new.
    const admitted = named(await collected(without), 'spillway.admitted_requests')
    assert.ok([undefined, 0].includes(admitted?.dataPoints[0].value))
  })
}

test('a second instance has its number and no process metrics, and a closed instance observes nothing', async (t) => {
  const reader = startMetrics(t)
  const first = spillwayFor(t, OF_SERVER)
  const second = spillwayFor(t, OF_SERVER)
  const of = async (name) =>
    named(await collected(reader), name).dataPoints.map(({ attributes }) => attributes)
  assert.deepEqual(await of('spillway.admitted_requests'), [{}, { 'spillway.instance': 2 }])
  assert.deepEqual(await of('nodejs.eventloop.utilization'), [{}])
  const ofFirst = [{ 'spillway.event': 'uncaughtException' }, { 'spillway.event': 'unhandledRejection' }]
  assert.deepEqual(await of('spillway.process_errors'), ofFirst)
  second.close()
  first.close()
  const third = spillwayFor(t, OF_SERVER)
  const numbers = await third.metricProducer().collect()
  assert.deepEqual(
    numbers.resourceMetrics.scopeMetrics[0].metrics[0].dataPoints[0].attributes['spillway.instance'],
    undefined
  )
})

test("a view takes instrumentation-http's own durations away, and leaves the producer's", async (t) => {
  const spillway = spillwayFor(t, OF_SERVER)
  const name = conventions.METRIC_HTTP_SERVER_REQUEST_DURATION
  const views = [{ instrumentName: name, aggregation: { type: AggregationType.DROP } }]
  const reader = startMetrics(t, { metricProducers: [spillway.metricProducer()], views })
  await answered(t, spillway)
  const theirs = metrics.getMeter('@opentelemetry/instrumentation-http').createHistogram(name, { unit: 's' })
  theirs.record(1)
  const all = (await collected(reader, /./)).filter(({ descriptor }) => descriptor.name === name)
  assert.deepEqual(
    all.map(({ dataPoints }) => dataPoints.length),
    [3]
  )
})

test('a producer answers after close(): an SDK that is shut down collects once more', async (t) => {
  const spillway = spillwayFor(t, OF_SERVER)
  const reader = startMetrics(t, { metricProducers: [spillway.metricProducer()] })
  await answered(t, spillway)
  spillway.close()
  assert.equal(named(await collected(reader), 'spillway.admitted_requests').dataPoints[0].value, 4)
})

test('a MeterProvider that throws is counted as an internal error', (t) => {
  const broken = /** @type {any} */ ({
    getMeter() {
      throw new Error('of the SDK')
    },
  })
  metrics.setGlobalMeterProvider(broken)
  t.after(() => metrics.disable())
  const spillway = spillwayFor(t, OF_SERVER)
  assert.deepEqual(spillway.snapshot().internalErrors, { opentelemetry: 1 })
})

test('names and units translate to the names of the Prometheus families', () => {
  const SUFFIXES = { s: 'seconds', By: 'bytes', 'By/s': 'bytes_per_second', 1: 'ratio' }
  const translated = instrumentsWith(ADVISED_BOUNDS, FAMILIES).map(({ name, unit, kind }) => {
    const suffix = SUFFIXES[unit]
    const stem = name.replaceAll('.', '_')
    const whole = suffix === undefined || stem.endsWith(`_${suffix}`) ? stem : `${stem}_${suffix}`
    return kind === 'counter' ? `${whole}_total` : whole
  })
  assert.deepEqual(
    translated,
    [...FAMILIES, ...OPENTELEMETRY_FAMILIES].map(({ name }) => name)
  )
})

test('without an SDK nothing is registered, and requests do not look for spans', async (t) => {
  const asked = []
  const spillway = spillwayFor(t, OF_SERVER)
  await answered(t, spillway)
  const kGlobal = Symbol.for('opentelemetry.js.api.1')
  const before = Object.getOwnPropertyDescriptor(globalThis, kGlobal)
  const registered = globalThis[kGlobal]
  Object.defineProperty(globalThis, kGlobal, {
    configurable: true,
    get: () => {
      asked.push(new Error().stack)
      return registered
    },
  })
  t.after(() => {
    delete globalThis[kGlobal]
    if (before !== undefined) Object.defineProperty(globalThis, kGlobal, before)
  })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  const atSetUp = asked.length
  await get('/')
  assert.equal(asked.length, atSetUp)
})

test('collecting many series yields to the event loop after half a millisecond of work', async (t) => {
  let turns = 0
  let skippedMs = 0
  const clock = {
    ...systemClock,
    // Each look at it takes a millisecond.
    now: () => systemClock.now() + skippedMs++,
    afterTurn: (callback) => {
      turns++
      return systemClock.afterTurn(callback)
    },
  }
  const label = (req) => req.url
  const spillway = new Spillway({ logger: false, shed: { mode: 'off' }, routes: { label } }, clock)
  t.after(() => spillway.close())
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  for (let i = 0; i < 200; i++) await get(`/${i}`)
  await ended(spillway, 200)
  turns = 0
  await spillway.metricProducer().collect()
  // Of 200 points each: durations and outcomes.
  assert.ok(turns >= 2 + 2, String(turns))
})
