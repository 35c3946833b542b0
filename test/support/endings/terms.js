'use strict'
// What the tables of HTTP/1 endings are written in: requests, ways to leave, and what is to be measured.

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'
const UPLOAD = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n'
const CHUNKED_UPLOAD = 'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
const CLOSING = 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const BIG = Buffer.alloc(20_000_000)
const PART = Buffer.alloc(50_000)
const LAST_CHUNK = '0\r\n\r\n'

const LEAVINGS = { 'sends FIN': 'end', 'destroys its socket': 'destroy', 'resets the connection': 'reset' }

const completed = (status, count = 1) => ({
  outcomes: { completed: count },
  statuses: { [status]: count },
  firstBytes: count,
})
const errored = (status) => ({ outcomes: { errored: 1 }, statuses: { [status]: 1 }, firstBytes: 1 })
const erroredUnanswered = { outcomes: { errored: 1 }, statuses: { '': 1 }, firstBytes: 0 }
const aborted = (status) => ({ outcomes: { aborted: 1 }, statuses: { [status]: 1 }, firstBytes: 1 })
const abortedUnanswered = (count = 1) => ({
  outcomes: { aborted: count },
  statuses: { '': count },
  firstBytes: 0,
})

const upstreamReset = () =>
  Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })

const never = () => {}
const answerOk = (_req, res) => res.end('ok')

async function send(connection, bytes, times = 1) {
  connection.send(bytes)
  await connection.until('HTTP/1.1 ', times)
}

const exchange = (connection) => send(connection, GET)

/** The whole answer: it ends with the connection. */
async function readToEnd(connection, bytes) {
  connection.send(bytes)
  await connection.untilClosed()
}

module.exports = {
  GET,
  UPLOAD,
  CHUNKED_UPLOAD,
  CLOSING,
  BIG,
  PART,
  LAST_CHUNK,
  LEAVINGS,
  completed,
  errored,
  erroredUnanswered,
  aborted,
  abortedUnanswered,
  upstreamReset,
  never,
  answerOk,
  send,
  exchange,
  readToEnd,
}
