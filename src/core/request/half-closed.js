'use strict'
// A client may half-close its connection right after its request (`nc -N`, shell health checks). Node then
// ends the connection, even if the request has no answer yet. A request that is queued, or whose 503 waits,
// gets a callback before Node ends the connection. A client that closes its connection and reads nothing more
// looks the same.

const { openRecord, recordOf } = require('./connection-record')

/**
 * @import { Connection } from './connection-record'
 * @import { RequestRecord } from './request-record'
 */

/** @this {Connection} */
function onEnd() {
  const record = openRecord(this)
  const callbacks = record.halfCloseCallbacks
  record.isHalfClosed = true
  record.halfCloseCallbacks = undefined
  for (const callback of callbacks ?? []) {
    try {
      callback()
    } catch (error) {
      // The error of a handler stays uncaught, and must not stop the other callbacks or Node's own listener.
      process.nextTick(() => {
        throw error
      })
    }
  }
}

/**
 * Calls `callback` when the client of this request half-closes. HTTP/2 streams need no callback, because they
 * stay open after a half-close.
 * @param {RequestRecord} request @param {() => void} callback
 */
function onHalfClose({ socket, stream }, callback) {
  if (stream !== undefined || typeof socket?.prependListener !== 'function') return
  const record = openRecord(socket)
  if (record.halfCloseCallbacks === undefined) {
    record.halfCloseCallbacks = new Set()
    // Must run before Node's own listener, which ends the connection. One listener serves a whole pipeline.
    socket.prependOnceListener('end', onEnd)
  }
  record.halfCloseCallbacks.add(callback)
}

/** @param {RequestRecord} request @param {(() => void) | undefined} callback */
function offHalfClose({ socket }, callback) {
  const record = recordOf(socket)
  const callbacks = record?.halfCloseCallbacks
  if (
    record === undefined ||
    callbacks === undefined ||
    !callbacks.delete(/** @type {() => void} */ (callback)) ||
    callbacks.size > 0
  )
    return
  record.halfCloseCallbacks = undefined
  socket.off('end', onEnd)
}

/** A half-closed client receives only an answer that is sent at once. @param {RequestRecord} request */
const isHalfClosed = ({ socket }) => recordOf(socket)?.isHalfClosed === true

/** @param {{ headers: import('node:http').IncomingHttpHeaders }} req */
const hasBody = ({ headers }) =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

module.exports = { hasBody, isHalfClosed, offHalfClose, onHalfClose }
