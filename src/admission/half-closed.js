'use strict'
// A client may send its request and close its side at once (`nc -N`, shell health checks). Node then ends the connection,
// answered or not. So a request that waits, queued or for its late 503, is told first, and is run or answered at once.

const kWaiting = Symbol('spillway.waiting')

/** @this {any} */
function onEnd() {
  const waiting = this[kWaiting]
  this[kWaiting] = undefined
  for (const callback of waiting) callback()
}

/** Calls back when the client of this request half-closes; HTTP/2 ends streams by itself. */
function onHalfClose({ socket, stream }, callback) {
  if (stream !== undefined || typeof socket?.prependListener !== 'function') return
  if (socket[kWaiting] === undefined) {
    socket[kWaiting] = new Set()
    // Before Node's own listener, which ends the connection. One for all requests of a pipeline.
    socket.prependOnceListener('end', onEnd)
  }
  socket[kWaiting].add(callback)
}

function offHalfClose({ socket }, callback) {
  const waiting = socket?.[kWaiting]
  if (waiting === undefined || !waiting.delete(callback) || waiting.size > 0) return
  socket[kWaiting] = undefined
  socket.off('end', onEnd)
}

module.exports = { offHalfClose, onHalfClose }
