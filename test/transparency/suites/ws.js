'use strict'
// What the documentation of ws says.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { WebSocket, WebSocketServer } = require('ws')
const { ask, listenersOf, note, serve, talk } = require('./clients')

async function pair(t, options = {}) {
  const server = http.createServer((_req, res) => res.end('plain'))
  const sockets = new WebSocketServer({ server, ...options })
  t.after(() => sockets.close())
  const port = await serve(t, server)
  const client = new WebSocket(`ws://127.0.0.1:${port}/chat`)
  t.after(() => client.terminate())
  const [[socket, req]] = await Promise.all([once(sockets, 'connection'), once(client, 'open')])
  return { client, port, req, server, socket, sockets }
}

test('messages go both ways, as text and as bytes', async (t) => {
  const { client, socket, req } = await pair(t)
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  client.send('text')
  const [text, isBinary] = await once(client, 'message')
  client.send(Buffer.from('bytes'))
  const [bytes, areBinary] = await once(client, 'message')
  assert.deepEqual([String(text), isBinary, String(bytes), areBinary], ['text', false, 'bytes', true])
  assert.equal(req.url, '/chat')
})

test('a long message, and many of them in their order', async (t) => {
  const { client, socket } = await pair(t, { perMessageDeflate: true })
  const got = []
  socket.on('message', (data) => got.push(data.length))
  for (let i = 0; i < 100; i++) client.send('x'.repeat(i * 1000))
  client.close(1000, 'done')
  const [code, reason] = await once(socket, 'close')
  assert.deepEqual(
    [got, code, String(reason)],
    [Array.from({ length: 100 }, (_, i) => i * 1000), 1000, 'done']
  )
})

test('ping, pong and a close from the server', async (t) => {
  const { client, socket } = await pair(t)
  socket.ping('a')
  const [data] = await once(socket, 'pong')
  assert.equal(String(data), 'a')
  socket.close(4000, 'bye')
  const [code, reason] = await once(client, 'close')
  assert.deepEqual([code, String(reason)], [4000, 'bye'])
})

test('a client that breaks off is a close of 1006', async (t) => {
  const { client, socket } = await pair(t)
  client.terminate()
  assert.equal((await once(socket, 'close'))[0], 1006)
})

test('beside it the server answers plain requests', async (t) => {
  const { port } = await pair(t)
  assert.equal((await ask(port)).body, 'plain')
})

test('what listens on its socket is ws alone', async (t) => {
  const { socket, server } = await pair(t)
  note(t, [listenersOf(socket._socket), server.listenerCount('upgrade'), server.listenerCount('request')])
})

test('verifyClient may turn a client away', async (t) => {
  const server = http.createServer()
  const sockets = new WebSocketServer({
    server,
    verifyClient: (_info, done) => done(false, 401, 'no', { 'x-why': 'a' }),
  })
  t.after(() => sockets.close())
  const client = new WebSocket(`ws://127.0.0.1:${await serve(t, server)}`)
  client.on('error', () => {})
  const [, res] = await once(client, 'unexpected-response')
  note(t, [res.statusCode, res.headers['x-why']])
  client.terminate()
})

test('noServer and handleUpgrade serve by path', async (t) => {
  const server = http.createServer()
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (req, socket, head) => {
    if (req.url === '/no') return socket.destroy()
    sockets.handleUpgrade(req, socket, head, (each) => each.send(req.url))
  })
  const port = await serve(t, server)
  const client = new WebSocket(`ws://127.0.0.1:${port}/yes`)
  assert.equal(String((await once(client, 'message'))[0]), '/yes')
  client.terminate()
  assert.equal(
    await talk(port, t).write(
      'GET /no HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'
    ).closed,
    ''
  )
})
