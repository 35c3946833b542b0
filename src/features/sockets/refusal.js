'use strict'
// Refuses a connection with 503 and `Retry-After`. The connection is a polling handshake, or an upgrade
// before its handshake.

const { PROBLEM } = require('../../core/gate/rejection')

/**
 * Keeps the headers that middleware has set. Without CORS headers, a browser cannot read the answer.
 *
 * @param {import('node:http').ServerResponse} res
 * @param {number} retryAfterSeconds
 */
function refuseRequest(res, retryAfterSeconds) {
  if (res.headersSent || res.destroyed) return
  res.writeHead(503, {
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(PROBLEM),
    'Cache-Control': 'no-store',
    'Retry-After': String(retryAfterSeconds),
  })
  res.end(PROBLEM)
}

/** @param {import('node:stream').Duplex} socket @param {number} retryAfterSeconds */
function refuseUpgrade(socket, retryAfterSeconds) {
  socket.on('error', () => {})
  if (!socket.writable) return socket.destroy()
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(PROBLEM)}\r\nCache-Control: no-store\r\nRetry-After: ${retryAfterSeconds}\r\n\r\n${PROBLEM}`
  )
}

module.exports = { refuseRequest, refuseUpgrade }
