'use strict'
// A drain in development, in a time that stands still: whatever is closed here waits for nothing. Then Ctrl-C and a watcher
// in real processes, whose production drain would never end.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
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
const { startProgram } = require('../support/program')
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

/** In production it would keep idle connections for a quarter of this. */
const ENDLESS_MS = 2 ** 31 - 1
const SERVING = `
  const http = require('node:http')
  const { createSpillway } = require(${JSON.stringify(path.join(__dirname, '..', '..', 'src', 'index.js'))})
  const spillway = createSpillway({ logger: false, drain: { timeout: ${ENDLESS_MS} } })
  const held = []
  const server = http.createServer((req, res) => {
    if (req.url === '/hold') return void held.push(res)
    if (req.url !== '/events') return res.end('done')
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\\n\\n')
  })
  server.keepAliveTimeout = ${ENDLESS_MS}
  server.on('upgrade', (_req, socket) => socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\n'))
  spillway.on('draining', ({ mode, reason }) => {
    console.log('draining in ' + mode + ' by ' + reason)
    setImmediate(() => held.forEach((res) => res.end('held until now')))
  })
  spillway.attach(server, { signals: true }).listen(0, '127.0.0.1', () => console.log('port ' + server.address().port + ' of ' + process.pid))
`
const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

/** A browser's tab, an event stream and a WebSocket, and a request that waits for its answer. */
async function occupy(port) {
  const [idle, events, webSocket, busy] = await Promise.all(
    Array.from({ length: 4 }, () => Connection.open(port))
  )
  idle.send(get('/'))
  events.send(get('/events'))
  webSocket.send(UPGRADE)
  await Promise.all([idle.until('done'), events.until('data: 1'), webSocket.until('101')])
  busy.send(get('/hold'))
  return busy
}

async function answered(busy) {
  await busy.untilClosed()
  assert.match(busy.received, /held until now$/)
}

for (const [what, signal, env] of [
  ['Ctrl-C', 'SIGINT', {}],
  ['the restart of node --watch', 'SIGTERM', { WATCH_REPORT_DEPENDENCIES: '1' }],
  ['the restart of nodemon', 'SIGUSR2', { npm_lifecycle_script: 'nodemon server.js' }],
  ['SIGTERM with NODE_ENV development', 'SIGTERM', { NODE_ENV: 'development' }],
]) {
  test(`${what} ends a process that has kept connections`, {
    skip: process.platform === 'win32',
  }, async (t) => {
    const { child, closed, until } = startProgram(SERVING, { t, env })
    const [, port] = await until(/port (\d+)/)
    const busy = await occupy(Number(port))
    // It is in flight when this has its answer.
    const later = await Connection.open(Number(port))
    later.send(get('/'))
    await later.until('done')
    child.kill(/** @type {NodeJS.Signals} */ (signal))
    await answered(busy)
    assert.deepEqual(await closed, { code: 0, signal: null })
    assert.match((await until(/draining in .*\n/))[0], new RegExp(`in development by ${signal}`))
  })
}

const LEADING = `
  const cluster = require('node:cluster')
  if (cluster.isPrimary) require(${JSON.stringify(path.join(__dirname, '..', '..', 'src', 'index.js'))}).clusterPrimary({ workers: 1, logger: false })
  else { ${SERVING} }
`
for (const [signal, env] of [
  ['SIGINT', {}],
  ['SIGUSR2', { npm_lifecycle_script: 'nodemon server.js' }],
]) {
  test(`clusterPrimary() tells its workers of its ${signal}`, {
    skip: process.platform === 'win32',
  }, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'spillway-development-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = path.join(folder, 'server.js')
    writeFileSync(file, LEADING)
    const { child, closed, until } = startProgram(undefined, { t, file, env })
    const [, port, pid] = await until(/port (\d+) of (\d+)/)
    t.after(() => {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has ended, as it should.
      }
    })
    const busy = await occupy(Number(port))
    child.kill(/** @type {NodeJS.Signals} */ (signal))
    await answered(busy)
    assert.deepEqual(await closed, { code: 0, signal: null })
    await until(/draining in development by stopped/)
  })
}

for (const [what, env] of [
  ['NODE_ENV production', { NODE_ENV: 'production' }],
  ['PM2', { pm_id: '0' }],
]) {
  test(`with ${what}, SIGINT drains as in production`, { skip: process.platform === 'win32' }, async (t) => {
    const { child, until } = startProgram(SERVING, { t, env })
    const [, port] = await until(/port (\d+)/)
    const idle = await Connection.open(Number(port))
    idle.send(get('/'))
    await idle.until('done')
    child.kill('SIGINT')
    await until(/draining in production by SIGINT/)
    // Still served on the connection that was kept.
    idle.send(get('/'))
    await idle.until('done', 2)
  })
}
