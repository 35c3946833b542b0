'use strict'
// Endings in which the answer is whole.

const { ServerResponse } = require('node:http')
const {
  GET,
  UPLOAD,
  CLOSING,
  BIG,
  LAST_CHUNK,
  completed,
  errored,
  erroredUnanswered,
  answerOk,
  send,
  exchange,
  readToEnd,
} = require('./terms')

const ANSWERED = [
  { name: 'an answer', answer: answerOk, client: exchange, ...completed(200) },
  {
    name: 'an answer in chunks',
    answer: (_req, res) => {
      res.write('a')
      res.end('b')
    },
    client: async (connection) => {
      connection.send(GET)
      await connection.until(LAST_CHUNK)
    },
    ...completed(200),
  },
  {
    name: 'an answer to HEAD',
    answer: answerOk,
    client: (connection) => send(connection, 'HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n'),
    ...completed(200),
  },
  ...[204, 304, 404].map((status) => ({
    name: `a ${status}`,
    answer: (_req, res) => res.writeHead(status).end(),
    client: exchange,
    ...completed(status),
  })),
  { name: 'a 500', answer: (_req, res) => res.writeHead(500).end('no'), client: exchange, ...errored(500) },
  {
    // What `res.writeHeader` was, until Node 26 took it away.
    name: 'a 500 whose head is written by its old name',
    answer: (_req, res) => {
      ServerResponse.prototype.writeHead.call(res, 500)
      res.end('no')
    },
    client: exchange,
    ...errored(500),
    firstBytes: 0,
  },
  {
    name: 'a 101 written by hand',
    answer: (_req, res) => res.writeHead(101, { Connection: 'upgrade', Upgrade: 'x' }).end(),
    client: exchange,
    outcomes: { upgraded: 1 },
    statuses: {},
    firstBytes: 1,
  },
  {
    name: 'a second head that Node refuses does not change the first',
    answer: (_req, res) => {
      res.writeHead(200)
      res.write('a')
      try {
        res.writeHead(500)
      } catch {
        res.end()
      }
    },
    client: exchange,
    ...completed(200),
  },
  {
    name: 'early hints are no first byte',
    answer: (_req, res) => {
      res.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => res.socket.destroy())
    },
    client: (connection) => readToEnd(connection, GET),
    ...erroredUnanswered,
  },
  {
    name: 'a head Node refuses to write',
    answer: (_req, res) => {
      try {
        res.writeHead(200, { bad: 'line\nbreak' })
      } catch {
        res.destroy()
      }
    },
    client: (connection) => readToEnd(connection, GET),
    ...erroredUnanswered,
  },
  { name: 'Connection: close', answer: answerOk, client: (c) => readToEnd(c, CLOSING), ...completed(200) },
  {
    name: 'HTTP/1.0',
    answer: answerOk,
    client: (connection) => readToEnd(connection, 'GET /a HTTP/1.0\r\n\r\n'),
    ...completed(200),
  },
  {
    name: 'a 20 MB answer read to its end',
    answer: (_req, res) => res.end(BIG),
    client: (connection) => readToEnd(connection, CLOSING),
    ...completed(200),
  },
  {
    name: 'a kept connection used three times',
    answer: answerOk,
    client: async (connection) => {
      for (const times of [1, 2, 3]) await send(connection, GET, times)
    },
    ...completed(200, 3),
  },
  {
    name: 'an upload answered before it was read',
    answer: (_req, res) => res.writeHead(413, { Connection: 'close' }).end(),
    client: (connection) => send(connection, UPLOAD),
    ...completed(413),
  },
  {
    name: 'Expect: 100-continue',
    answer: (req, res) => req.on('data', () => {}).on('end', () => res.end('ok')),
    client: async (connection) => {
      connection.send('PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n')
      await connection.until('100 Continue')
      connection.send('ab')
      await connection.until('200 OK')
    },
    ...completed(200),
  },
]

module.exports = { ANSWERED }
