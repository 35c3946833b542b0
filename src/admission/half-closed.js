'use strict'
// A client may half-close its connection right after its request (`nc -N`, shell health checks). Node then ends the
// connection, answered or not. A request that is queued, or whose 503 is held, gets a callback before Node does so.
// A client that closes its connection and reads nothing more looks the same.

const kCallbacks = Symbol('spillway.halfCloseCallbacks')
const kHalfClosed = Symbol('spillway.halfClosed')

/** @this {any} */
function onEnd() {
  const callbacks = this[kCallbacks]
  this[kHalfClosed] = true
  this[kCallbacks] = undefined
  for (const callback of callbacks) {
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

/** Calls `callback` when the client of this request half-closes. HTTP/2 streams outlive that by themselves. */
function onHalfClose({ socket, stream }, callback) {
  if (stream !== undefined || typeof socket?.prependListener !== 'function') return
  if (socket[kCallbacks] === undefined) {
    socket[kCallbacks] = new Set()
    // Must run before Node's own listener, which ends the connection. One listener serves a whole pipeline.
    socket.prependOnceListener('end', onEnd)
  }
  socket[kCallbacks].add(callback)
}

function offHalfClose({ socket }, callback) {
  const callbacks = socket?.[kCallbacks]
  if (callbacks === undefined || !callbacks.delete(callback) || callbacks.size > 0) return
  socket[kCallbacks] = undefined
  socket.off('end', onEnd)
}

/** A half-closed client receives only an answer that is sent at once. */
const isHalfClosed = ({ socket }) => socket?.[kHalfClosed] === true

module.exports = { isHalfClosed, offHalfClose, onHalfClose }
