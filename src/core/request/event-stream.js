'use strict'
// Whether a response is a stream: of server-sent events, by its content type, or any other long body. For
// headers passed to a plain `writeHead`, Node keeps only the rendered head (`_header`).

const { cutOff } = require('../answer/cut-off')

/** @import { RoutedResponse } from '../route/route-state' */

const EVENT_STREAM = /^(content-type: *)?text\/event-stream *(;|$)/im

/** @param {RoutedResponse} res */
const isEventStream = (res) => EVENT_STREAM.test(String(res.getHeader('content-type') ?? res._header))

/** A body that took less time than this cannot distort a quantile, so its content type is not checked. */
const SHORTEST_STREAM_MS = 10

/**
 * @param {RoutedResponse} res
 * @param {number} bodyMs the time from its head to its end, at least SHORTEST_STREAM_MS
 * @param {number} streamAfterMs
 */
const isStream = (res, bodyMs, streamAfterMs) => bodyMs >= streamAfterMs || isEventStream(res)

/** @type {WeakSet<object>} */
const endedByDrain = new WeakSet()

/** Whether a drain has ended this event stream, which its handler does not know. @param {object} res */
const isEndedByDrain = (res) => endedByDrain.has(res)

/**
 * Ends an event stream that was requested by GET, in a drain. Its client is an `EventSource`, which
 * reconnects. An event stream that answers a POST ends by itself.
 *
 * @param {import('node:http').ServerResponse | null | undefined} res
 */
function endIfEndless(res) {
  if (res == null || res.writableEnded || res.req.method !== 'GET' || !isEventStream(res)) return
  endedByDrain.add(res)
  // The application may write once more before it sees that the connection has closed.
  res.on('error', () => {})
  try {
    res.end()
  } catch {
    // A middleware has replaced `end` with a function that throws.
    cutOff(res)
  }
}

module.exports = { SHORTEST_STREAM_MS, endIfEndless, isEndedByDrain, isStream }
