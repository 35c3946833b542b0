'use strict'
// Ends the requests in flight that are over although no event says so. Without this, each would hold its slot
// for ever.
// - HTTP/2: Node reads some streams of a disconnected client to the end and closes them, but never destroys
//   them. Their response never closes. Six clients that disconnected at random for eight seconds left ten
//   such streams. On Node 20, a stream is also never read to its end if nobody reads its body, such as after
//   a body parser rejected it.
// - HTTP/1: The `close` event does not reach us if the application removes the listeners of its response or
//   connection. Nor does it if the application takes the connection from its response. A listener that throws
//   before ours hides it too.
// - HTTP/1: No `close` comes at all if the application ends the connection in its `upgrade` listener and does
//   not read on. Node then cannot see the client leave.
// A check runs once a second. A request that is over at two checks in a row ends: nothing of it can be sent
// any more. An HTTP/2 stream is destroyed as well, unless its handler may still read what arrived.

const { isDisconnected } = require('./request-record')
const { endAll, isInjected } = require('./response-watch')

/** @import { RequestRecord } from './request-record' */

const EVERY_MS = 1000

class UnseenEnds {
  #requests
  #lookedMs
  /** @type {Set<RequestRecord>} */
  #suspects = new Set()

  /** @param {Iterable<RequestRecord>} requests in flight @param {number} nowMs */
  constructor(requests, nowMs) {
    this.#requests = requests
    this.#lookedMs = nowMs
  }

  /** @param {number} nowMs */
  onInterval(nowMs) {
    if (nowMs - this.#lookedMs < EVERY_MS) return
    this.#lookedMs = nowMs
    /** @type {Set<RequestRecord>} */
    const suspects = new Set()
    const left = []
    for (const request of this.#requests) {
      if (!isDisconnected(request) && !isUnsendable(request)) continue
      if (this.#suspects.has(request)) left.push(request)
      else suspects.add(request)
    }
    this.#suspects = suspects
    for (const request of left) release(request)
  }
}

/**
 * Whether the connection is open but takes no more writes, while part of the answer is not written to it.
 * Node keeps that part in the response, for ever. A client that reads slowly still gets the bytes that the
 * connection has already taken.
 * @param {RequestRecord} request
 */
function isUnsendable({ res, socket, stream }) {
  if (stream !== undefined || isInjected(socket) || socket.destroyed || !socket.writableEnded) return false
  const buffered = res.socket === null ? 0 : res.socket?.writableLength
  return !res.writableEnded || res.writableLength > buffered
}

/** @param {RequestRecord} request */
function release(request) {
  const { first, res, stream } = request
  // The application may have taken the connection from the response, to answer on it itself. That is not a
  // failure.
  if (res.socket && isUnsendable(request)) markCutOff(first)
  if (stream === undefined || stream.destroyed || !stream.readableEnded) return endAll(first)
  request.isEndUnseen = true
  stream.destroy()
}

/** @param {RequestRecord | undefined} first */
function markCutOff(first) {
  for (let each = first; each !== undefined; each = each.nextOfResponse) each.isCutOff = true
}

exports.UnseenEnds = UnseenEnds
