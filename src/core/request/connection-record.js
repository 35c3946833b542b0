'use strict'
// Record of a connection: its bytes so far, when its last request ended, its pipelined requests, and the
// callbacks for a half-close. All of it is one object behind one symbol. With more properties of ours,
// sockets would have many hidden classes. This would slow down Node's own code, which reads sockets
// everywhere (decision 0044).
//
// Each request is assigned what was read and written since the previous one ended. The numbers are exact for
// sequential requests, and exact in sum for pipelined requests and HTTP/2 streams.

const kRecord = Symbol('spillway.connection')
const kSocket = Symbol('spillway.socket')

/**
 * @import { Server } from 'node:http'
 * @import { Http2Session } from 'node:http2'
 * @import { Socket } from 'node:net'
 * @import { RequestRecord } from './request-record'
 * @typedef {Socket & { errored: NodeJS.ErrnoException | null, encrypted?: boolean, server?: Server,
 *   [kRecord]?: ConnectionRecord }} Connection
 */

class ConnectionRecord {
  bytesRead = 0
  bytesWritten = 0
  /** When the last request of the connection ended. */
  endedMs = Number.NEGATIVE_INFINITY
  /** The pipelined requests whose responses Node has not started to send, in order. */
  /** @type {Set<RequestRecord> | undefined} */
  pipeline = undefined
  /** Called when the client half-closes the connection. */
  /** @type {Set<() => void> | undefined} */
  halfCloseCallbacks = undefined
  isHalfClosed = false
}

/**
 * @param {Connection | undefined} connection
 * @returns {ConnectionRecord | undefined} undefined if nothing is known of the connection
 */
const recordOf = (connection) => connection?.[kRecord]

/** @param {Connection} connection @returns {ConnectionRecord} a new record if the connection has none */
const openRecord = (connection) => (connection[kRecord] ??= new ConnectionRecord())

// Hot path, once a request (bench/overhead).
/** @param {RequestRecord} first */
function assignBytes(first) {
  const { connection } = first
  const read = connection?.bytesRead
  const written = connection?.bytesWritten
  if (read === undefined || written === undefined) return
  const record = openRecord(/** @type {Connection} */ (connection))
  first.requestBytes = read - record.bytesRead
  first.responseBytes = written - record.bytesWritten
  record.bytesRead = read
  record.bytesWritten = written
}

/** @param {RequestRecord} first whose bytes were assigned @param {number} endedMs */
function markEnd({ connection }, endedMs) {
  const record = recordOf(connection)
  if (record !== undefined) record.endedMs = endedMs
}

/**
 * When the last request of the connection ended; -Infinity if none has ended.
 *
 * @param {Connection | undefined} connection
 */
const endedMsOf = (connection) => recordOf(connection)?.endedMs ?? Number.NEGATIVE_INFINITY

/**
 * The socket of an HTTP/2 session. `session.socket` is a proxy that is empty after the session has closed,
 * but a method called on it returns the socket itself.
 * @param {Http2Session & { [kSocket]?: Connection }} session
 */
function connectionOf(session) {
  if (session[kSocket] === undefined && !session.destroyed) {
    session[kSocket] = session.socket.off('close', assignBytes)
  }
  return session[kSocket]
}

module.exports = { assignBytes, connectionOf, endedMsOf, markEnd, openRecord, recordOf }
