'use strict'
// How members ask each other: one byte asks for counters alone or for histograms too, and the answer is one byte, when
// the report has been written.
// `exclusive`, because in a worker of a cluster a listen on a path would go to the primary and be shared among all.
// Nothing here keeps a process alive but a question that is under way, which ends within its time.

const net = require('node:net')

const WITH_ROUTES = 'r'
const COUNTERS = 'c'
const DONE = 'y'

/**
 * Opens the door of this member.
 * @param {string} path
 * @param {(withRoutes: boolean) => Promise<void>} report
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
        () => socket.end(DONE),
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

/** @typedef {'answered' | 'silent' | 'refused' | 'absent'} Answer refused: nobody is behind that door; absent: no door */

/** @returns {Promise<Answer>} what came within that time */
function knock(path, withRoutes, waitMs, clock) {
  return new Promise((resolve) => {
    /** @type {Answer} */
    let answer = 'silent'
    const socket = net.connect(path)
    socket.write(withRoutes ? WITH_ROUTES : COUNTERS)
    const give = () => socket.destroy()
    clock.after(waitMs, give)
    socket.on('data', () => {
      answer = 'answered'
      give()
    })
    socket.on('error', (/** @type {any} */ error) => {
      if (error.code === 'ECONNREFUSED') answer = 'refused'
      if (error.code === 'ENOENT') answer = 'absent'
    })
    socket.on('close', () => resolve(answer))
  })
}

module.exports = { knock, openDoor }
