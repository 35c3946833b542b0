'use strict'
// Answers that were begun, ended or cut off before they came to the spillway.

const {
  GET,
  CLOSING,
  BIG,
  completed,
  erroredUnanswered,
  abortedUnanswered,
  never,
  answerOk,
  exchange,
  readToEnd,
} = require('./terms')

const untilClosed = (response) => new Promise((resolve) => response.on('close', resolve))

const OVER_BEFORE = [
  {
    name: 'an answer finished, but not yet closed, before it came to the spillway',
    before: (_req, res) => {
      res.end('ok')
    },
    answer: never,
    client: exchange,
    ...completed(200),
  },
  {
    name: 'an answer closed before it came to the spillway',
    before: async (_req, res) => {
      res.end('ok')
      await untilClosed(res)
    },
    answer: never,
    client: exchange,
    ...completed(200),
  },
  {
    name: '20 MB ended, but not yet sent, before they came to the spillway',
    before: (_req, res) => {
      res.end(BIG)
    },
    answer: never,
    client: (connection) => readToEnd(connection, CLOSING),
    ...completed(200),
  },
  {
    name: 'an answer begun before it came to the spillway',
    before: (_req, res) => {
      res.writeHead(201)
      res.write('a')
    },
    answer: (_req, res) => res.end('b'),
    client: exchange,
    ...completed(201),
  },
  {
    name: 'a response destroyed before it came to the spillway',
    before: (_req, res) => {
      res.destroy()
    },
    answer: never,
    client: (connection) => readToEnd(connection, GET),
    ...erroredUnanswered,
  },
  {
    name: 'a response destroyed and closed before it came to the spillway',
    before: async (_req, res) => {
      res.destroy()
      await untilClosed(res)
    },
    answer: never,
    client: (connection) => readToEnd(connection, GET),
    ...erroredUnanswered,
  },
  {
    name: 'a client gone before its request came to the spillway',
    before: (_req, res) => untilClosed(res),
    answer: answerOk,
    client: async (connection, _entered, arrived) => {
      connection.send(GET)
      await arrived(1)
      connection.reset()
    },
    ...abortedUnanswered(),
  },
  {
    name: 'a client gone before its three pipelined requests came to the spillway',
    before: (req) => untilClosed(req.socket),
    answer: answerOk,
    client: async (connection, _entered, arrived) => {
      connection.send(GET.repeat(3))
      await arrived(3)
      connection.reset()
    },
    ...abortedUnanswered(3),
  },
]

module.exports = { OVER_BEFORE }
