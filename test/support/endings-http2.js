'use strict'
// The ways an HTTP/2 request can end, in the form of endings.js. The client is an `Http2Client`.
// Outcomes follow the stream's reset code, and where that is not enough, who lost the connection.

const http2 = require('node:http2')
const net = require('node:net')
const { once } = require('node:events')

const { NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR, NGHTTP2_CANCEL } = http2.constants
const BIG = Buffer.alloc(20_000_000)
const NODE = Number.parseInt(process.versions.node, 10)
/**
 * Frames of nothing that there is, longer than any may be. Node 20 answers with GOAWAY, and from then on
 * takes no notice of the connection, nor of its end: the request stays open for ever, with us and without.
 */
const NOT_HTTP_2 = Buffer.alloc(16, 0xff)

class Http2Client {
  static async open(port) {
    const client = new Http2Client()
    client.socket = net.connect(port, '127.0.0.1')
    client.session = http2.connect(`http://127.0.0.1:${port}`, { createConnection: () => client.socket })
    for (const each of [client.socket, client.session]) each.on('error', () => {})
    await once(client.session, 'connect')
    return client
  }

  /** @returns {import('node:http2').ClientHttp2Stream} */
  ask(headers = {}, body) {
    const isUpload = body !== undefined
    const stream = this.session.request(
      { ':path': '/a', ...(isUpload ? { ':method': 'POST' } : {}), ...headers },
      { endStream: !isUpload }
    )
    stream.on('error', () => {})
    if (isUpload) stream.write(body)
    return stream
  }

  destroy() {
    this.session.destroy()
    this.socket.destroy()
  }
}

const never = () => {}
const answerOk = (_req, res) => res.end('ok')
const begin = (_req, res) => res.write('a')
const untilClosed = (emitter) => new Promise((resolve) => emitter.on('close', resolve))

/** Asks, and reads what comes. */
async function read(client, headers) {
  const stream = client.ask(headers).resume()
  await untilClosed(stream)
}

const HEAD = { ':method': 'HEAD' }

const asking = (leave, headers) => async (client, entered) => {
  const stream = client.ask(headers)
  await entered(1)
  leave(client, stream)
}

const reading = (leave) => async (client) => {
  const stream = client.ask()
  await once(stream, 'data')
  leave(client, stream)
}

const measuredAs =
  (outcome) =>
  (status, firstBytes = 1) => ({
    outcomes: { [outcome]: 1 },
    statuses: { [status]: 1 },
    firstBytes,
  })
const completed = measuredAs('completed')
const errored = measuredAs('errored')
const aborted = measuredAs('aborted')

const ANSWERED = [
  { name: 'an answer', answer: answerOk, client: (client) => read(client), ...completed(200) },
  {
    name: 'an answer to HEAD',
    answer: answerOk,
    client: (client) => read(client, HEAD),
    ...completed(200),
  },
  ...[204, 304, 404].map((status) => ({
    name: `a ${status}`,
    answer: (_req, res) => res.writeHead(status).end(),
    client: (client) => read(client),
    ...completed(status),
  })),
  { name: 'a 500', answer: (_req, res) => res.writeHead(500).end(), client: (c) => read(c), ...errored(500) },
  {
    name: '20 MB read to their end',
    answer: (_req, res) => res.end(BIG),
    client: (client) => read(client),
    ...completed(200),
  },
  {
    name: 'an answer given on the stream itself has a status, but no first byte',
    answer: (_req, res) => {
      res.stream.respond({ ':status': 202 })
      res.stream.end('ok')
    },
    client: (client) => read(client),
    ...completed(202, 0),
  },
  {
    name: 'an upload answered before it was read',
    answer: (_req, res) => res.writeHead(413).end(),
    client: async (client) => {
      const stream = client.ask({}, 'a').resume()
      await once(stream, 'response')
      stream.close(NGHTTP2_NO_ERROR)
    },
    ...completed(413),
  },
  {
    name: 'three requests at once',
    answer: answerOk,
    client: (client) => Promise.all([read(client), read(client), read(client)]),
    outcomes: { completed: 3 },
    statuses: { 200: 3 },
    firstBytes: 3,
  },
  {
    name: 'a client that says GOAWAY and waits for its answer',
    answer: (req, res) => req.stream.session.on('goaway', () => res.end('ok')),
    client: async (client, entered) => {
      const stream = client.ask().resume()
      await entered(1)
      client.session.goaway()
      await untilClosed(stream)
    },
    ...completed(200),
  },
  {
    name: 'a session the server closes once it is done',
    answer: (req, res) => {
      req.stream.session.close()
      res.end('ok')
    },
    client: (client) => read(client),
    ...completed(200),
  },
]

const CUT_BY_SERVER = [
  ['res.destroy()', (_req, res) => res.destroy()],
  ['res.destroy(error)', (_req, res) => res.destroy(new Error('no'))],
  [
    "res.destroy(error) with an upstream's ECONNRESET",
    (_req, res) => res.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' })),
  ],
  [`stream.close(${NGHTTP2_INTERNAL_ERROR})`, (_req, res) => res.stream.close(NGHTTP2_INTERNAL_ERROR)],
  ['session.destroy()', (req) => req.stream.session.destroy()],
].flatMap(([name, cut]) => [
  { name: `${name} before the head`, answer: cut, client: (client) => read(client), ...errored('', 0) },
  {
    name: `${name} before the answer to HEAD`,
    answer: cut,
    client: (client) => read(client, HEAD),
    ...errored('', 0),
  },
  {
    name: `${name} after the head and some of the body`,
    answer: (req, res) => {
      res.write('a', () => cut(req, res))
    },
    client: (client) => read(client),
    ...errored(200),
  },
])

const LEAVINGS = {
  'cancels the stream': (_client, stream) => stream.close(NGHTTP2_CANCEL),
  'destroys the session': ({ session }) => session.destroy(),
  'resets the connection': ({ socket }) => socket.resetAndDestroy(),
  'sends GOAWAY with an error': ({ session }) => session.goaway(NGHTTP2_INTERNAL_ERROR),
  ...(NODE >= 24 && {
    'sends what is no HTTP/2': ({ socket }) => socket.write(NOT_HTTP_2, () => socket.destroy()),
  }),
}

const CUT_BY_CLIENT = [
  ...Object.entries(LEAVINGS).flatMap(([leaves, leave]) => [
    { name: `the client ${leaves} while waiting`, answer: never, client: asking(leave), ...aborted('', 0) },
    {
      name: `the client ${leaves} while waiting for the answer to HEAD`,
      answer: never,
      client: asking(leave, HEAD),
      ...aborted('', 0),
    },
    {
      name: `the client ${leaves} while waiting, and the application answers it all the same`,
      answer: (req, res) => req.on('aborted', () => res.writeHead(499).end()),
      client: asking(leave),
      ...aborted('', 0),
    },
    { name: `the client ${leaves} amid the body`, answer: begin, client: reading(leave), ...aborted(200) },
    {
      name: `the client ${leaves} amid 20 MB`,
      answer: (_req, res) => res.end(BIG),
      client: reading(leave),
      ...aborted(200),
    },
    {
      name: `the client ${leaves} amid its upload`,
      answer: (req) => req.resume(),
      client: async (client, entered) => {
        const stream = client.ask({}, Buffer.alloc(50_000))
        await entered(1)
        leave(client, stream)
      },
      ...aborted('', 0),
    },
  ]),
  ...[{}, HEAD].map((headers) => ({
    name: `the client closes the stream without an error while waiting for the answer to ${headers[':method'] ?? 'GET'}`,
    answer: never,
    client: asking((_client, stream) => stream.close(NGHTTP2_NO_ERROR), headers),
    ...aborted('', 0),
  })),
]

const OVER_BEFORE = [
  {
    name: 'an answer closed before it came to the spillway',
    before: async (_req, res) => {
      res.end('ok')
      await untilClosed(res)
    },
    answer: never,
    client: (client) => read(client),
    ...completed(200),
  },
  {
    name: '20 MB ended, but not yet sent, before they came to the spillway',
    before: (_req, res) => {
      res.end(BIG)
    },
    answer: never,
    client: (client) => read(client),
    ...completed(200),
  },
  {
    name: 'a response destroyed before it came to the spillway',
    before: (_req, res) => {
      res.destroy()
    },
    answer: never,
    client: (client) => read(client),
    ...errored('', 0),
  },
  ...Object.entries(LEAVINGS).map(([leaves, leave]) => ({
    name: `the client ${leaves} before its request came to the spillway`,
    before: (_req, res) => untilClosed(res),
    answer: answerOk,
    client: async (client, _entered, arrived) => {
      const stream = client.ask()
      await arrived(1)
      leave(client, stream)
    },
    ...aborted('', 0),
  })),
]

const HTTP_2_ENDINGS = [...ANSWERED, ...CUT_BY_SERVER, ...CUT_BY_CLIENT, ...OVER_BEFORE]

module.exports = { HTTP_2_ENDINGS, Http2Client }
