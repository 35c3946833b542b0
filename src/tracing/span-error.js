'use strict'
// The span a request is in, told of its error.

const { SpanStatusCode } = require('@opentelemetry/api')

/** What is sent to tracing is our words for the error: an SDK reads its properties, and they may throw. */
function recordError(span, failure) {
  if (!span.isRecording()) return
  const { type, message, stack, status } = failure
  span.recordException({ name: type, message, ...(stack !== undefined && { stack }) })
  // A fault of the client's is none of the server's span (OpenTelemetry's HTTP conventions).
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR, message })
}

module.exports = { recordError }
