'use strict'
// Requests reports between members. A request is one byte: with or without the histograms of the routes, or
// for pages. The reply is one byte once the report is written. If the report cannot be written, as on a full
// disk, the reply is another byte and the report. Only a request in progress keeps the process alive, until
// its timeout at the latest.

const net = require('node:net')
const { PAGES } = require('./member-pages')
const { MAX_BYTES } = require('../reports/report-file')

const WITH_ROUTES = 'r'
const COUNTERS = 'c'
const WRITTEN = Buffer.from('y')
const UNWRITTEN = Buffer.from('n')

/**
 * Opens the socket of this member.
 *
 * @param {string} path
 * @param {{ report: (withRoutes: boolean) => Promise<Buffer[] | undefined>,
 *   servePages: (socket: net.Socket) => void }} answers report: writes the report, and returns it if that
 *   fails
 * @returns {Promise<() => void>} closes the socket
 */
function openMemberSocket(path, { report, servePages }) {
  /** @type {Set<net.Socket>} */
  const open = new Set()
  const server = net.createServer((socket) => {
    open.add(socket)
    socket.unref()
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    socket.once('data', (bytes) => {
      const request = bytes.toString('latin1')
      if (request === PAGES) return servePages(socket)
      socket.resume()
      report(request === WITH_ROUTES).then(
        (pieces) => socket.end(pieces === undefined ? WRITTEN : Buffer.concat([UNWRITTEN, ...pieces])),
        () => socket.destroy()
      )
    })
  })
  server.unref()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // Without `exclusive` the primary of a cluster would open the path and share it among the workers.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve(() => {
        server.close()
        for (const socket of open) socket.destroy()
      })
    })
  })
}

/**
 * @typedef {'answered' | 'silent' | 'refused' | 'absent'} Answer refused: no process listens on the socket;
 *   absent: no socket
 * @typedef {{ answer: Answer, report?: Buffer | undefined }} Reply `report`: only if the member could not
 *   write it
 */

/**
 * @param {string} path
 * @param {boolean} withRoutes
 * @param {number} timeoutMs
 * @param {Pick<import('../../../core/clock').Clock, 'after'>} clock
 * @returns {Promise<Reply>}
 */
function requestReport(path, withRoutes, timeoutMs, clock) {
  return new Promise((resolve) => {
    /** @type {Reply} */
    const reply = { answer: 'silent' }
    /** @type {Buffer[]} */
    const pieces = []
    let length = 0
    const socket = net.connect(path)
    socket.write(withRoutes ? WITH_ROUTES : COUNTERS)
    const finish = () => socket.destroy()
    clock.after(timeoutMs, finish)
    socket.on('data', (piece) => {
      pieces.push(piece)
      length += piece.length
      if (length > MAX_BYTES) return finish()
      if (pieces[0][0] === UNWRITTEN[0]) return
      reply.answer = 'answered'
      finish()
    })
    socket.on('end', () => {
      if (pieces.length === 0) return
      reply.answer = 'answered'
      reply.report = Buffer.concat(pieces).subarray(UNWRITTEN.length)
    })
    socket.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'ECONNREFUSED') reply.answer = 'refused'
      if (error.code === 'ENOENT') reply.answer = 'absent'
    })
    socket.on('close', () => resolve(reply))
  })
}

module.exports = { openMemberSocket, requestReport }
