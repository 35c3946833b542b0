'use strict'
// The ways an HTTP/1 request can end, as data: what the server does with it, what the client does, and what is to be
// measured of it. Every ending is a real connection; nothing is simulated.
//   before   what earlier middleware does, before the request comes to the spillway
//   answer   the application, given the responses so far, of which the last is its own
//   client   the other side, given a `Connection` and `entered(n)`: until the application has been entered n times
//   outcomes, statuses, firstBytes   to be measured, in all; '' is a request without a status

const { pipeline } = require('node:stream')

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

const PIPELINED = [
  {
    name: 'three requests in one packet, all answered',
    answer: answerOk,
    client: (connection) => send(connection, GET.repeat(3), 3),
    ...completed(200, 3),
  },
  {
    name: 'three requests in one packet, answered last first',
    answer: (_req, _res, responses) => {
      if (responses.length === 3) for (const each of responses.toReversed()) each.end('ok')
    },
    client: (connection) => send(connection, GET.repeat(3), 3),
    ...completed(200, 3),
  },
  ...Object.entries(LEAVINGS).flatMap(([leaves, how]) => [
    {
      name: `the client ${leaves} while two of three are queued`,
      answer: never,
      client: async (connection, entered) => {
        connection.send(GET.repeat(3))
        await entered(3)
        connection[how]()
      },
      ...abortedUnanswered(3),
    },
    {
      name: `the client ${leaves} while two of three are queued, ready but for the first`,
      answer: (_req, res, responses) => {
        if (responses.length > 1) res.end('ok')
      },
      client: async (connection, entered) => {
        connection.send(GET.repeat(3))
        await entered(3)
        connection[how]()
      },
      ...abortedUnanswered(3),
    },
  ]),
  {
    name: 'the server destroys the second of two while it is queued',
    answer: (_req, _res, responses) => {
      if (responses.length < 2) return
      responses[1].destroy()
      responses[0].end('ok')
    },
    client: (connection) => send(connection, GET.repeat(2)),
    outcomes: { completed: 1, errored: 1 },
    statuses: { 200: 1, '': 1 },
    firstBytes: 1,
  },
]

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

const HTTP_1_ENDINGS = [
  ...ANSWERED,
  ...CUT_BY_SERVER,
  ...CUT_BY_CLIENT,
  ...CLIENTS_FAULT,
  ...PIPELINED,
  ...OVER_BEFORE,
]

module.exports = { GET, HTTP_1_ENDINGS }
