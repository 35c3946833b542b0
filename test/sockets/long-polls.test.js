'use strict'
// Sessions of Socket.IO by long polling: a client that waits for messages is no slow request, and nothing
// ends its wait.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const { io: connect } = require('socket.io-client')
const { Spillway } = require('../../src/spillway')
const { handClock } = require('../support/hand-clock')
const { listening, socketIo, until } = require('../support/sockets')

const POLLING = { transports: ['polling'] }

function get(url, path) {
  return new Promise((resolve, reject) => {
    http
      .get(url + path, { agent: false }, (res) => {
        let body = ''
        res.setEncoding('utf8').on('data', (piece) => {
          body += piece
        })
        res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, body }))
      })
      .on('error', reject)
  })
}

test('a client that waits has a route of its own, and is neither slow, nor old, nor timed out', async (t) => {
  const clock = handClock()
  const slow = []
  const logger = { info() {}, error() {}, warn: (fields, line) => slow.push(line) }
  const options = { logger, errors: { timeout: 1000 }, log: { slowAfter: 500 }, insight: false }
  const { connected, io, spillway } = await socketIo(t, { options, clock: /** @type {any} */ (clock) })
  io.on('connection', (socket) => socket.on('ask', (ack) => ack('answer')))
  const client = await connected('/', POLLING)
  await until(() => spillway.snapshot().requests.inFlight === 1)
  clock.pass(20_000)
  const { oldest, requests } = spillway.snapshot()
  assert.equal(requests.inFlight, 1)
  assert.deepEqual(oldest, [])
  assert.equal(await client.emitWithAck('ask'), 'answer')
  await until(() =>
    spillway.snapshot().routes.some(({ route, streams }) => route === '(socket.io poll)' && streams.count > 0)
  )
  const { routes, slowest } = spillway.snapshot()
  assert.deepEqual(
    slowest.filter(({ durationMs }) => durationMs > 500),
    []
  )
  const poll = routes.find(({ route }) => route === '(socket.io poll)')
  assert.equal(poll?.outcomes.timed_out, 0)
  assert.equal(poll?.sinceStart.count, poll?.outcomes.completed)
  assert.equal(poll?.sinceStart.maxMs, 0, 'it is in no quantile')
  assert.deepEqual(slow, [])
  assert.equal(client.connected, true)
})

test('in the middle of a session nothing is shed, in no limit; a forged sid gets no privilege', async (t) => {
  const held = []
  const options = { shed: { mode: 'threshold', maxConcurrent: 1 }, insight: false }
  const handler = (req, res) => held.push(res)
  const { connected, io, spillway, url } = await socketIo(t, { options, handler })
  io.on('connection', (socket) => socket.on('ask', (ack) => ack('answer')))
  const clients = await Promise.all([connected('/', POLLING), connected('/', POLLING)])
  const waiting = get(url, '/hold').catch(() => {})
  await until(() => spillway.snapshot().admission.inFlight >= 1)
  for (const client of clients) assert.equal(await client.emitWithAck('ask'), 'answer')
  const forged = await get(url, '/socket.io/?EIO=4&transport=polling&sid=forged')
  assert.equal(forged.status, 503)
  assert.ok(Number(forged.headers['retry-after']) >= 1)
  for (const name of ['__proto__', 'constructor', 'hasOwnProperty', '']) {
    const { status } = await get(url, `/socket.io/?EIO=4&transport=polling&sid=${name}`)
    assert.equal(status, 503, name)
  }
  assert.equal(
    clients.every(({ connected: is }) => is),
    true
  )
  for (const res of held) res.end()
  await waiting
})

for (const [what, serverOptions, prepare] of /** @type {[string, any, (io: any) => void][]} */ ([
  [
    'whose ids are encoded in a URL',
    {},
    (io) => {
      let count = 0
      io.engine.generateId = () => `custom:id+${count++}`
    },
  ],
  ['of a server without a slash at the end of its path', { addTrailingSlash: false }, () => {}],
]))
  test(`sessions ${what} are known`, async (t) => {
    const { connected, io, spillway } = await socketIo(t, { serverOptions })
    prepare(io)
    await connected('/', { ...POLLING, ...serverOptions })
    await until(() => spillway.snapshot().routes.some(({ route }) => route === '(socket.io poll)'))
  })

test('a server of Socket.IO that is attached to two servers knows the sessions of both', async (t) => {
  const { connected, io, handle, port, spillway } = await socketIo(t)
  const other = http.createServer()
  io.attach(other)
  const otherPort = await listening(t, other)
  const { connections } = await clientsOf(t, [port, otherPort])
  await connected('/', POLLING)
  await until(() => spillway.snapshot().sockets.connections.open === connections + 1)
  handle.close()
  assert.equal(spillway.snapshot().sockets.connections.open, 0)
})

async function clientsOf(t, ports) {
  for (const port of ports) {
    const client = connect(`http://127.0.0.1:${port}`, { ...POLLING, forceNew: true, reconnection: false })
    t.after(() => client.close())
    await new Promise((resolve) => client.once('connect', () => resolve(undefined)))
  }
  return { connections: ports.length }
}

test('an instance that is closed leaves the sessions alone', async (t) => {
  const { connected, io, spillway } = await socketIo(t)
  io.on('connection', (socket) => socket.on('ask', (ack) => ack('answer')))
  const client = await connected('/', POLLING)
  spillway.close()
  assert.ok(spillway instanceof Spillway)
  assert.equal(await client.emitWithAck('ask'), 'answer')
})
