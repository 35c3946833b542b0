'use strict'
// The server span of a request. The active span is often a handler's span inside it, made by instrumentation of Express or
// Koa. instrumentation-http leaves its server span in the context, with a `route` field that it later copies to the span,
// the span's name and `http.server.request.duration`. A span made by hand counts if it is active and of kind SERVER.
//
// A holder is `{ span, route? }`. The holder of instrumentation-http also has a `type`, and copies `route` itself.

const { loadApi } = require('./api')
const { registeredSdk } = require('./registered-sdk')

/** @import { Request } from '../request/request' */

/** The key of `getRPCMetadata` in @opentelemetry/core, as `createContextKey` makes it. */
const RPC_METADATA = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA')

/** @typedef {{ span: import('@opentelemetry/api').Span, route?: string | undefined, type?: string }} SpanHolder */

/** @returns {SpanHolder | undefined} */
function serverSpan() {
  const context = registeredSdk()?.context?.active()
  if (context === undefined) return undefined
  const metadata = /** @type {SpanHolder | undefined} */ (context.getValue(RPC_METADATA))
  if (metadata?.span !== undefined) return metadata
  const api = loadApi()
  /** @type {(import('@opentelemetry/api').Span & { kind?: number }) | undefined} */
  const span = api.trace.getSpan(context)
  return span?.kind === api.SpanKind.SERVER ? { span } : undefined
}

/**
 * Puts the route and the time in the queue on the span.
 * @param {SpanHolder} holder
 * @param {string | undefined} route the template; undefined if no route took the request
 * @param {Request} request
 */
function annotateSpan(holder, route, { head, admission }) {
  const { span } = holder
  // In Express and Koa, no route is also a result, and replaces the last tried route that other instrumentation set.
  // In another framework, the route that other instrumentation set stays.
  if (route !== undefined || head.node !== undefined || head.ctx !== undefined) holder.route = route
  const setsRoute = route !== undefined && holder.type === undefined
  if (!setsRoute && admission.wait === undefined) return
  // The span may have ended before the response. An SDK warns about attributes set after the end.
  if (!span.isRecording()) return
  if (setsRoute) span.setAttribute('http.route', route)
  if (admission.wait !== undefined) span.setAttribute('spillway.queue.wait', admission.waitedMs / 1000)
}

module.exports = { serverSpan, annotateSpan }
