'use strict'
// Connections are known without a listener of ours on them, so that a socket that was handed over is its new
// owner's alone.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { test } = require('node:test')
const tls = require('node:tls')
const v8 = require('node:v8')
const vm = require('node:vm')
const express = require('express')
const { Connections, OpenSockets } = require('../../src/core/servers/connections')
const { CLIENT, SERVER } = require('../support/pre-shared-key')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc')

const ANSWER = 'HTTP/1.1 200 OK\r\n\r\n'
const SENT = {
  connect: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  upgrade: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
}
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

const WAYS = {
  'attached to two instances': (t, server) => {
    for (let i = 0; i < 2; i++) spillwayFor(t).attach(server)
    return server.on('request', (_req, res) => res.end('ok'))
  },
  'met by two middlewares': (t, server) => {
    const app = express()
    for (let i = 0; i < 2; i++) app.use(spillwayFor(t).express())
    return server.on(
      'request',
      app.use((_req, res) => res.end('ok'))
    )
  },
}

/** The names and numbers of the listeners of a socket that a server without us has handed over. */
const listenersOf = (socket) =>
  Object.fromEntries(socket.eventNames().map((name) => [String(name), socket.listenerCount(name)]))

async function handedOver(t, server, event, before) {
  const { port } = await serve(t, server)
  const client = net.connect(port, '127.0.0.1')
  t.after(() => client.destroy())
  // The server is closed when the test is over.
  client.on('error', () => {})
  client.resume()
  // The first meets the server, where that has to be met.
  client.write(GET)
  await once(server, 'request')
  client.write(before + SENT[event])
  const [, socket] = await once(server, event)
  const listeners = listenersOf(socket)
  socket.on('error', () => {}).end(ANSWER)
  return listeners
}

for (const event of Object.keys(SENT)) {
  for (const [what, build] of Object.entries(WAYS)) {
    for (const [how, before] of [
      ['alone', ''],
      ['behind a pipeline', GET.repeat(3)],
    ]) {
      test(`no listener of spillway is on a socket handed over by ${event}, ${how}, of a server ${what}`, async (t) => {
        const plain = http.createServer((_req, res) => res.end('ok')).on(event, () => {})
        const expected = await handedOver(t, plain, event, before)
        const server = build(t, http.createServer()).on(event, () => {})
        assert.deepEqual(await handedOver(t, server, event, before), expected)
      })
    }
  }
}

function openOf(count) {
  const open = new OpenSockets()
  const sockets = Array.from({ length: count }, () => Object.assign(new EventEmitter(), { destroyed: false }))
  for (const socket of sockets) open.add(socket)
  return { open, sockets }
}

test('a socket is in the set until it is destroyed; a destroyed socket is never added', () => {
  const { open, sockets } = openOf(3)
  open.add(sockets[0])
  open.add(Object.assign(new EventEmitter(), { destroyed: true }))
  assert.deepEqual([...open], sockets)
  sockets[1].destroyed = true
  assert.deepEqual([open.size, [...open]], [2, [sockets[0], sockets[2]]])
  open.release()
  assert.equal(open.size, 0)
})

test('an estimate looks at 2000 sockets, and goes on where the last one ended', () => {
  const { open, sockets } = openOf(5000)
  for (const socket of sockets.slice(1000)) socket.destroyed = true
  const estimates = Array.from({ length: 3 }, () => open.estimate())
  assert.deepEqual(estimates, [4000, 2000, 1000])
  open.add(sockets[0])
  sockets[0].destroyed = true
  assert.equal(open.estimate(), 999)
})

test('a socket that was sent to another process is no longer in the set', () => {
  const open = new OpenSockets()
  const socket = { destroyed: false, _handle: {} }
  open.add(socket)
  assert.equal(open.size, 1)
  Object.assign(socket, { _handle: null })
  assert.deepEqual([[...open], open.size], [[], 0])
})

test('a closed connection of a TLS server leaves memory once the number of open ones was read', async (t) => {
  const server = https.createServer(SERVER)
  const connections = new Connections(server)
  t.after(() => connections.release())
  const { port } = await serve(t, server)
  const client = tls.connect({ port, host: '127.0.0.1', ...CLIENT })
  t.after(() => client.destroy())
  const carrier = new WeakRef((await once(server, 'connection'))[0])
  await once(server, 'secureConnection')
  assert.equal(connections.open, 1)
  client.destroy()
  await once(carrier.deref(), 'close')
  assert.equal(connections.open, 0)
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  assert.equal(carrier.deref(), undefined)
})

test('a set keeps no closed socket in memory, nor an entry for it', async () => {
  const open = new OpenSockets()
  const refs = []
  for (let i = 0; i < 100_000; i++) {
    const socket = { destroyed: false }
    open.add(socket)
    socket.destroyed = true
    if (i % 1000 === 0) refs.push(new WeakRef(socket))
  }
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  assert.ok(refs.every((ref) => ref.deref() === undefined))
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 100_000; i++) {
    const socket = { destroyed: false }
    open.add(socket)
    socket.destroyed = true
  }
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  assert.ok(process.memoryUsage().heapUsed - before < 1_000_000)
  assert.equal(open.size, 0)
})
