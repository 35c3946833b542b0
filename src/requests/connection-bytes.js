'use strict'
// The bytes of a connection, shared out among its requests: what has come and gone since the last of its answers ended. Exact
// for one request after the other, in sum for pipelined ones and HTTP/2.

const kBytesRead = Symbol('spillway.bytesRead')
const kBytesWritten = Symbol('spillway.bytesWritten')
const kConnection = Symbol('spillway.connection')

// Hot path: once a request.
function takeBytes(head) {
  const { connection } = head
  const read = connection?.bytesRead
  if (read === undefined) return
  const written = connection.bytesWritten
  head.requestBytes = read - (connection[kBytesRead] ?? 0)
  head.responseBytes = written - (connection[kBytesWritten] ?? 0)
  connection[kBytesRead] = read
  connection[kBytesWritten] = written
}

// An HTTP/2 session shows a stand-in for its socket, which is empty once the session has gone. What the stand-in's
// methods return is the socket itself.
function connectionOf(session) {
  if (session[kConnection] === undefined && !session.destroyed) {
    session[kConnection] = session.socket.off('close', takeBytes)
  }
  return session[kConnection]
}

module.exports = { connectionOf, takeBytes }
