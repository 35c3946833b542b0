'use strict'
// Whose trace a bucket leads to: of a request whose answer was begun within a span that is kept, by
// OpenTelemetry's own SDK; never what a client says of itself.

const assert = require('node:assert/strict')
const { afterEach, test } = require('node:test')
const { context, trace } = require('@opentelemetry/api')
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks')
const olderApi = require('opentelemetry-api-1.4')
const { Exemplars, exemplarAt } = require('../../src/core/request/exemplars')
const { leapingClock } = require('../support/leaping-clock')
const { startTracing, traced } = require('../support/tracing')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ACCEPT = { headers: { accept: 'application/openmetrics-text' } }
const ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

afterEach(() => {
  trace.disable()
  context.disable()
})

/**
 * @returns {Promise<{ traces: string[], scraped: string, spillway: any }>} traces the answers told, and
 *   /metrics
 */
async function answering(t, listenerOf, { way = 'wrap', paths = ['/'], headers = {} } = {}) {
  const spillway = spillwayFor(t)
  const { server, get } = await serve(t, way === 'wrap' ? spillway.wrap(listenerOf) : listenerOf)
  if (way === 'attach') spillway.attach(server)
  const traces = []
  for (const path of paths) traces.push((await get(path, { headers })).headers['x-trace'])
  await ended(spillway, paths.length)
  return { spillway, traces, scraped: (await get('/metrics', ACCEPT)).body }
}

const exemplarsIn = (text) =>
  [...text.matchAll(/# \{trace_id="(.+?)",span_id="(.+?)"\}/g)].map(
    ([, traceId, spanId]) => `${traceId} ${spanId}`
  )

for (const way of ['wrap', 'attach']) {
  test(`${way}: the trace of the last request in its bucket`, async (t) => {
    startTracing(t)
    const listener = traced((_req, res) => setImmediate(() => res.end()))
    const { traces, scraped } = await answering(t, listener, { way, paths: ['/', '/', '/'] })
    const found = exemplarsIn(scraped)
    assert.ok(found.length >= 1)
    for (const each of found) assert.ok(traces.includes(each), each)
    assert.ok(found.includes(traces[2]))
    assert.match(scraped, /_bucket\{[^}]*\} 3 # \{trace_id=/)
  })
}

test('an SDK registered late is found at the next scrape', async (t) => {
  const clock = leapingClock()
  const spillway = spillwayFor(t, {}, clock)
  const { get } = await serve(t, spillway.wrap(traced((_req, res) => res.end())))
  const scrape = async () => {
    clock.leap()
    return (await get('/metrics', ACCEPT)).body
  }
  startTracing(t)
  await get('/')
  assert.deepEqual(exemplarsIn(await scrape()), [])
  const { headers } = await get('/')
  await ended(spillway, 2)
  assert.deepEqual(exemplarsIn(await scrape()), [headers['x-trace']])
})

test('a trace that is not sampled leads nowhere', async (t) => {
  startTracing(t, { isSampled: false })
  const { traces, scraped } = await answering(
    t,
    traced((_req, res) => res.end())
  )
  assert.equal(traces.length, 1)
  assert.doesNotMatch(scraped, /trace_id/)
})

test('without an SDK there is no exemplar, and a client cannot send its own', async (t) => {
  const headers = { traceparent: `00-${ID}-${SPAN}-01` }
  const { scraped } = await answering(t, (_req, res) => res.end(), { headers })
  assert.doesNotMatch(scraped, /trace_id|0af765/)
})

for (const [what, wrong] of [
  ['a trace id that is too long', { traceId: `${ID}0` }],
  ['one that would end the label', { traceId: '"} 1\n# EOF\n'.padEnd(32, '0') }],
  ['one of zeros', { traceId: '0'.repeat(32) }],
  ['a span id that is none', { spanId: 'x'.repeat(16) }],
]) {
  test(`${what} is left out`, async (t) => {
    startTracing(t)
    const span = trace.wrapSpanContext({ traceId: ID, spanId: SPAN, traceFlags: 1, ...wrong })
    const listener = (_req, res) => context.with(trace.setSpan(context.active(), span), () => res.end())
    const { scraped } = await answering(t, listener)
    assert.doesNotMatch(scraped, /trace_id/)
    assert.equal(scraped.split('# EOF').length, 2)
  })
}

test('an SDK registered with an older API is understood', async (t) => {
  // What another version has registered keeps its version, even when it is taken out.
  delete globalThis[Symbol.for('opentelemetry.js.api.1')]
  t.after(() => delete globalThis[Symbol.for('opentelemetry.js.api.1')])
  olderApi.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const span = olderApi.trace.wrapSpanContext({ traceId: ID, spanId: SPAN, traceFlags: 1 })
  const within = olderApi.trace.setSpan(olderApi.ROOT_CONTEXT, span)
  const { scraped } = await answering(t, (_req, res) => olderApi.context.with(within, () => res.end()))
  assert.deepEqual(exemplarsIn(scraped), [`${ID} ${SPAN}`])
})

test('a context that throws is counted as an internal error, and the request is answered and measured', async (t) => {
  startTracing(t)
  const span = {
    spanContext() {
      throw new Error('as it should')
    },
  }
  const within = trace.setSpan(context.active(), /** @type {any} */ (span))
  const { spillway, scraped } = await answering(t, (_req, res) => context.with(within, () => res.end()))
  // By whoever asks: the exemplar, and the line of a slow request.
  const { tracing, ...others } = spillway.snapshot().internalErrors
  assert.ok(tracing >= 1)
  assert.deepEqual(others, {})
  assert.match(scraped, /http_server_request_duration_seconds_count\{.*\} 1$/m)
})

test('a bucket holds the last exemplar only, and a copy does not change', () => {
  const exemplars = new Exemplars()
  const put = (row, bucket, seconds) =>
    exemplars.put(row, bucket, { traceId: ID, spanId: SPAN, atMs: 5 }, seconds)
  put(2, 14, 11)
  put(2, 14, 12)
  const copied = exemplars.copy()
  put(2, 14, 13)
  put(0, 0, 0.001)
  assert.deepEqual(exemplarAt(copied, 2, 14), { traceId: ID, spanId: SPAN, atMs: 5, seconds: 12 })
  for (const [row, bucket] of [
    [0, 0],
    [2, 13],
    [3, 0],
    [99, 0],
  ])
    assert.equal(exemplarAt(copied, row, bucket), undefined)
  assert.equal(exemplarAt(exemplars.copy(), 0, 0).seconds, 0.001)
  for (let i = 0; i < 1000; i++) put(2, i % 15, i)
  assert.deepEqual([exemplars.copy().length, exemplars.copy()[2].length], [3, 15])
})
