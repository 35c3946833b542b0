'use strict'
// A load without the kernel: it pushes requests into the server's own sockets and takes the answers from
// them, in one process.

const net = require('node:net')

const CONNECTIONS = 16
const REQUEST = Buffer.from('GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n')

/** A connection without a kernel: what is written to it is an answer, and brings the next request. */
class MemorySocket extends net.Socket {
  answered = () => {}
  _read() {}
  _write(_chunk, _encoding, done) {
    done()
    this.answered()
  }
  _writev(_chunks, done) {
    done()
    this.answered()
  }
}

/**
 * @param {() => Buffer} [requestNow] makes the request that is sent until the next call
 * @returns {(count: number) => Promise<void>} sends that many requests, and resolves when all are answered
 */
function loadOf(server, requestNow = () => REQUEST) {
  let left = 0
  let request = REQUEST
  let done = () => {}
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = new MemorySocket()
    socket.answered = () => {
      if (--left === 0) done()
      else if (left >= CONNECTIONS) setImmediate(() => socket.push(request))
    }
    Object.assign(socket, { server })
    server.emit('connection', socket)
    return socket
  })
  return (count) =>
    new Promise((resolve) => {
      left = count
      done = () => resolve(undefined)
      request = requestNow()
      for (const socket of sockets) socket.push(request)
    })
}

module.exports = { loadOf }
