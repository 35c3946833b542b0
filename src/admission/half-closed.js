'use strict'
// A client may send its request and close its side at once (`nc -N`, shell health checks). Node then ends the connection,
// answered or not. So a request that waits, queued or for its late 503, is told first, and is run or answered at once.

const kWaiting = Symbol('spillway.waiting')
const kHalfClosed = Symbol('spillway.halfClosed')

/** @this {any} */
function onEnd() {
  const waiting = this[kWaiting]
  this[kHalfClosed] = true
  this[kWaiting] = undefined
  for (const callback of waiting) {
    try {
      callback()
    } catch (error) {
      // A handler's error is uncaught, as it would be in its own turn; the others, and Node's own listener, go on.
      process.nextTick(() => {
        throw error
      })
    }
  }
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

/** Whether it has: then only what is answered at once reaches it. */
const isHalfClosed = ({ socket }) => socket?.[kHalfClosed] === true

module.exports = { isHalfClosed, offHalfClose, onHalfClose }
