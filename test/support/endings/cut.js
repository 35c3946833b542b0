'use strict'
// Endings in which the server or the client cuts the answer off, and who it was must not be mistaken.

const { pipeline } = require('node:stream')
const {
  GET,
  UPLOAD,
  CHUNKED_UPLOAD,
  BIG,
  PART,
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
} = require('./terms')

const CUT_BY_SERVER = [
  ['res.destroy()', (_req, res) => res.destroy()],
  ['res.destroy(error)', (_req, res) => res.destroy(new Error('no'))],
  ["res.destroy(error) with an upstream's ECONNRESET", (_req, res) => res.destroy(upstreamReset())],
  ["req.destroy(error) with an upstream's ECONNRESET", (req) => req.destroy(upstreamReset())],
  ['req.destroy()', (req) => req.destroy()],
  ['socket.destroy()', (req) => req.socket.destroy()],
].flatMap(([name, cut]) => [
  {
    name: `${name} before the head`,
    answer: cut,
    client: (connection) => readToEnd(connection, GET),
    ...erroredUnanswered,
  },
  {
    name: `${name} after the head and some of the body`,
    answer: (req, res) => {
      res.writeHead(200)
      res.write('a', () => cut(req, res))
    },
    client: (connection) => readToEnd(connection, GET),
    ...errored(200),
  },
])

const CUT_BY_CLIENT = Object.entries(LEAVINGS).flatMap(([leaves, how]) => [
  {
    name: `the client ${leaves} before the head`,
    answer: never,
    client: async (connection, entered) => {
      connection.send(GET)
      await entered(1)
      connection[how]()
    },
    ...abortedUnanswered(),
  },
  {
    name: `the client ${leaves} before the head, and the application answers it all the same`,
    answer: (req, res) => req.on('aborted', () => res.writeHead(499).end()),
    client: async (connection, entered) => {
      connection.send(GET)
      await entered(1)
      connection[how]()
    },
    ...abortedUnanswered(),
  },
  {
    name: `the client ${leaves} amid the body`,
    answer: (_req, res) => res.write('a'),
    client: async (connection) => {
      await exchange(connection)
      connection[how]()
    },
    ...aborted(200),
  },
  {
    name: `the client ${leaves} amid its upload`,
    answer: (req) => req.resume(),
    client: async (connection, entered) => {
      connection.send(UPLOAD, PART)
      await entered(1)
      connection[how]()
    },
    ...abortedUnanswered(),
  },
  {
    name: `the client ${leaves} amid its chunked upload, which is being echoed`,
    answer: (req, res) => pipeline(req, res, never),
    client: async (connection) => {
      await send(connection, `${CHUNKED_UPLOAD}1\r\na\r\n`)
      connection[how]()
    },
    ...aborted(200),
  },
  ...(how === 'end'
    ? []
    : [
        {
          name: `the client ${leaves} amid 20 MB`,
          answer: (_req, res) => res.end(BIG),
          client: async (connection) => {
            connection.send(GET)
            await connection.untilBytes(1)
            connection[how]()
          },
          ...aborted(200),
        },
        {
          name: `the client ${leaves} amid 20 MB of which it has stopped reading`,
          answer: (_req, res) => {
            res.write(BIG)
            res.end()
          },
          client: async (connection, entered) => {
            connection.pause()
            connection.send(GET)
            await entered(1)
            connection[how]()
          },
          ...aborted(200),
        },
      ]),
])

const CLIENTS_FAULT = [
  {
    name: 'the client breaks the framing of its upload',
    answer: (req) => req.resume(),
    client: (connection) => readToEnd(connection, `${CHUNKED_UPLOAD}nonsense\r\n`),
    ...abortedUnanswered(),
  },
  {
    name: 'the client says FIN after its request and reads the answer, which is there at once',
    answer: answerOk,
    client: async (connection) => {
      connection.send(GET)
      connection.end()
      await connection.until('HTTP/1.1 ')
    },
    ...completed(200),
  },
]

module.exports = { CUT_BY_CLIENT, CUT_BY_SERVER, CLIENTS_FAULT }
