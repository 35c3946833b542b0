'use strict'
// OpenTelemetry's own SDK sees the error on the active span, whatever copies of its API there are; without
// one nothing is done.

const assert = require('node:assert/strict')
const { afterEach, test } = require('node:test')
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks')
const {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} = require('@opentelemetry/sdk-trace-base')
const connect = require('connect')
const newest = require('@opentelemetry/api')
const oldest = require('opentelemetry-api-1.4')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const ERROR = 2
const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const kGlobal = Symbol.for('opentelemetry.js.api.1')

afterEach(() => {
  exporter.reset()
  delete globalThis[kGlobal]
})

/** An app whose requests run in a span of the SDK, as its instrumentation makes it; asks once. */
async function failing(t, error, { register, inSpan = (_span) => {} } = {}) {
  const lines = []
  const logger = { warn: (fields) => lines.push(fields), error: (fields) => lines.push(fields) }
  const spillway = spillwayFor(t, { logger })
  if (register !== undefined) {
    register.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  }
  const tracer = provider.getTracer('test')
  const app = connect()
  app.use((_req, res, next) => {
    const span = tracer.startSpan('request')
    res.on('close', () => span.end())
    const context = newest.trace.setSpan(newest.ROOT_CONTEXT, span)
    if (register === undefined) return next()
    register.context.with(context, () => {
      inSpan(span)
      next()
    })
  })
  app.use(spillway.express())
  app.use(() => raise(error))
  app.use(spillway.errorHandler())
  const { get } = await serve(t, app)
  const { status } = await get('/')
  while (exporter.getFinishedSpans().length === 0) await new Promise((resolve) => setImmediate(resolve))
  const [span] = exporter.getFinishedSpans()
  return { status, span, lines, spillway }
}

function raise(error) {
  throw error
}

for (const [what, api] of [
  ['the API we have', newest],
  ['an API older than ours', oldest],
]) {
  test(`the active span gets the exception and an error status, and the log its ids, through ${what}`, async (t) => {
    const { span, lines } = await failing(t, new TypeError('boom'), { register: api })
    const [event] = span.events
    assert.equal(event.name, 'exception')
    assert.equal(event.attributes['exception.type'], 'TypeError')
    assert.equal(event.attributes['exception.message'], 'boom')
    assert.match(event.attributes['exception.stacktrace'], /^TypeError: boom\n/)
    assert.deepEqual(span.status, { code: ERROR, message: 'boom' })
    const { traceId, spanId } = span.spanContext()
    const { trace_id, span_id, trace_flags } = lines[0]
    assert.deepEqual([trace_id, span_id, trace_flags], [traceId, spanId, '01'])
  })
}

test("a client's error is recorded on the span, whose status stays unset", async (t) => {
  const { span } = await failing(t, Object.assign(new Error('x'), { status: 404 }), { register: newest })
  assert.equal(span.events.length, 1)
  assert.notEqual(span.status.code, ERROR)
})

test('a thrown value that is no Error, or throws when read, is recorded as text', async (t) => {
  const { span, spillway } = await failing(t, new Proxy({}, { get: () => raise(new Error('getter')) }), {
    register: newest,
  })
  assert.equal(span.events[0].attributes['exception.type'], 'object')
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})

test('a span that has ended is left alone, and a span that throws is an internal error', async (t) => {
  const ended = await failing(t, new Error('x'), { register: newest, inSpan: (span) => span.end() })
  assert.deepEqual(ended.span.events, [])
  exporter.reset()
  delete globalThis[kGlobal]
  const inSpan = (span) => {
    span.recordException = () => raise(new Error('of the SDK'))
  }
  const broken = await failing(t, new Error('x'), { register: newest, inSpan })
  assert.equal(broken.status, 500)
  assert.deepEqual(broken.spillway.snapshot().internalErrors, { tracing: 1 })
})

test('without an SDK, or with an unknown object in its place, an error is answered and logged without a trace', async (t) => {
  for (const other of [undefined, {}, { context: null }]) {
    exporter.reset()
    globalThis[kGlobal] = other
    const { status, span, lines, spillway } = await failing(t, new Error('x'))
    assert.deepEqual([status, span.events, 'trace_id' in lines[0]], [500, [], false])
    assert.deepEqual(spillway.snapshot().internalErrors, {})
  }
})
