'use strict'
// Whether OpenTelemetry's own instrumentation measures the calls. It has the metric
// `http.client.request.duration` too: a second one would count each call twice.

const { channel } = require('node:diagnostics_channel')
const http = require('node:http')

/** `bind` of OpenTelemetry's UndiciInstrumentation keeps the name of the method. */
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

/** Instrumentation of undici subscribes to channels as well. Node has no API that lists the subscribers. */
function isUndiciInstrumented() {
  const { _subscribers: subscribers } = /** @type {{ _subscribers?: { name: string }[] }} */ (
    channel('undici:request:create')
  )
  return Array.isArray(subscribers) && subscribers.some(({ name }) => UNDICI_SUBSCRIBER.test(name))
}

module.exports = { isHttpInstrumented, isUndiciInstrumented }
