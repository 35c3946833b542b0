'use strict'
// Bytes are the connection's own: what the client's socket sent and received, heads, framing and all.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { assignBytes } = require('../../src/core/request/connection-record')
const { Connection } = require('../support/connection')
const { settle } = require('../support/drive')
const { GET } = require('../support/endings')
const { Http2Client } = require('../support/endings-http2')
const { readableSpillway } = require('../support/measured')
const { serve } = require('../support/serve')

const BIG = Buffer.alloc(5_000_000, 'b')

/** Reads what it is sent, and answers with as much. */
async function echo(req, res) {
  const body = []
  for await (const piece of req) body.push(piece)
  res.end(Buffer.concat(body))
}

const post = (body) => ['POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ', `${body.length}\r\n\r\n`, body]
const chunked = (pieces) => [
  'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
  ...pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`),
  '0\r\n\r\n',
]

const ANSWERS = [
  ['an answer', (_req, res) => res.end('ok'), [GET], 'ok'],
  ['an answer to HEAD', (_req, res) => res.end('ok'), ['HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n'], '\r\n\r\n'],
  ['a 204', (_req, res) => res.writeHead(204).end(), [GET], '\r\n\r\n'],
  [
    'an answer in chunks',
    (_req, res) => {
      for (const piece of ['a', 'bb', 'ccc']) res.write(piece)
      res.end()
    },
    [GET],
    '0\r\n\r\n',
  ],
  [
    'trailers',
    (_req, res) => {
      res.writeHead(200, { Trailer: 'x-sum' })
      res.write('a')
      res.addTrailers({ 'x-sum': '1' })
      res.end()
    },
    [GET],
    'x-sum: 1\r\n\r\n',
  ],
  ['an upload', echo, post(Buffer.from('hello')), 'hello'],
  ['a chunked upload', echo, chunked(['hello', 'world']), 'helloworld'],
  ['an upload nobody reads', (_req, res) => res.end('ok'), post(Buffer.from('hello')), 'ok'],
  [
    'early hints',
    (_req, res) => res.writeEarlyHints({ link: '</a>; rel=preload' }, () => res.end('ok')),
    [GET],
    '\r\n\r\nok',
  ],
]

const LISTENERS = {
  'plain http': (spillway, answer) => spillway.wrap(answer),
  'Express 5': (spillway, answer) => express().use(spillway.express()).use(answer),
  'Koa 3': (spillway, answer) =>
    new Koa()
      .use(spillway.koa())
      .use((ctx) => {
        ctx.respond = false
        ctx.status = 200
        return answer(ctx.req, ctx.res)
      })
      .callback(),
}

for (const [framework, listenerOf] of Object.entries(LISTENERS)) {
  for (const [name, answer, request, last] of ANSWERS) {
    test(`bytes of ${name} in ${framework}, on a connection used three times`, async (t) => {
      const { spillway, measured } = readableSpillway(t)
      const { port } = await serve(t, listenerOf(spillway, answer))
      const connection = await Connection.open(port)
      for (const times of [1, 2, 3]) {
        connection.send(...request)
        await connection.until(last, times)
        await settle(measured, times)
        const { requestBytes, responseBytes } = await measured()
        assert.equal(requestBytes, connection.bytesSent)
        assert.equal(responseBytes, connection.bytesReceived)
      }
      connection.destroy()
    })
  }
}

test('megabytes both ways are counted to the byte', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const { port } = await serve(t, spillway.wrap(echo))
  const connection = await Connection.open(port)
  connection.send(...post(BIG))
  await connection.untilBytes(BIG.length)
  await settle(measured, 1)
  const { requestBytes, responseBytes } = await measured()
  assert.equal(requestBytes, connection.bytesSent)
  assert.equal(responseBytes, connection.bytesReceived)
  connection.destroy()
})

test('bytes of pipelined requests are right in sum', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const { port } = await serve(
    t,
    spillway.wrap((_req, res) => setImmediate(() => res.end('ok')))
  )
  const connection = await Connection.open(port)
  connection.send(GET.repeat(5))
  await connection.until('\r\n\r\nok', 5)
  await settle(measured, 5)
  const { requestBytes, responseBytes } = await measured()
  assert.equal(requestBytes, connection.bytesSent)
  assert.equal(responseBytes, connection.bytesReceived)
  connection.destroy()
})

test('the bytes of two simultaneous connections are kept apart', async (t) => {
  const { spillway, measured } = readableSpillway(t)
  const { port } = await serve(
    t,
    spillway.wrap((_req, res) => setImmediate(() => res.end('ok')))
  )
  const connections = [await Connection.open(port), await Connection.open(port)]
  for (const connection of connections) connection.send(GET)
  for (const connection of connections) await connection.until('ok')
  await settle(measured, 2)
  const { requestBytes, responseBytes } = await measured()
  assert.equal(requestBytes, connections[0].bytesSent + connections[1].bytesSent)
  assert.equal(responseBytes, connections[0].bytesReceived + connections[1].bytesReceived)
  for (const connection of connections) connection.destroy()
})

for (const [way, serverOf] of Object.entries({
  ...Object.fromEntries(
    Object.entries(LISTENERS).map(([name, listenerOf]) => [
      name,
      (spillway) => http.createServer(listenerOf(spillway, (_req, res) => res.end('ok'))),
    ])
  ),
  'attach()': (spillway) => spillway.attach(http.createServer((_req, res) => res.end('ok'))),
})) {
  test(`what an endpoint answers is not counted for the next request of its connection: ${way}`, async (t) => {
    const { spillway, measured } = readableSpillway(t)
    const { port } = await serve(t, serverOf(spillway))
    const connection = await Connection.open(port)
    connection.send('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')
    await connection.until('"ok"}')
    const { bytesSent, bytesReceived } = connection
    connection.send(GET)
    await connection.until('\r\n\r\nok')
    await settle(measured, 1)
    const { requestBytes, responseBytes } = await measured()
    assert.equal(requestBytes, connection.bytesSent - bytesSent)
    assert.equal(responseBytes, connection.bytesReceived - bytesReceived)
    connection.destroy()
  })
}

// The frames of a session that belong to no stream come when they come, so not to the byte.
for (const [way, leave] of [
  ['read to its end', undefined],
  ['cut off with its session', ({ session }) => session.destroy()],
  ['cut off with its connection', ({ socket }) => socket.resetAndDestroy()],
]) {
  test(`bytes of an HTTP/2 answer ${way} are those of its connection`, async (t) => {
    const http2 = require('node:http2')
    const { spillway, measured } = readableSpillway(t)
    const body = Buffer.alloc(10_000)
    const answer = (_req, res) => (leave === undefined ? res.end(body) : res.write(body))
    const server = http2.createServer(spillway.wrap(answer)).on('sessionError', () => {})
    const { port } = await serve(t, server)
    const client = await Http2Client.open(port)
    const stream = client.ask()
    let received = 0
    for await (const piece of stream.iterator({ destroyOnReturn: false })) {
      received += piece.length
      if (received === body.length) break
    }
    leave?.(client)
    await settle(measured, 1)
    const { requestBytes, responseBytes } = await measured()
    assert.ok(requestBytes > 30 && requestBytes < 300, `${requestBytes} bytes of request`)
    assert.ok(
      responseBytes > body.length && responseBytes < body.length + 300,
      `${responseBytes} bytes of answer`
    )
    client.destroy()
  })
}

test('a connection without both byte counters counts no bytes', () => {
  for (const connection of [undefined, {}, { bytesRead: 5 }, { bytesWritten: 5 }]) {
    const first = /** @type {any} */ ({ connection, requestBytes: 0, responseBytes: 0 })
    assignBytes(first)
    assert.deepEqual([first.requestBytes, first.responseBytes], [0, 0])
  }
})
