'use strict'
// OpenTelemetry's own SDK for the time of one test, registered as an application registers it. Nothing is
// exported.

const { context, trace } = require('@opentelemetry/api')
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks')
const { AlwaysOffSampler, AlwaysOnSampler, BasicTracerProvider } = require('@opentelemetry/sdk-trace-base')

/** @param {import('node:test').TestContext} t @param {{ isSampled?: boolean }} [options] */
function startTracing(t, { isSampled = true } = {}) {
  const sampler = isSampled ? new AlwaysOnSampler() : new AlwaysOffSampler()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ sampler }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  t.after(() => {
    trace.disable()
    context.disable()
  })
}

/**
 * The listener inside of a span, as instrumentation of the http module runs it. A request tells its trace in
 * a header.
 *
 * @param {(req: any, res: any) => unknown} listener
 */
const traced = (listener) => (req, res) =>
  trace.getTracer('test').startActiveSpan('request', (span) => {
    const { traceId, spanId } = span.spanContext()
    res.setHeader('x-trace', `${traceId} ${spanId}`)
    res.once('close', () => span.end())
    return listener(req, res)
  })

module.exports = { startTracing, traced }
