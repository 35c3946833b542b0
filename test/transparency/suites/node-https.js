'use strict'
// Servers of https, by a pre-shared key, which needs no certificate.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const https = require('node:https')
const { test } = require('node:test')
const tls = require('node:tls')
const { after, listenersOf, note, read, serve, steady } = require('./clients')

const KEY = Buffer.alloc(32, 1)
const SERVER = { ciphers: 'PSK', pskCallback: () => KEY }
const CLIENT = {
  ciphers: 'PSK',
  pskCallback: () => ({ psk: KEY, identity: 'test' }),
  checkServerIdentity: () => undefined,
  host: '127.0.0.1',
}

const ask = (port, options) => read(https.get({ ...CLIENT, port, agent: false, ...options }))

test('an answer comes, from an encrypted connection', async (t) => {
  const port = await serve(
    t,
    https.createServer(SERVER, (req, res) => res.end(String(req.socket.encrypted)))
  )
  note(t, steady(await ask(port)))
})

test('a connection is kept', async (t) => {
  const seen = new Set()
  const port = await serve(
    t,
    https.createServer(SERVER, (req, res) => res.end(String(seen.add(req.socket).size)))
  )
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const answers = []
  for (let i = 0; i < 3; i++) {
    answers.push((await ask(port, { agent })).body)
    await after(5)
  }
  // Node 24 keeps none that has a key of its own.
  note(t, answers)
})

test('a client that half-closes after its request has its answer', async (t) => {
  const port = await serve(
    t,
    https.createServer(SERVER, (_req, res) => res.end('hello'))
  )
  const one = async () => {
    const socket = tls.connect({ ...CLIENT, port })
    let text = ''
    socket
      .on('error', () => {})
      .on('data', (piece) => {
        text += piece
      })
    socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'close')
    return text.startsWith('HTTP/1.1 200')
  }
  let answered = 0
  for (let i = 0; i < 15; i++) answered += (await Promise.all([one(), one()])).filter(Boolean).length
  assert.equal(answered, 30)
})

test('an upgrade hands the socket over with no listeners left on it', async (t) => {
  const server = https.createServer(SERVER)
  const upgraded = once(server, 'upgrade')
  const port = await serve(t, server)
  const socket = tls.connect({ ...CLIENT, port })
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  const [, handed] = await upgraded
  note(t, listenersOf(handed))
  handed.destroy()
})

test('a handshake that fails is a tlsClientError', async (t) => {
  const server = https.createServer(SERVER)
  const failed = once(server, 'tlsClientError')
  const port = await serve(t, server)
  const socket = tls.connect({
    ...CLIENT,
    port,
    pskCallback: () => ({ psk: Buffer.alloc(32, 2), identity: 'test' }),
  })
  socket.on('error', () => {})
  assert.ok((await failed)[0] instanceof Error)
})
