'use strict'
// How members ask each other: one byte asks for counters alone or for histograms too, and the answer is one byte, when
// the report has been written, or where that cannot be, as on a full disk, another byte and the report.
// `exclusive`, because in a worker of a cluster a listen on a path would go to the primary and be shared among all.
// Nothing here keeps a process alive but a question that is under way, which ends within its time.

const net = require('node:net')
const { MOST_BYTES } = require('./report-file')

const WITH_ROUTES = 'r'
const COUNTERS = 'c'
const WRITTEN = Buffer.from('y')
const UNWRITTEN = Buffer.from('n')

/**
 * Opens the door of this member.
 * @param {string} path
 * @param {(withRoutes: boolean) => Promise<Buffer[] | undefined>} report gives what it could not write
 * @returns {Promise<() => void>} closes it
 */
function openDoor(path, report) {
  const open = new Set()
  const server = net.createServer((socket) => {
    open.add(socket)
    socket.unref()
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    socket.once('data', (question) => {
      socket.resume()
      report(question.toString('latin1') === WITH_ROUTES).then(
        (pieces) => socket.end(pieces === undefined ? WRITTEN : Buffer.concat([UNWRITTEN, ...pieces])),
        () => socket.destroy()
      )
    })
  })
  server.unref()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
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
 * @typedef {'answered' | 'silent' | 'refused' | 'absent'} Answer refused: nobody is behind that door; absent: no door
 * @typedef {{ answer: Answer, report?: Buffer | undefined }} Reply `report`: where it is written nowhere
 */

/** @returns {Promise<Reply>} what came within that time */
function knock(path, withRoutes, waitMs, clock) {
  return new Promise((resolve) => {
    /** @type {Reply} */
    const reply = { answer: 'silent' }
    const pieces = []
    let length = 0
    const socket = net.connect(path)
    socket.write(withRoutes ? WITH_ROUTES : COUNTERS)
    const give = () => socket.destroy()
    clock.after(waitMs, give)
    socket.on('data', (piece) => {
      pieces.push(piece)
      length += piece.length
      if (length > MOST_BYTES) return give()
      if (pieces[0][0] === UNWRITTEN[0]) return
      reply.answer = 'answered'
      give()
    })
    socket.on('end', () => {
      if (pieces.length === 0) return
      reply.answer = 'answered'
      reply.report = Buffer.concat(pieces).subarray(UNWRITTEN.length)
    })
    socket.on('error', (/** @type {any} */ error) => {
      if (error.code === 'ECONNREFUSED') reply.answer = 'refused'
      if (error.code === 'ENOENT') reply.answer = 'absent'
    })
    socket.on('close', () => resolve(reply))
  })
}

module.exports = { knock, openDoor }
