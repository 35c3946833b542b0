'use strict'
// A drain in development, in a time that stands still: whatever is closed here waits for nothing. Ctrl-C and
// a watcher in real processes: development.program.js.

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
  drained,
  keptConnection,
  turn,
  untilConnected,
  untilNotListening,
} = require('../support/draining')
const { CLIENT, SERVER } = require('../support/pre-shared-key')

const ORDER = /** @type {const} */ ({ mode: 'development', timeout: 1000, delay: 5000 })
const EVENTS = { 'Content-Type': 'text/event-stream' }
const UPGRADE = 'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n'
const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n'

const upgrading = (spillway, application) => {
  const server = http.createServer(application)
  server.on('upgrade', (_req, socket) => {
    socket.on('error', () => {})
    socket.write(UPGRADED)
  })
  return spillway.attach(server)
}

test('idle connections, event streams and WebSockets are closed at once, and a request in flight is answered', async (t) => {
  const served = await drained(t, upgrading)
  const { spillway, server, port, held, untilHeld } = served
  const idle = await keptConnection(served)
  const [silent, events, webSocket, busy] = await Promise.all(
    Array.from({ length: 4 }, () => Connection.open(port))
  )
  await untilConnected(server, 5)
  events.send(GET)
  await untilHeld(2)
  held[1].res.writeHead(200, EVENTS).write('data: 1\n\n')
  await events.until('data: 1')
  webSocket.send(UPGRADE)
  await webSocket.until('101')
  busy.send(GET)
  await untilHeld(3)
  const done = spillway.drain(ORDER)
  await Promise.all([idle, silent, events, webSocket].map((connection) => connection.untilClosed()))
  assert.match(events.received, /\r\n0\r\n\r\n$/, 'ended, and not cut')
  assert.equal(busy.isClosed || server.listening, false)
  held[2].res.end('answered')
  await busy.untilClosed()
  assert.match(busy.received, /Connection: close\r\n[\s\S]*answered$/)
  assert.deepEqual(await done, { cut: 0, durationMs: 0 })
})

test('what listeners of `draining` write last is sent', async (t) => {
  const { spillway, port } = await drained(t, (spillway) => {
    const server = http.createServer()
    server.on('upgrade', (_req, socket) => {
      socket.write(UPGRADED)
      spillway.on('draining', () => socket.write('1001'))
    })
    return spillway.attach(server)
  })
  const connection = await Connection.open(port)
  connection.send(UPGRADE)
  await connection.until('101')
  const done = spillway.drain(ORDER)
  await connection.untilClosed()
  assert.match(connection.received, /1001$/)
  assert.equal((await done).cut, 0)
})

test('a response that its client reads slowly is sent in full', async (t) => {
  const { spillway, port, held, untilHeld } = await drained(t)
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  connection.pause()
  const body = 'x'.repeat(32 * 2 ** 20)
  held[0].res.end(body)
  const done = spillway.drain(ORDER)
  for (let i = 0; i < 20; i++) await turn()
  connection.resume()
  await connection.untilClosed()
  assert.ok(connection.bytesReceived > body.length)
  assert.equal((await done).cut, 0)
})

test('a request that does not end is reported after a second and cut after the timeout', async (t) => {
  const lines = []
  const logger = { warn: ({ inFlight }, message) => lines.push({ inFlight, message }), error() {} }
  const { spillway, server, port, untilHeld, advance } = await drained(t, undefined, { logger })
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  const done = spillway.drain({ ...ORDER, timeout: 4000 })
  await untilNotListening(server)
  advance(1000)
  while (lines.every(({ inFlight }) => inFlight === undefined)) await turn()
  for (let i = 0; i < 5; i++) await turn()
  assert.deepEqual(
    lines.filter(({ inFlight }) => inFlight !== undefined),
    [
      {
        inFlight: 1,
        message: 'spillway: waiting for requests in flight; a second signal ends the process at once',
      },
    ]
  )
  assert.equal(connection.isClosed, false)
  advance(3000)
  await connection.untilClosed()
  assert.equal((await done).cut, 1)
})

test('https: connections that are idle or in a TLS handshake are closed at once', async (t) => {
  const build = (spillway, application) => spillway.attach(https.createServer(SERVER, application))
  const { spillway, server, port } = await drained(t, build)
  const idle = tls.connect({ ...CLIENT, port, host: '127.0.0.1' })
  await once(idle, 'secureConnect')
  const unshaken = await Connection.open(port)
  await untilConnected(server, 2)
  const done = spillway.drain(ORDER)
  idle.resume()
  await Promise.all([once(idle, 'close'), unshaken.untilClosed()])
  assert.deepEqual(await done, { cut: 0, durationMs: 0 })
})

test('http2: an idle session and an event stream are ended at once, and a stream in flight is answered', async (t) => {
  const build = (spillway, application) => spillway.attach(http2.createServer(application))
  const { spillway, port, held, untilHeld } = await drained(t, build)
  const [idle, busy] = [0, 1].map(() => http2.connect(`http://127.0.0.1:${port}`))
  for (const session of [idle, busy]) t.after(() => session.destroy())
  await once(idle, 'remoteSettings')
  const events = busy.request({ ':path': '/events' })
  await untilHeld(1)
  const stream = busy.request({ ':path': '/' })
  await untilHeld(2)
  held[0].res.writeHead(200, EVENTS).write('data: 1\n\n')
  // Read from now on: what closes unread is an error on Node 24.
  const [told, answer] = [events.toArray(), stream.toArray()]
  const done = spillway.drain(ORDER)
  if (!idle.closed) await once(idle, 'close')
  assert.equal((await told).join(''), 'data: 1\n\n')
  held[1].res.end('answered')
  assert.equal((await answer).join(''), 'answered')
  assert.deepEqual(await done, { cut: 0, durationMs: 0 })
})
