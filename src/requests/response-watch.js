'use strict'
// Watches a response for its head and its end, and tells every request on it.
// A response carries one listener and one `writeHead` of ours, however many instances measure it.
// The first request put on it is the head of a chain: it watches for all, and the routers write their notes on it.
// Native responses end with their `close` event (1 µs), those of HTTP/2 with that of their stream.
// All others (in-process injection, serverless shims) go through on-finished (9 µs).

const { kTrail } = require('../routing/route-state')
const { takeBytes } = require('./connection-bytes')
const { isLast, kWaiting, sayLast } = require('./close-after-response')
const { isMadeUp, whenMadeUpEnds } = require('./injected-response')
const { NO_STATUS } = require('./request')
const { ENDED } = require('./request-state')

// Hot path: once a request.
function watch(request) {
  const { res, socket, stream } = request
  // An answer that was begun before it came to us.
  if (res.headersSent) {
    request.firstByteMs = 0
    request.status = res.statusCode
    request.markAnswering()
  }
  const head = res[kTrail]
  if (head !== undefined) return follow(head, request)
  res[kTrail] = request
  if (Object.hasOwn(res, 'writeHead')) request.ownWriteHead = res.writeHead
  res.writeHead = writeHead
  // A pipelined answer that waits for its turn has no socket yet, and never closes if the connection does first.
  const isWaiting = res.socket === null && stream === undefined && typeof socket?.on === 'function'
  if ((stream ?? res).destroyed || (isWaiting && socket.destroyed)) {
    request.isCutOff = isWaiting && !res.writableFinished
    takeBytes(request)
    request.markEnded()
    return
  }
  if (stream !== undefined) {
    // Node tells of the end of no HTTP/2 response to a HEAD that its client left before it was answered: it was in flight, and
    // held a slot, for ever. The stream always tells; before the response does, so that who hears that finds it counted.
    stream[kTrail] = request
    stream.prependListener('close', onClose)
  } else {
    // Before instrumentation ends the span with the same event.
    const on = request.recorder.isTracing ? 'prependListener' : 'on'
    if (isMadeUp(socket)) whenMadeUpEnds(res, on, () => endAll(request))
    else res[on]('close', onClose)
  }
  if (isWaiting) waitOn(socket, request)
}

function follow(head, request) {
  let last = head
  while (last.next !== undefined) last = last.next
  last.next = request
  request.head = head
  request.isCutOff = head.isCutOff
  if (head.state === ENDED) request.markEnded()
}

// A head that Node refused, or that could be sent to nobody any more, is not noted.
/** @this {any} */
function writeHead(status) {
  const head = this[kTrail]
  if (isLast(head)) sayLast(this, arguments)
  // Looked up now: Express gives a response that was prepared before it the class of its app.
  const original = head.ownWriteHead ?? Object.getPrototypeOf(head.res).writeHead
  const result = original.apply(this, arguments)
  noteHead(head, status)
  return result
}

function noteHead(head, status) {
  const isSent = head.stream === undefined ? head.socket?.writable !== false : head.stream.headersSent
  if (!isSent) return
  const nowMs = head.recorder.nowMs()
  // Here and not where the request comes in: a server hook runs outside of the span, the answer is begun within it.
  const trace = head.recorder.activeTrace()
  const serverSpan = head.serverSpan ?? head.recorder.serverSpan()
  for (let each = head; each !== undefined; each = each.next) {
    if (each.firstByteMs < 0) each.firstByteMs = nowMs - each.startedMs
    // A made-up response takes a head even after its end.
    if (each.state !== ENDED) each.markAnswering()
    each.status = status | 0
    each.trace = trace
    each.serverSpan = serverSpan
  }
}

/** @this {any} */
function onClose() {
  endAll(this[kTrail])
}

function waitOn(socket, request) {
  if (socket[kWaiting] === undefined) {
    socket[kWaiting] = new Set()
    socket.on('close', onSocketClose)
  }
  socket[kWaiting].add(request)
  request.waitingOn = socket[kWaiting]
}

/** @this {any} */
function onSocketClose() {
  for (const request of this[kWaiting]) endAll(request)
}

function endAll(head) {
  if (head.state === ENDED) return
  if (head.waitingOn !== undefined) leaveQueue(head)
  takeBytes(head)
  if (head.status === NO_STATUS) noteStatus(head)
  for (let each = head; each !== undefined; each = each.next) {
    each.markEnded()
    if (each.isCounted) each.recorder.end(each, head)
  }
}

function leaveQueue(head) {
  const { socket, waitingOn } = head
  waitingOn.delete(head)
  // Its connection may be handed over next: nothing of ours stays on it.
  if (waitingOn.size === 0) {
    socket.off('close', onSocketClose)
    socket[kWaiting] = undefined
  }
  if (head.res.socket !== null || head.res.writableFinished) return
  // Its turn never came: whatever the application wrote, nothing of it was sent.
  for (let each = head; each !== undefined; each = each.next) {
    each.isCutOff = true
    each.firstByteMs = -1
    each.status = NO_STATUS
  }
}

/**
 * Of an answer whose head did not come by way of ours: given on an HTTP/2 stream itself, such as by `respondWithFile`, or begun by
 * `writeHeader`, as Node once called it. When it came is not known.
 */
function noteStatus(head) {
  const status = statusOf(head)
  for (let each = head; each !== undefined; each = each.next) each.status = status
}

function statusOf({ isCutOff, res, socket, stream }) {
  if (stream !== undefined) return stream.headersSent ? stream.sentHeaders[':status'] : NO_STATUS
  // What is written to a connection that has gone is finished too.
  return res.writableFinished && !isCutOff && !socket?.destroyed ? res.statusCode : NO_STATUS
}

module.exports = { endAll, noteHead, watch }
