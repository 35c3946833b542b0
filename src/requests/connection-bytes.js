'use strict'
// What a connection knows of its requests: when the last one ended, and its bytes. Each request is assigned what was read and written
// since the previous one ended.
// The numbers are exact for sequential requests, and exact in sum for pipelined requests and HTTP/2 streams.

const kBytesRead = Symbol('spillway.bytesRead')
const kBytesWritten = Symbol('spillway.bytesWritten')
const kEndedMs = Symbol('spillway.endedMs')
const kConnection = Symbol('spillway.connection')

// Hot path: once a request.
/** @param {InstanceType<typeof import('./request').Request>} head */
function assignBytes(head) {
  const { connection } = head
  const read = connection?.bytesRead
  const written = connection?.bytesWritten
  if (read === undefined || written === undefined) return
  head.requestBytes = read - (connection[kBytesRead] ?? 0)
  head.responseBytes = written - (connection[kBytesWritten] ?? 0)
  connection[kBytesRead] = read
  connection[kBytesWritten] = written
}

/** @param {InstanceType<typeof import('./request').Request>} head whose bytes were assigned @param {number} endedMs */
function markEnd({ connection }, endedMs) {
  if (connection?.[kBytesRead] !== undefined) connection[kEndedMs] = endedMs
}

/** When the last request of the connection ended; -Infinity for its first. */
const endedMsOf = (connection) => connection?.[kEndedMs] ?? Number.NEGATIVE_INFINITY

/**
 * The socket of an HTTP/2 session. `session.socket` is a proxy that is empty after the session has closed, but a method
 * called on it returns the socket itself.
 */
function connectionOf(session) {
  if (session[kConnection] === undefined && !session.destroyed) {
    session[kConnection] = session.socket.off('close', assignBytes)
  }
  return session[kConnection]
}

module.exports = { assignBytes, connectionOf, endedMsOf, markEnd }
