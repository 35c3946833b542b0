'use strict'
// A drain says goodbye to sockets, in a time that the test moves.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { test } = require('node:test')
const { WebSocket } = require('ws')
const { drivenClock } = require('../support/driven-clock')
const { socketIo, turn, until, webSockets } = require('../support/sockets')

const ORDER = { delay: 0, timeout: 20_000, mode: /** @type {const} */ ('production') }

test('a drain closes WebSockets with 1001, and the process ends when they have answered', async (t) => {
  const clock = drivenClock()
  const { connected, spillway, server } = await webSockets(t, { clock: /** @type {any} */ (clock) })
  const client = await connected()
  const closed = once(client, 'close')
  const done = spillway.drain(ORDER)
  const [code, reason] = await closed
  assert.equal(code, 1001)
  assert.equal(String(reason), 'going away')
  const { cut } = await driven(clock, done)
  assert.equal(cut, 0)
  assert.equal(server.listening, false)
})

/** Moves the time until the promise is settled. */
async function driven(clock, promise) {
  let isOver = false
  promise.finally(() => (isOver = true))
  while (!isOver) {
    clock.advance(50)
    await turn()
  }
  return promise
}

test('a client of ws that does not answer the close frame is cut after two seconds', async (t) => {
  const clock = drivenClock()
  const { port, spillway } = await webSockets(t, { clock: /** @type {any} */ (clock) })
  const socket = net.connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write(
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  )
  const pieces = []
  socket.on('data', (piece) => pieces.push(piece))
  const closed = once(socket, 'close')
  await until(() => spillway.snapshot().sockets.connections.open === 1)
  const done = spillway.drain(ORDER)
  await driven(clock, done)
  await closed
  // The close frame: its opcode, its length, and 1001.
  assert.ok(Buffer.concat(pieces).includes(Buffer.from([0x88, 12, 0x03, 0xe9])))
})

test('a WebSocket whose handshake ends after the goodbye is closed with 1001, too', async (t) => {
  const clock = drivenClock()
  let admit
  const verifyClient = (_info, callback) => {
    admit = () => callback(true)
  }
  const { url, spillway } = await webSockets(t, {
    clock: /** @type {any} */ (clock),
    serverOptions: { verifyClient },
  })
  const client = new WebSocket(url)
  t.after(() => client.terminate())
  await until(() => admit !== undefined)
  const done = spillway.drain(ORDER)
  for (let turns = 0; turns < 20; turns++) {
    clock.advance(50)
    await turn()
  }
  const closed = once(client, 'close')
  admit()
  assert.equal((await closed)[0], 1001)
  await driven(clock, done)
})

test('a drain closes sessions of Socket.IO as a lost server does, so that their clients connect again', async (t) => {
  for (const transports of [['websocket'], ['polling']]) {
    const clock = drivenClock()
    const { connected, spillway } = await socketIo(t, { clock: /** @type {any} */ (clock) })
    const client = await connected('/', { transports })
    const lost = once(client, 'disconnect')
    const done = spillway.drain(ORDER)
    const [reason] = await driven(clock, lost)
    // After 'io server disconnect' a client would not connect again.
    assert.equal(reason, 'transport close', String(transports))
    const { cut } = await driven(clock, done)
    assert.equal(cut, 0)
    assert.equal(spillway.snapshot().sockets.connections.closed.server_close, 1)
  }
})

test('once the goodbye is said, connections that come by a kept connection are refused', async (t) => {
  const clock = drivenClock()
  const { port, spillway, connected } = await webSockets(t, { clock: /** @type {any} */ (clock) })
  const client = await connected()
  const closed = once(client, 'close')
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const ask = (headers) =>
    new Promise((resolve, reject) =>
      http
        .get({ port, host: '127.0.0.1', agent, headers }, (res) => {
          res.resume()
          res.on('end', () => resolve(res))
        })
        .on('upgrade', (_res, socket) => {
          socket.destroy()
          reject(new Error('it was upgraded'))
        })
        .on('error', reject)
    )
  await ask({})
  spillway.drain(ORDER)
  await closed
  const { statusCode, headers } = await ask({
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  })
  assert.equal(statusCode, 503)
  assert.ok(Number(headers['retry-after']) >= 1)
})
