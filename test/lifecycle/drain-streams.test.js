'use strict'
// What has no end of its own, or no answer: event streams, connections handed over, TLS, HTTP/2.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const { test } = require('node:test')
const tls = require('node:tls')
const { Connection } = require('../support/connection')
const {
  GET,
  ORDER,
  QUARTER_MS,
  drained,
  turn,
  untilConnected,
  untilNotListening,
} = require('../support/draining')
const { CLIENT, SERVER } = require('../support/pre-shared-key')

const EVENTS = { 'Content-Type': 'text/event-stream', Connection: 'keep-alive' }

test('an event stream that answers a GET is ended after a quarter of the timeout, as its client reconnects', async (t) => {
  const { spillway, server, port, held, untilHeld, advance } = await drained(t)
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  const { res } = held[0]
  res.writeHead(200, EVENTS).write('data: 1\n\n')
  await connection.until('data: 1')
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  res.write('data: 2\n\n')
  await connection.until('data: 2')
  advance(QUARTER_MS)
  while (!res.writableEnded) await turn()
  // An application that does not look may write once more.
  res.write('data: 3\n\n')
  await connection.until('\r\n0\r\n\r\n')
  // Still from the drain's next look on, which may come after the client's.
  await turn()
  advance(QUARTER_MS)
  await connection.untilClosed()
  assert.equal((await done).cut, 0)
})

test('an event stream whose `end` throws is cut off, and the drain goes on', async (t) => {
  const { spillway, server, port, held, untilHeld, advance } = await drained(t)
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  const { res } = held[0]
  res.writeHead(200, EVENTS).write('data: 1\n\n')
  res.end = () => assert.fail('a middleware gone wrong')
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  advance(QUARTER_MS)
  await connection.untilClosed()
  assert.equal((await done).cut, 0)
})

test('a drain goes on where a server of the application throws', async (t) => {
  const { spillway, server, port, untilHeld, advance } = await drained(t)
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  server.close = () => assert.fail('a wrapper gone wrong')
  const done = spillway.drain(ORDER)
  while (spillway.snapshot().internalErrors.drain === undefined) {
    await turn()
    advance(1)
  }
  delete server.close
  advance(ORDER.timeout)
  await connection.untilClosed()
  assert.equal((await done).cut, 1)
})

test('a drain waits for the end of an event stream that answers a POST', async (t) => {
  const { spillway, server, port, held, untilHeld, advance } = await drained(t)
  const connection = await Connection.open(port)
  connection.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
  await untilHeld(1)
  const { res } = held[0]
  res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: token\n\n')
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  advance(ORDER.timeout - 1)
  for (let i = 0; i < 5; i++) await turn()
  res.end('data: [DONE]\n\n')
  await connection.until('[DONE]')
  connection.end()
  assert.equal((await done).cut, 0)
})

test('a listener of `draining` may end its streams at once', async (t) => {
  const { spillway, port, held, untilHeld } = await drained(t)
  const connection = await Connection.open(port)
  connection.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await untilHeld(1)
  held[0].res.writeHead(200, EVENTS).write('data: 1\n\n')
  spillway.on('draining', () => held[0].res.end('event: bye\ndata:\n\n'))
  const done = spillway.drain(ORDER)
  await connection.until('bye')
  connection.end()
  assert.equal((await done).cut, 0)
})

test('many streams may listen to `draining` without a warning of a leak', async (t) => {
  const warnings = []
  const note = ({ name }) => warnings.push(name)
  process.on('warning', note)
  t.after(() => process.off('warning', note))
  const { spillway, port, held, untilHeld } = await drained(t)
  const connections = await Promise.all(Array.from({ length: 11 }, () => Connection.open(port)))
  for (const connection of connections)
    connection.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await untilHeld(connections.length)
  for (const { res } of held) {
    res.writeHead(200, EVENTS).write('data: 1\n\n')
    const end = () => res.end('event: bye\ndata:\n\n')
    spillway.on('draining', end)
    res.once('close', () => spillway.off('draining', end))
  }
  const done = spillway.drain(ORDER)
  for (const connection of connections) {
    await connection.until('bye')
    connection.end()
  }
  assert.equal((await done).cut, 0)
  assert.deepEqual(warnings, [])
})

/** Hands the connection over, and greets on it. */
const upgrading = (spillway) => {
  const server = http.createServer()
  const sockets = []
  server.on('upgrade', (_req, socket) => {
    socket.on('error', () => {})
    sockets.push(socket)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
    socket.on('data', (data) => socket.write(data))
  })
  return Object.assign(spillway.attach(server), { sockets })
}
const UPGRADE = 'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n'

test('a connection handed over stays open while it carries traffic, until the timeout, and does not count as cut', async (t) => {
  const { spillway, server, port, advance } = await drained(t, upgrading)
  const busy = await Connection.open(port)
  const still = await Connection.open(port)
  for (const connection of [busy, still]) connection.send(UPGRADE)
  for (const connection of [busy, still]) await connection.until('101')
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  for (let i = 1; i < 4; i++) {
    advance(QUARTER_MS - 1)
    busy.send(`ping ${i}`)
    await busy.until(`ping ${i}`)
    await turn()
  }
  await still.untilClosed()
  assert.equal(busy.isClosed, false)
  advance(QUARTER_MS + 3)
  await busy.untilClosed()
  assert.deepEqual(await done, { cut: 0, durationMs: ORDER.timeout })
})

test('a listener of `draining` may close its WebSockets at once', async (t) => {
  const { spillway, server, port } = await drained(t, upgrading)
  const connection = await Connection.open(port)
  connection.send(UPGRADE)
  await connection.until('101')
  spillway.on('draining', () => server.sockets[0].end('1001'))
  const done = spillway.drain(ORDER)
  await connection.until('1001')
  connection.end()
  assert.deepEqual(await done, { cut: 0, durationMs: 0 })
})

test('https: requests in flight are finished; connections without traffic or without a handshake are closed', async (t) => {
  const build = (spillway, application) => spillway.attach(https.createServer(SERVER, application))
  const { spillway, server, port, held, untilHeld, advance } = await drained(t, build)
  const open = () => tls.connect({ ...CLIENT, port, host: '127.0.0.1' })
  const [used, silent] = [open(), open()]
  await Promise.all([used, silent].map((socket) => once(socket, 'secureConnect')))
  const unshaken = await Connection.open(port)
  await untilConnected(server, 3)
  used.write(GET)
  await untilHeld(1)
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  held[0].res.end('finished')
  const text = (await used.toArray()).join('')
  assert.match(text, /Connection: close[\s\S]*finished/)
  advance(QUARTER_MS)
  silent.resume()
  await Promise.all([once(silent, 'close'), unshaken.untilClosed()])
  assert.equal((await done).cut, 0)
})

const BEGINNING_OF_HELLO = Buffer.from('1603010200', 'hex')

test('https: a handshake that its client abandoned is closed once it carries no traffic', async (t) => {
  const build = (spillway, application) => spillway.attach(https.createServer(SERVER, application))
  const { spillway, server, port, advance } = await drained(t, build)
  const accepted = once(server, 'connection')
  const connection = await Connection.open(port)
  connection.send(BEGINNING_OF_HELLO)
  const [socket] = await accepted
  while (socket.bytesRead === 0) await turn()
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  advance(QUARTER_MS)
  await connection.untilClosed()
  assert.equal((await done).cut, 0)
})

const HTTP2 = {
  'http2 in the clear': {
    build: (spillway, application) => spillway.attach(http2.createServer(application)),
    scheme: 'http',
  },
  'http2 over TLS': {
    build: (spillway, application) =>
      spillway.attach(http2.createSecureServer({ ...SERVER, allowHTTP1: true }, application)),
    scheme: 'https',
  },
  'http2, wrapped': {
    build: (spillway, application) => http2.createServer(spillway.wrap(application)),
    scheme: 'http',
  },
}

for (const [what, { build, scheme }] of Object.entries(HTTP2)) {
  test(`${what}: the first GOAWAY accepts every stream on its way, the second none`, async (t) => {
    const { spillway, server, port, held, untilHeld, advance } = await drained(t, build)
    const session = http2.connect(`${scheme}://127.0.0.1:${port}`, CLIENT)
    t.after(() => session.destroy())
    const goaways = []
    session.on('goaway', (code, lastStreamId) => goaways.push([code, lastStreamId]))
    const first = session.request({ ':path': '/first' })
    await untilHeld(1)
    const done = spillway.drain(ORDER)
    const late = session.request({ ':path': '/on-its-way' })
    await untilNotListening(server)
    await untilHeld(2)
    for (const { req, res } of held) res.end(req.url)
    for (const [stream, path] of [
      [first, '/first'],
      [late, '/on-its-way'],
    ]) {
      assert.equal((await stream.toArray()).join(''), path)
    }
    advance(QUARTER_MS)
    if (!session.closed) await once(session, 'close')
    assert.equal(goaways[0][0], 0)
    assert.equal(goaways[0][1], 2 ** 31 - 1)
    assert.equal((await done).cut, 0)
  })
}

test('http2: an event stream that answers a GET is ended after a quarter of the timeout, other event streams are finished', async (t) => {
  const { spillway, server, port, held, untilHeld, advance } = await drained(
    t,
    HTTP2['http2 in the clear'].build
  )
  const session = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  const [events, tokens] = ['GET', 'POST'].map((method) =>
    session.request({ ':path': '/', ':method': method })
  )
  tokens.end()
  await untilHeld(2)
  for (const { res } of held) res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n')
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  advance(QUARTER_MS)
  assert.equal((await events.toArray()).join(''), 'data: 1\n\n')
  const { res } = held.find(({ req }) => req.method === 'POST')
  res.end('data: [DONE]\n\n')
  assert.equal((await tokens.toArray()).join(''), 'data: 1\n\ndata: [DONE]\n\n')
  assert.equal((await done).cut, 0)
})

test('http2: a session that is older than the instance gets a GOAWAY too', async (t) => {
  const { spillway, server, port, held, untilHeld, advance } = await drained(t, HTTP2['http2, wrapped'].build)
  const open = async () => {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => session.destroy())
    await once(session, 'remoteSettings')
    return session
  }
  const sessions = [await open(), await open()]
  for (const session of sessions) session.request({ ':path': '/' }).resume()
  await untilHeld(2)
  const told = sessions.map((session) => once(session, 'goaway'))
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  await Promise.all(told)
  for (const { res } of held) res.end('answered')
  advance(QUARTER_MS)
  assert.equal((await done).cut, 0)
})

test('http2: an idle session is closed, and a stream that does not end is cut', async (t) => {
  const { spillway, server, port, untilHeld, advance } = await drained(t, HTTP2['http2 in the clear'].build)
  const [idle, busy] = [0, 1].map(() => http2.connect(`http://127.0.0.1:${port}`))
  for (const session of [idle, busy]) {
    t.after(() => session.destroy())
    session.on('error', () => {})
  }
  await once(idle, 'remoteSettings')
  const stream = busy.request({ ':path': '/' })
  stream.on('error', () => {})
  await untilHeld(1)
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  advance(QUARTER_MS)
  if (!idle.closed) await once(idle, 'close')
  advance(ORDER.timeout)
  assert.equal((await done).cut, 1)
})
