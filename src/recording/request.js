'use strict'
// One request being measured, from the moment a framework or server handed it over to the last byte of its answer.
// A response carries one listener and one `writeHead` of ours, however many instances measure it: the first request
// put on it is the head of a chain, watches for all, and holds what the routers tell of the route.
//
// Native responses end with their `close` event (1 µs), those of HTTP/2 with that of their stream; anything else (in-process
// injection, serverless shims, an answer already finished) goes through on-finished (9 µs). All tell the same.

const { Trail, kTrail } = require('../routing/trail')
const { connectionOf, takeBytes } = require('./connection-bytes')
const { isLast, kWaiting, sayLast } = require('./last-answer')
const { isMadeUp, whenMadeUpEnds } = require('./made-up-answer')

/** An answer of which no byte was sent has no status. */
const NO_STATUS = 0
/** The class of a request until it is classified: the index of 'normal' among the priorities. */
const NORMAL = 2

class Request extends Trail {
  constructor(recorder, req, res, startedMs, method) {
    super()
    this.recorder = recorder
    this.req = req
    this.res = res
    this.socket = req.socket
    this.stream = req.httpVersionMajor === 2 ? req.stream : undefined
    this.session = this.stream?.session
    this.connection = this.session === undefined ? this.socket : connectionOf(this.session)
    this.startedMs = startedMs
    this.method = method
    this.scheme = 0
    /** Whether it is one of ours to count: what a server hook has only prepared is not, until a middleware has it. */
    this.isCounted = false
    /** The first of the instances that measure this response, on which the routers write, and the one after this. */
    this.head = this
    this.next = undefined
    /** What the response had in place of its class's `writeHead`. */
    this.ownWriteHead = undefined
    this.waitingOn = undefined
    this.isEnded = false
    /** Its neighbours among those in flight. */
    this.elder = undefined
    this.younger = undefined

    // What the gate made of it.
    this.priority = NORMAL
    this.isDecided = false
    this.isShed = false
    this.queuedMs = 0
    this.waitsSinceMs = 0
    this.admittedMs = 0
    /** How many were in flight then. */
    this.admittedAmong = 0
    this.resource = undefined
    /** What runs it when its turn in the queue has come; called on the request. */
    this.resume = undefined
    /** The framework's own way on, which also takes an error; only a middleware has one. */
    this.proceed = undefined
    this.error = undefined
    /** Told that a request that waited will not run. */
    this.giveUp = undefined

    // How it ended.
    this.firstByteMs = -1
    this.durationMs = 0
    this.outcome = 0
    /** Answered in the stead of its handler, which took too long. */
    this.isTimedOut = false
    this.status = NO_STATUS
    this.isCutOff = false
    /** An HTTP/2 stream that Node would have left behind. */
    this.isLeft = false
    this.isStream = false
    /** The ids of the trace it was answered in, if that is kept; and what holds its span. */
    this.trace = undefined
    this.serverSpan = undefined
    this.requestBytes = 0
    this.responseBytes = 0
    /** Where it was counted; none of a request that was not let in. */
    this.series = undefined
    /** The last of its errors that are to be counted when it ends. */
    this.failure = undefined
  }
}

/** Whether it waits for its turn in the gate's queue. */
const isQueued = ({ queuedMs, admittedMs, isShed }) => queuedMs > 0 && admittedMs === 0 && !isShed

/**
 * Whether its client is gone, though its end may not have been told yet: a stream that was reset is closed before it is
 * destroyed, and throws at whoever answers it; a pipelined answer that waits for its turn is of a connection that has gone,
 * and is not told so. Not `req.destroyed`: that is true as well where a body parser before us has read it all.
 */
function hasLeft({ isEnded, res, socket, stream }) {
  if (isEnded) return true
  if (stream !== undefined) return stream.closed || stream.destroyed
  return res.destroyed === true || socket?.destroyed === true
}

/** @returns {Request | undefined} what `recorder` measures of this response */
function requestOf(res, recorder) {
  let request = res?.[kTrail]
  while (request !== undefined && request.recorder !== recorder) request = request.next
  return request
}

// Hot path: once a request.
function watch(request) {
  const { res, socket, stream } = request
  // An answer that was begun before it came to us.
  if (res.headersSent) {
    request.firstByteMs = 0
    request.status = res.statusCode
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
    request.isEnded = true
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
  request.isEnded = head.isEnded
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
  if (head.isEnded) return
  if (head.waitingOn !== undefined) leaveQueue(head)
  takeBytes(head)
  if (head.status === NO_STATUS) noteStatus(head)
  for (let each = head; each !== undefined; each = each.next) {
    each.isEnded = true
    if (each.isCounted) each.recorder.end(each, head)
  }
}

function leaveQueue(head) {
  head.waitingOn.delete(head)
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

module.exports = { NO_STATUS, Request, endAll, hasLeft, isQueued, noteHead, requestOf, watch }
