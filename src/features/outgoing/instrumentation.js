'use strict'
// Whether OpenTelemetry's own instrumentation measures the calls. It also has the metric
// `http.client.request.duration`, and two such metrics would count each call twice.

const { channel } = require('node:diagnostics_channel')
const http = require('node:http')

/** The method that UndiciInstrumentation subscribes. It is bound, so its name begins with `bound `. */
const UNDICI_SUBSCRIBER = /onRequestCreated$/

/**
 * The shape that OpenTelemetry's `isWrapped` looks for.
 *
 * @param {typeof http.request & { __wrapped?: unknown, __original?: unknown, __unwrap?: unknown }} method
 */
const isWrapped = (method) =>
  method?.__wrapped === true &&
  typeof method.__original === 'function' &&
  typeof method.__unwrap === 'function'

const isHttpInstrumented = () => isWrapped(http.request) || isWrapped(http.get)

/** Looks for OpenTelemetry among the subscribers of undici's channel. Node has no API that lists them. */
function isUndiciInstrumented() {
  const { _subscribers: subscribers } = /** @type {{ _subscribers?: { name: string }[] }} */ (
    channel('undici:request:create')
  )
  return Array.isArray(subscribers) && subscribers.some(({ name }) => UNDICI_SUBSCRIBER.test(name))
}

module.exports = { isHttpInstrumented, isUndiciInstrumented }
