'use strict'
// The OpenTelemetry SDK of this process, and the spans of a request.
//
// The application may use another copy of the API, and a newer copy does not see what an older copy
// registered. So the SDK is read from the global that all versions of the API register in.
//
// Spans are read through OpenTelemetry's API only. They exist only if an SDK is registered. This check costs
// 0.2 µs. Only spans of this process are used, and never a `traceparent` header. With the header, a client
// could choose the trace that an operator opens. And without an SDK, that trace would have no span of this
// process.
//
// The active span is often a handler's span inside the server span, made by instrumentation of Express or
// Koa. The package instrumentation-http leaves its server span in the context, with a `route` field. It later
// copies the field to the span, the span's name and `http.server.request.duration`. A span that the
// application makes itself is used if it is active and of kind SERVER.

const { errorTypeOf } = require('../request/outcome')
const { NO_STATUS } = require('../request/request-record')

/**
 * @import { ContextManager, MeterProvider, Span } from '@opentelemetry/api'
 * @import { Failure } from '../errors/failure'
 * @import { RequestRecord } from '../request/request-record'
 *
 * @typedef {{ context?: ContextManager, metrics?: MeterProvider }} RegisteredSdk
 */

const kRegistered = Symbol.for('opentelemetry.js.api.1')

/** The key of `getRPCMetadata` in @opentelemetry/core, as `createContextKey` makes it. */
const RPC_METADATA = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA')

/**
 * The holder of instrumentation-http has a `type`, and copies `route` itself.
 * @typedef {{ span: Span, route?: string | undefined, type?: string }} SpanHolder
 */

/** @returns {RegisteredSdk | undefined} */
const registeredSdk = () => /** @type {{ [kRegistered]?: RegisteredSdk }} */ (globalThis)[kRegistered]

/** @type {typeof import('@opentelemetry/api') | undefined} */
let api

/**
 * Loads the API. Called only if an SDK is registered, because without an SDK the API has nothing to return.
 */
function loadApi() {
  api ??= require('@opentelemetry/api')
  return api
}

/** Whether an SDK is registered, so that spans may exist. */
const isTracing = () => registeredSdk()?.context !== undefined

/** @returns {Span | undefined} */
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

/** The fields of a log line, named as in OpenTelemetry's instrumentation of pino. @param {Span} span */
function traceFieldsOf(span) {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return { trace_id: traceId, span_id: spanId, trace_flags: `0${traceFlags.toString(16)}` }
}

/** @returns {SpanHolder | undefined} */
function serverSpan() {
  const context = registeredSdk()?.context?.active()
  if (context === undefined) return undefined
  const metadata = /** @type {SpanHolder | undefined} */ (context.getValue(RPC_METADATA))
  if (metadata?.span !== undefined) return metadata
  const api = loadApi()
  /** @type {(Span & { kind?: number }) | undefined} */
  const span = api.trace.getSpan(context)
  return span?.kind === api.SpanKind.SERVER ? { span } : undefined
}

/**
 * Puts the route, the time in the queue and the type of an error on the span.
 * @param {SpanHolder} holder
 * @param {string | undefined} route the template; undefined if no route took the request
 * @param {RequestRecord} request
 */
function annotateSpan(holder, route, request) {
  const { first, ticket } = request
  const { span } = holder
  const errorType = errorTypeOf(request)
  // In Express and Koa, an unmatched request is known to have no route. So `undefined` replaces the last
  // tried route, which other instrumentation set. In another framework, the route that other instrumentation
  // set stays.
  if (route !== undefined || first.node !== undefined || first.ctx !== undefined) holder.route = route
  const setsRoute = route !== undefined && holder.type === undefined
  if (!setsRoute && ticket.queueEntry === undefined && errorType === '') return
  // The span may have ended before the response. An SDK warns about attributes set after the end.
  if (!span.isRecording()) return
  if (setsRoute) span.setAttribute('http.route', route)
  if (ticket.queueEntry !== undefined) span.setAttribute('spillway.queue.wait', ticket.waitedMs / 1000)
  if (errorType !== '') span.setAttribute('error.type', errorType)
}

/**
 * Puts the reason of a rejection on the span. The span is an error, unless the application gives another
 * answer.
 * @param {SpanHolder} holder
 * @param {string | undefined} _route unknown: the request never ran
 * @param {RequestRecord} request
 */
function annotateRejectedSpan({ span }, _route, { status, ticket }) {
  if (!span.isRecording()) return
  span.setAttribute('spillway.shed.reason', String(ticket.rejection?.reason))
  if (status === NO_STATUS || status >= 500) span.setAttribute('error.type', 'shed')
}

/**
 * Passes plain text instead of the error: an SDK reads properties of the error, and they may throw.
 * @param {Span} span
 * @param {Failure} failure
 */
function recordError(span, failure) {
  if (!span.isRecording()) return
  const { type, message, stack, status } = failure
  span.recordException({ name: type, message, ...(stack !== undefined && { stack }) })
  // By OpenTelemetry's HTTP conventions, an error of the client is not an error of the server span.
  if (status >= 500) span.setStatus({ code: loadApi().SpanStatusCode.ERROR, message })
}

module.exports = {
  activeSpan,
  activeTrace,
  annotateRejectedSpan,
  annotateSpan,
  isTracing,
  recordError,
  registeredSdk,
  serverSpan,
  traceFieldsOf,
}
