'use strict'
// Which requests came through a proxy that keeps its connection, and which of these connections the server
// closes: by real sockets. Closes are those of one address: 127.0.0.1 stands for the proxy, 127.0.0.2 for a
// client.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { test } = require('node:test')
const { Instance } = require('../../src/instance')
const { CallPlace } = require('../../src/core/call-place')
const { resolveOptions } = require('../../src/core/options/options')
const { ConnectionEvents } = require('../../src/core/http/connection-events')
const { EVERY_MS, ProxiedConnections } = require('../../src/features/doctor/proxied-connections')
const { handClock } = require('../support/hand-clock')

const FORWARDED = 'X-Forwarded-For: 203.0.113.7\r\n'

const answer = (_req, res) => res.end('ok')

/** The keep-alive timeout then passes at once. On Node 20 it takes a second at least. */
function answerAndExpire(req, res) {
  res.end('ok')
  res.on('close', () => req.socket.setTimeout(1))
}

/** An instance with an attached server, whose proxies are looked for by hand. */
async function watched(t, options = {}, handler = answer) {
  const instance = new Instance(
    resolveOptions({ logger: false, insight: false }),
    /** @type {any} */ (handClock()),
    new CallPlace(Instance)
  )
  const server = http.createServer(options, handler)
  instance.entrance.attach(server)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  t.after(() => {
    server.close()
    server.closeAllConnections()
    instance.close()
  })
  const proxies = new ProxiedConnections(instance.recorder.requests, instance.entrance.connectionEvents)
  let nowMs = 0
  return {
    server,
    proxies,
    sample: () => ({ ...proxies.sample(), server: undefined }),
    look: () => proxies.onTurn((nowMs += EVERY_MS)),
    turn: (ms) => proxies.onTurn((nowMs += ms)),
    connect: (localAddress = '127.0.0.1') =>
      net.connect({ port, host: '127.0.0.1', localAddress }).setEncoding('utf8'),
  }
}

/** Sends one request, and waits for the answer. */
async function ask(socket, headers = '', version = '1.1') {
  socket.write(`GET / HTTP/${version}\r\nHost: a\r\n${headers}\r\n`)
  const [text] = await once(socket, 'data')
  assert.match(text, /^HTTP\/1\.1 200/)
}

const NONE = { looked: 0, proxied: 0, kept: 0, idleCloses: 0, unusedCloses: 0, server: undefined }

test('one request a second is looked at', async (t) => {
  const { connect, look, sample, turn } = await watched(t)
  const socket = connect()
  await ask(socket, FORWARDED)
  assert.deepEqual(sample(), NONE)
  look()
  await ask(socket, FORWARDED)
  await ask(socket, FORWARDED)
  turn(EVERY_MS - 1)
  await ask(socket, FORWARDED)
  assert.deepEqual(sample(), { ...NONE, looked: 1, proxied: 1, kept: 1 })
  turn(1)
  await ask(socket, FORWARDED)
  assert.deepEqual(sample(), { ...NONE, looked: 2, proxied: 2, kept: 2 })
})

test('a proxy is told by its header, and a kept connection by what Node answers', async (t) => {
  const { connect, look, proxies, sample, server } = await watched(t)
  for (const headers of [FORWARDED, 'Via: 1.1 proxy\r\n', 'Forwarded: for=203.0.113.7\r\n']) {
    look()
    await ask(connect(), headers)
  }
  assert.deepEqual(sample(), { ...NONE, looked: 3, proxied: 3, kept: 3 })
  assert.equal(proxies.sample().server, server)
  for (const headers of ['', 'X-Request-Id: 7\r\n', 'Traceparent: 00-1-2-01\r\n']) {
    look()
    await ask(connect(), headers)
  }
  assert.deepEqual(sample(), { ...NONE, looked: 6, proxied: 3, kept: 3 })
  look()
  await ask(connect(), `${FORWARDED}Connection: close\r\n`)
  look()
  await ask(connect(), FORWARDED, '1.0')
  assert.deepEqual(sample(), { ...NONE, looked: 8, proxied: 5, kept: 3 })
})

test('a connection that a server closes is counted where its proxy is known', async (t) => {
  const { connect, look, sample } = await watched(t, {}, answerAndExpire)
  const early = connect()
  await ask(early, FORWARDED)
  await once(early, 'close')
  assert.deepEqual(sample(), NONE)
  look()
  for (const [address, headers, idleCloses] of [
    ['127.0.0.1', FORWARDED, 1],
    ['127.0.0.2', '', 1],
    ['127.0.0.1', '', 2],
  ]) {
    const socket = connect(address)
    await ask(socket, headers)
    await once(socket, 'close')
    assert.equal(sample().idleCloses, idleCloses, `${address} ${headers}`)
  }
})

test('a connection that the proxy closes first is no close of the server', async (t) => {
  const { connect, look, sample } = await watched(t)
  look()
  const socket = connect()
  await ask(socket, FORWARDED)
  socket.end()
  await once(socket, 'close')
  assert.equal(sample().idleCloses, 0)
})

test('a request that takes too long is no idle connection, and one that a listener keeps is not closed', async (t) => {
  const { connect, look, sample, server } = await watched(t)
  look()
  const socket = connect()
  await ask(socket, FORWARDED)
  server.removeAllListeners('request')
  server.on('request', (req) => req.socket.setTimeout(1))
  socket.write(`GET / HTTP/1.1\r\nHost: a\r\n${FORWARDED}\r\n`)
  await once(socket, 'close')
  assert.equal(sample().idleCloses, 0)
  const kept = connect()
  server.removeAllListeners('request')
  server.on('request', answerAndExpire)
  const timedOut = new Promise((resolve) => server.once('timeout', resolve))
  await ask(kept, FORWARDED)
  await timedOut
  assert.equal(sample().idleCloses, 0)
  kept.destroy()
})

test('a connection without any request is closed by the two other timeouts', async (t) => {
  for (const timeouts of [{ headersTimeout: 20 }, { headersTimeout: 0, requestTimeout: 20 }]) {
    const { connect, look, sample } = await watched(t, { ...timeouts, connectionsCheckingInterval: 10 })
    look()
    await ask(connect(), FORWARDED)
    const unused = connect()
    unused.resume()
    await once(unused, 'close')
    const slow = connect()
    slow.write('GET / HTTP/1.1\r\n')
    slow.resume()
    await once(slow, 'close')
    const stranger = connect('127.0.0.2')
    stranger.resume()
    await once(stranger, 'close')
    assert.equal(sample().unusedCloses, 1, JSON.stringify(timeouts))
  }
})

test('the addresses of proxies are bounded, because anybody can send such a header', () => {
  const events = new ConnectionEvents(/** @type {any} */ ({}))
  const address = (i) => `203.0.${i >> 8}.${i & 255}`
  for (let i = 0; i < 1000; i++) events.addProxy(address(i))
  const unused = (i) => {
    const before = events.unusedCloses
    const error = Object.assign(new Error('timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    events.onClientError(error, /** @type {any} */ ({ bytesRead: 0, remoteAddress: address(i) }))
    return events.unusedCloses - before
  }
  assert.deepEqual([unused(0), unused(700), unused(999)], [0, 0, 1])
})
