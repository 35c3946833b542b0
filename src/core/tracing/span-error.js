'use strict'
// Records the error of a request on its span.

const { loadApi } = require('./api')

/** @import { Failure } from '../errors/failure' */

/**
 * Passes plain text instead of the error: an SDK reads properties of the error, and they may throw.
 * @param {import('@opentelemetry/api').Span} span
 * @param {Failure} failure
 */
function recordError(span, failure) {
  if (!span.isRecording()) return
  const { type, message, stack, status } = failure
  span.recordException({ name: type, message, ...(stack !== undefined && { stack }) })
  // By OpenTelemetry's HTTP conventions, an error of the client is no error of the server span.
  if (status >= 500) span.setStatus({ code: loadApi().SpanStatusCode.ERROR, message })
}

module.exports = { recordError }
