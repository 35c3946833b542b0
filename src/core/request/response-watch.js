'use strict'
// Watches a response for its head and its end, and reports both to every record of it. A response carries one
// listener and one `writeHead` of spillway, however many instances measure it. The first record made for a
// response begins a chain of all records of this response. It watches for all of them, and holds the route
// state. Native responses report their end with `close` (costs 1 µs), HTTP/2 responses with the stream's
// `close`, and injected responses with on-finished (costs 9 µs).
//
// While the process drains, this file also decides which response is the last of its keep-alive connection,
// and sends `Connection: close` with it. Kept connections would make the drain take its full timeout and then
// cut requests in flight.

const { Socket } = require('node:net')
const onFinished = require('on-finished')
const { kRouteState } = require('../route/route-state')
const { assignBytes, markEnd, openRecord, recordOf } = require('./connection-record')
const { NO_STATUS, STATE_ENDED } = require('./request-record')

/**
 * @import { ServerResponse } from 'node:http'
 * @import { ServerHttp2Stream } from 'node:http2'
 * @import { Connection } from './connection-record'
 * @import { RoutedResponse } from '../route/route-state'
 * @import { Link, RequestRecord } from './request-record'
 * @typedef {{ [kRouteState]: RequestRecord }} Watched
 */

/** Values that are kept. An `upgrade` prevents further responses by itself. */
const CLOSES = /\b(close|upgrade)\b/i
const CONNECTION = /^connection$/i

// Hot path, once a request (bench/overhead).
/** @param {RequestRecord} request */
function watch(request) {
  const { res, socket, stream } = request
  // The response began before the request arrived here.
  if (res.headersSent) {
    request.firstByteMs = 0
    request.status = res.statusCode
    request.markAnswering()
  }
  const first = res[kRouteState]
  if (first !== undefined) return joinChain(first, request)
  res[kRouteState] = request
  res.writeHead = Object.hasOwn(res, 'writeHead') ? writeHeadBy(res.writeHead) : writeHead
  // A pipelined response has no socket until Node sends it. If the connection closes before that, the
  // response emits no `close`.
  const isPipelined = res.socket === null && stream === undefined && typeof socket?.on === 'function'
  if ((stream ?? res).destroyed || (isPipelined && socket.destroyed)) {
    request.isCutOff = isPipelined && !res.writableFinished
    assignBytes(request)
    request.markEnded()
    return
  }
  if (stream !== undefined) {
    // Node emits no `close` on the response to a HEAD request whose client disconnected first; the stream
    // always emits it. The listener is prepended, so that listeners of the response find the request counted.
    stream[kRouteState] = request
    stream.prependListener('close', onClose)
  } else {
    // With tracing, the listener is prepended, because OpenTelemetry's instrumentation ends the span in a
    // listener of the same event.
    const on = request.recorder.isTracing ? 'prependListener' : 'on'
    if (socket instanceof Socket) res[on]('close', onClose)
    else onInjectedEnd(res, on, () => endAll(request))
  }
  if (isPipelined) joinPipeline(socket, request)
}

/** @param {unknown} socket */
const isInjected = (socket) => !(socket instanceof Socket)

/**
 * Watches for the end of a response without a real socket, made by in-process injection or a serverless
 * adapter. Such a response emits `finish` or `close` inside `end()`, before `writableEnded` is set. The end
 * is then reported on the next tick.
 *
 * @param {import('node:http').ServerResponse} res
 * @param {'on' | 'prependListener'} on how to add the `close` listener
 * @param {() => void} end
 */
function onInjectedEnd(res, on, end) {
  const onEnd = () => {
    if (res.writableEnded || !res.headersSent) end()
    else process.nextTick(end)
  }
  res[on]('close', onEnd)
  onFinished(res, onEnd)
}

/** @param {RequestRecord} first @param {RequestRecord} request */
function joinChain(first, request) {
  let last = first
  while (last.nextOfResponse !== undefined) last = last.nextOfResponse
  last.nextOfResponse = request
  request.first = first
  request.isCutOff = first.isCutOff
  if (first.state === STATE_ENDED) request.markEnded()
}

/** @this {ServerResponse & Watched} @param {number} status */
function writeHead(status) {
  beforeHead(this, arguments)
  // Looked up at the call: Express replaces the prototype of a response after `watch` has seen it.
  const result = Object.getPrototypeOf(this[kRouteState].res).writeHead.apply(this, arguments)
  onHead(this[kRouteState], status)
  return result
}

/**
 * The same for a response on which somebody has already replaced `writeHead`.
 *
 * @param {RoutedResponse['writeHead']} original
 * @returns {RoutedResponse['writeHead']}
 */
function writeHeadBy(original) {
  /** @this {ServerResponse & Watched} @param {number} status */
  return function writeHead(status) {
    beforeHead(this, arguments)
    const result = original.apply(
      this,
      /** @type {IArguments & Parameters<RoutedResponse['writeHead']>} */ (arguments)
    )
    onHead(this[kRouteState], status)
    return result
  }
}

/**
 * Closes the connection if any of the instances that measure the response drains.
 *
 * @param {ServerResponse & Watched} res
 * @param {IArguments} given
 */
function beforeHead(res, given) {
  const first = res[kRouteState]
  const mayClose = first.recorder.closesConnections || first.nextOfResponse !== undefined
  if (mayClose && mustClose(first)) setConnectionClose(res, given)
}

/**
 * Records a head, unless Node has rejected the head or the client has disconnected.
 *
 * @param {RequestRecord} first
 * @param {number} status
 */
function onHead(first, status) {
  const isSent = first.stream === undefined ? first.socket?.writable !== false : first.stream.headersSent
  if (!isSent) return
  const nowMs = first.recorder.nowMs()
  // The trace is read here, because the response begins inside the application's span. The code that runs on
  // the server, before the application, is outside of that span.
  const trace = first.recorder.activeTrace()
  const serverSpan = first.serverSpan ?? first.recorder.serverSpan()
  for (let each = /** @type {Link} */ (first); each !== undefined; each = each.nextOfResponse) {
    if (each.firstByteMs < 0) {
      each.firstByteMs = nowMs - each.startedMs
      each.recorder.onHead(each, nowMs)
    }
    // An injected response accepts a head even after its end.
    if (each.state !== STATE_ENDED) each.markAnswering()
    each.status = status | 0
    each.trace = trace
    each.serverSpan = serverSpan
  }
}

/** @this {(ServerResponse | ServerHttp2Stream) & Watched} */
function onClose() {
  endAll(this[kRouteState])
}

/** @param {Connection} socket @param {RequestRecord} request */
function joinPipeline(socket, request) {
  const record = openRecord(socket)
  if (record.pipeline === undefined) {
    record.pipeline = new Set()
    socket.on('close', onSocketClose)
  }
  record.pipeline.add(request)
}

/** @this {Connection} */
function onSocketClose() {
  for (const request of recordOf(this)?.pipeline ?? []) endAll(request)
}

/** @param {RequestRecord} first */
function endAll(first) {
  if (first.state === STATE_ENDED) return
  const pipeline = recordOf(first.socket)?.pipeline
  if (pipeline?.delete(first)) leavePipeline(first, pipeline)
  assignBytes(first)
  if (first.status === NO_STATUS) readStatus(first)
  for (let each = /** @type {Link} */ (first); each !== undefined; each = each.nextOfResponse) {
    each.markEnded()
    if (each.isCounted) each.recorder.end(each, first)
  }
  if (first.isCounted && first.session === undefined) markEnd(first, first.recorder.endedMs)
}

/** @param {RequestRecord} first @param {Set<RequestRecord>} pipeline that it belonged to */
function leavePipeline(first, pipeline) {
  const { socket } = first
  // The connection may be handed to another protocol next, so no listener of spillway stays on it.
  if (pipeline.size === 0) {
    socket.off('close', onSocketClose)
    openRecord(socket).pipeline = undefined
  }
  if (first.res.socket !== null || first.res.writableFinished) return
  // The connection closed before Node sent anything of what the application wrote.
  for (let each = /** @type {Link} */ (first); each !== undefined; each = each.nextOfResponse) {
    each.isCutOff = true
    each.firstByteMs = -1
    each.status = NO_STATUS
  }
}

/**
 * Reads the status of a response whose head did not pass through `writeHead`. The head was sent on the HTTP/2
 * stream, such as by `respondWithFile`, or by Node's old `writeHeader`. The time of its first byte is
 * unknown.
 * @param {RequestRecord} first
 */
function readStatus(first) {
  const status = statusOf(first)
  for (let each = /** @type {Link} */ (first); each !== undefined; each = each.nextOfResponse)
    each.status = status
}

/** @param {RequestRecord} first @returns {number} */
function statusOf({ isCutOff, res, socket, stream }) {
  if (stream !== undefined)
    return stream.headersSent ? /** @type {number} */ (stream.sentHeaders[':status']) : NO_STATUS
  // A write to a closed connection finishes too.
  return res.writableFinished && !isCutOff && !socket?.destroyed ? res.statusCode : NO_STATUS
}

/**
 * Whether the connection must end with this response, because an instance that measures it drains. The
 * connection must stay open while the client still sends the body or waits for the response to a pipelined
 * request. Closing it would lose that body or response.
 * @param {RequestRecord} first
 */
function mustClose(first) {
  for (let each = /** @type {Link} */ (first); each !== undefined; each = each.nextOfResponse) {
    if (each.recorder.closesConnections && each.stream === undefined) return !hasMoreToCome(first)
  }
  return false
}

/** @param {RequestRecord} first */
function hasMoreToCome(first) {
  const { req, socket } = first
  let last = first
  for (const each of recordOf(socket)?.pipeline ?? []) last = each
  if (last !== first) return true
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers
  return !req.complete && (encoding !== undefined || length !== '0')
}

/**
 * Changes both the headers set so far and the headers passed to `writeHead`. This overrules a
 * `Connection: keep-alive` that the application set. Proxies and recipes for event streams set this header
 * without meaning to keep the connection.
 * @param {import('node:http').ServerResponse} res
 * @param {IArguments} args of the `writeHead` call to come
 */
function setConnectionClose(res, args) {
  res.shouldKeepAlive = false
  const set = res.getHeader('connection')
  if (set !== undefined && !CLOSES.test(String(set))) res.setHeader('Connection', 'close')
  const at = args[2] ? 2 : 1
  const given = args[at]
  if (Array.isArray(given)) args[at] = closingList(given)
  else if (typeof given === 'object') args[at] = closingObject(given)
}

/** @param {readonly string[]} header name and value @returns {[name: string, value: string]} */
const closing = ([name, value]) =>
  CONNECTION.test(name) && !CLOSES.test(value) ? [name, 'close'] : [name, value]

/** @param {Record<string, string> | null} given */
const closingObject = (given) => Object.fromEntries(Object.entries(given ?? {}).map(closing))

/** @param {string[]} list names and values alternate */
const closingList = (list) => list.map((each, i) => (i % 2 === 0 ? each : closing([list[i - 1], each])[1]))

module.exports = { endAll, isInjected, onHead, watch }
