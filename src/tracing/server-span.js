'use strict'
// The span of a request itself. The one in force when it is answered is often that of a handler within it, which
// instrumentation of Express and Koa makes; so instrumentation-http leaves the server's in the context, with the route to
// be filled in: it copies that to its span, the span's name and its own `http.server.request.duration`. A span made by
// hand is taken if it is the one in force and of kind SERVER.
//
// A holder is `{ span, route? }`, or instrumentation-http's own, which has a `type` too: what it copies is not put twice.

const { SpanKind, createContextKey, trace } = require('@opentelemetry/api')
const { registeredSdk } = require('./registered-sdk')

/** The key of `getRPCMetadata` in @opentelemetry/core. */
const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA')

/** @returns {{ span: import('@opentelemetry/api').Span, route?: string, type?: string } | undefined} */
function serverSpan() {
  const context = registeredSdk()?.context?.active()
  if (context === undefined) return undefined
  const metadata = context.getValue(RPC_METADATA)
  if (metadata?.span !== undefined) return metadata
  /** @type {any} */
  const span = trace.getSpan(context)
  return span?.kind === SpanKind.SERVER ? { span } : undefined
}

/** @param {string | undefined} route its template; none where no route took the request */
function annotateSpan(holder, route, { head, admission }) {
  const { span } = holder
  // Of a framework we know, no route is an answer too: others go by the route last tried. Of one we do not, theirs stays.
  if (route !== undefined || head.node !== undefined || head.ctx !== undefined) holder.route = route
  const isToTell = route !== undefined && holder.type === undefined
  if (!isToTell && !admission.wasQueued) return
  // It may have ended before its answer: an SDK warns of what is put on it then.
  if (!span.isRecording()) return
  if (isToTell) span.setAttribute('http.route', route)
  if (admission.wasQueued) span.setAttribute('spillway.queue.wait', admission.waitedMs / 1000)
}

module.exports = { serverSpan, annotateSpan }
