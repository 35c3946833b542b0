'use strict'
// The active span, read through OpenTelemetry's API only. Without a registered SDK there is none; the check costs 0.2 µs.
// Only a span of this process counts, never a `traceparent` header: a client could choose what an operator is led to,
// and without an SDK here the link would lead to no span of this process.

const { loadApi } = require('./api')
const { registeredSdk } = require('./registered-sdk')

/** Whether an SDK is registered, so that spans may exist. */
const isTracing = () => registeredSdk()?.context !== undefined

/** @returns {import('@opentelemetry/api').Span | undefined} */
function activeSpan() {
  const context = registeredSdk()?.context?.active()
  return context === undefined ? undefined : loadApi().trace.getSpan(context)
}

/** The ids of the active span, if its trace is sampled: a link to any other trace leads nowhere. */
function activeTrace() {
  const context = activeSpan()?.spanContext()
  if (context === undefined) return undefined
  const { TraceFlags, isSpanContextValid } = loadApi()
  if ((context.traceFlags & TraceFlags.SAMPLED) === 0 || !isSpanContextValid(context)) return undefined
  const { traceId, spanId } = context
  return { traceId, spanId, atMs: 0 }
}

/** The fields of a log line, named as in OpenTelemetry's instrumentation of pino. @param {import('@opentelemetry/api').Span} span */
function traceFieldsOf(span) {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return { trace_id: traceId, span_id: spanId, trace_flags: `0${traceFlags.toString(16)}` }
}

module.exports = { activeSpan, activeTrace, isTracing, traceFieldsOf }
