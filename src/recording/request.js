'use strict'
// One request being measured, from the moment a framework or server handed it over to the last byte of its answer.
// A response carries one listener and one `writeHead` of ours, however many instances measure it: the first request
// put on it is the head of a chain, watches for all, and holds what the routers tell of the route.
//
// Native responses end with their `close` event (1 µs); anything else (in-process injection, serverless shims, an
// answer already finished) goes through on-finished (9 µs), whose contract both ways keep.

const { Socket } = require('node:net')
const onFinished = require('on-finished')
const { Trail, kTrail } = require('../routing/trail')

const kWaiting = Symbol('spillway.waiting')
const kBytesRead = Symbol('spillway.bytesRead')
const kBytesWritten = Symbol('spillway.bytesWritten')

/** An answer of which no byte was sent has no status. */
const NO_STATUS = 0

class Request extends Trail {
  constructor(recorder, req, res, startedMs, method) {
    super()
    this.recorder = recorder
    this.req = req
    this.res = res
    this.socket = req.socket
    this.stream = req.httpVersionMajor === 2 ? res.stream : undefined
    this.startedMs = startedMs
    this.method = method
    this.scheme = 0
    /** Whether it is one of ours to count: what a server hook has only prepared is not, until a middleware has it. */
    this.isCounted = false
    /** The next instance that measures this response. */
    this.next = undefined
    this.originalWriteHead = undefined
    this.waitingOn = undefined
    this.isEnded = false

    // How it ended.
    this.firstByteMs = -1
    this.durationMs = 0
    this.outcome = 0
    this.status = NO_STATUS
    this.isCutOff = false
    this.isStream = false
    this.requestBytes = 0
    this.responseBytes = 0
  }
}

/** @returns {Request | undefined} what `recorder` measures of this response */
function requestOf(res, recorder) {
  let request = res[kTrail]
  while (request !== undefined && request.recorder !== recorder) request = request.next
  return request
}

// Hot path: once a request.
function watch(request) {
  const { req, res } = request
  const head = res[kTrail]
  if (head !== undefined) {
    let last = head
    while (last.next !== undefined) last = last.next
    last.next = request
    return
  }
  res[kTrail] = request
  request.originalWriteHead = res.writeHead
  res.writeHead = writeHead
  const isNative = request.socket instanceof Socket || request.stream !== undefined
  if (!isNative || res.writableEnded || res.destroyed) {
    noteHead(request, request.startedMs)
    return onFinished(res, onResponseFinished)
  }
  res.on('close', onResponseClose)
  // A pipelined answer that waits for its turn has no socket yet, and never closes if the connection does first.
  if (res.socket === null && request.stream === undefined) waitOn(req.socket, request)
}

function writeHead(status) {
  const head = this[kTrail]
  const nowMs = head.recorder.nowMs()
  for (let each = head; each !== undefined; each = each.next) {
    if (each.firstByteMs < 0) each.firstByteMs = nowMs - each.startedMs
    each.status = status | 0
  }
  return head.originalWriteHead.apply(this, arguments)
}

/** Of an answer that was begun before it came to us. */
function noteHead(request, nowMs) {
  if (!request.res.headersSent) return
  request.firstByteMs = nowMs - request.startedMs
  request.status = request.res.statusCode
}

function onResponseClose() {
  endAll(this[kTrail])
}

function onResponseFinished(_error, res) {
  endAll(res[kTrail])
}

function waitOn(socket, request) {
  if (socket[kWaiting] === undefined) {
    socket[kWaiting] = new Set()
    socket.on('close', onSocketClose)
  }
  socket[kWaiting].add(request)
  request.waitingOn = socket[kWaiting]
}

function onSocketClose() {
  for (const request of this[kWaiting]) {
    for (let each = request; each !== undefined; each = each.next) each.isCutOff = true
    endAll(request)
  }
}

function endAll(head) {
  if (head.isEnded) return
  head.isEnded = true
  head.waitingOn?.delete(head)
  takeBytes(head)
  for (let each = head; each !== undefined; each = each.next) {
    if (each.isCounted) each.recorder.end(each, head)
  }
}

/** The connection's bytes since its last answer: exact for one request after the other, in sum for pipelined and HTTP/2. */
function takeBytes(head) {
  const { socket } = head
  const read = socket?.bytesRead
  if (read === undefined) return
  const written = socket.bytesWritten
  head.requestBytes = read - (socket[kBytesRead] ?? 0)
  head.responseBytes = written - (socket[kBytesWritten] ?? 0)
  socket[kBytesRead] = read
  socket[kBytesWritten] = written
}

module.exports = { NO_STATUS, Request, requestOf, watch }
