'use strict'
// What is measured of Socket.IO, over real connections, and that what the application sees is as without.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { Server } = require('socket.io')
const { socketIo, turn, until } = require('../support/sockets')
const { spillwayFor } = require('../support/spillway')

test('an event has its outcome, the time to the end of its listeners, and to its acknowledgement', async (t) => {
  const { connected, events, io } = await socketIo(t)
  const released = makeResolvers()
  io.on('connection', (socket) => {
    socket.on('save', async (value, ack) => {
      ack(value)
      await released.promise
    })
  })
  const client = await connected()
  assert.equal(await client.emitWithAck('save', 7), 7)
  assert.equal(events().get('save').acks.sinceStart.count, 1)
  assert.equal(events().get('save').outcomes.completed, 0, 'the async listener has not ended')
  released.resolve()
  await until(() => events().get('save').outcomes.completed === 1)
  assert.equal(events().get('save').lastMinute.count, 1)
})

function makeResolvers() {
  let resolve = (_value) => {}
  const promise = new Promise((given) => (resolve = given))
  return { promise, resolve }
}

test('the second acknowledgement is not counted, as it is not sent', async (t) => {
  const { connected, events, io } = await socketIo(t)
  io.on('connection', (socket) =>
    socket.on('twice', (ack) => {
      ack(1)
      ack(2)
    })
  )
  const client = await connected()
  assert.equal(await client.emitWithAck('twice'), 1)
  assert.equal(events().get('twice').acks.sinceStart.count, 1)
})

test('names that nobody listens to make no series, whatever a client sends', async (t) => {
  const { connected, events, io, spillway } = await socketIo(t)
  io.on('connection', (socket) => socket.on('last', (ack) => ack()))
  const client = await connected()
  const names = ['__proto__', 'constructor', 'toString', 'x"y\n{}', '(other)', 'a'.repeat(10_000)]
  for (let i = 0; i < 300; i++) client.emit(names[i] ?? `made-up-${i}`)
  await client.emitWithAck('last')
  assert.deepEqual([...events().keys()].sort(), ['(unhandled)', 'last'])
  assert.equal(events().get('(unhandled)').outcomes.completed, 300)
  assert.equal(events().get('(unhandled)').lastMinute, null)
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})

test('more than a hundred names that are listened to share a row', async (t) => {
  const { connected, events, io, spillway } = await socketIo(t)
  io.on('connection', (socket) => {
    for (let i = 0; i < 130; i++) socket.on(`event-${i}`, () => {})
    socket.on('event-0', (ack) => ack?.())
  })
  const client = await connected()
  for (let i = 1; i < 130; i++) client.emit(`event-${i}`)
  await client.emitWithAck('event-0')
  const { sockets } = spillway.snapshot()
  assert.equal(sockets.events.length, 101)
  assert.equal(events().get('(other)').outcomes.completed, 30)
  assert.equal(sockets.folded, 30)
})

test('connections by transport, their upgrade, messages, bytes, and why they closed', async (t) => {
  const { connected, io, spillway } = await socketIo(t)
  const received = []
  io.on('connection', (socket) => socket.on('big', (data, ack) => ack(received.push(data.length))))
  const polling = await connected('/', { transports: ['polling'] })
  const upgraded = await connected()
  await until(() => upgraded.io.engine.transport.name === 'websocket')
  const direct = await connected('/', { transports: ['websocket'] })
  const { transports, open, opened } = spillway.snapshot().sockets.connections
  assert.equal(open, 3)
  assert.equal(opened, 3)
  assert.deepEqual(
    transports.map(({ transport, open: now, opened: all }) => [transport, now, all]),
    [
      ['polling', 1, 2],
      ['websocket', 2, 1],
    ]
  )
  const megabyte = 'é'.repeat(500_000 - 100)
  await direct.emitWithAck('big', megabyte)
  await polling.emitWithAck('big', Buffer.alloc(1000))
  assert.deepEqual(received, [megabyte.length, 1000])
  const { messages } = spillway.snapshot().sockets
  assert.ok(messages.receivedBytes > 1_000_000 - 200, String(messages.receivedBytes))
  assert.ok(messages.received >= 5)
  assert.ok(messages.sentBytes > 0)
  direct.close()
  await until(() => spillway.snapshot().sockets.connections.closed.client_close === 1)
  for (const socket of io.sockets.sockets.values()) socket.disconnect(true)
  await until(() => spillway.snapshot().sockets.connections.open === 0)
  assert.equal(spillway.snapshot().sockets.connections.closed.server_close, 2)
})

test('namespaces, static and made by a pattern, before and after sockets()', async (t) => {
  const { connected, events, io } = await socketIo(t)
  io.of('/admin').on('connection', (socket) => socket.on('boss', (ack) => ack('admin')))
  io.of(/^\/room-\d+$/).on('connection', (socket) => socket.on('say', (ack) => ack(socket.nsp.name)))
  const admin = await connected('/admin')
  const room = await connected('/room-17')
  assert.equal(await admin.emitWithAck('boss'), 'admin')
  assert.equal(await room.emitWithAck('say'), '/room-17')
  assert.deepEqual([...events().keys()].sort(), ['boss', 'say'])
})

test('middlewares, onAny, once, prependListener, removal by the original function', async (t) => {
  const { connected, events, io } = await socketIo(t)
  const seen = []
  const removed = () => seen.push('removed')
  let server
  io.use((socket, next) => {
    socket.data.user = 'u'
    next()
  })
  io.on('connection', (socket) => {
    server = socket
    socket.use(([name], next) => {
      if (name === 'forbidden') return next(new Error('not you'))
      setImmediate(next)
    })
    socket.on('error', (error) => seen.push(error.message))
    socket.onAny((name) => seen.push(`any ${name}`))
    socket.on('chat', removed)
    socket.on('chat', () => seen.push('second'))
    socket.prependListener('chat', () => seen.push('first'))
    socket.once('chat', () => seen.push('once'))
    socket.on('done', (ack) => ack(socket.data.user))
    socket.removeListener('chat', removed)
  })
  const client = await connected()
  client.emit('forbidden')
  client.emit('chat')
  client.emit('chat')
  assert.equal(await client.emitWithAck('done'), 'u')
  assert.deepEqual(
    seen.filter((each) => !each.startsWith('any')),
    ['not you', 'first', 'second', 'once', 'first', 'second']
  )
  assert.deepEqual(
    seen.filter((each) => each.startsWith('any')),
    ['any forbidden', 'any chat', 'any chat', 'any done']
  )
  assert.equal(server.listenerCount('chat'), 2)
  assert.equal(events().get('(unhandled)').outcomes.blocked, 1)
  assert.equal(events().get('chat').outcomes.completed, 2)
})

test('binary, volatile, broadcast and rooms arrive; the socket may close in its handler', async (t) => {
  const { connected, events, io } = await socketIo(t)
  io.on('connection', (socket) => {
    socket.join('room')
    socket.on('binary', (data, ack) => ack(Buffer.concat([data, data])))
    socket.on('shout', (ack) => {
      io.to('room').volatile.emit('heard', new Uint8Array([1, 2]))
      ack()
    })
    socket.on('leave', () => socket.disconnect(true))
  })
  const [a, b] = [await connected(), await connected()]
  assert.deepEqual([...(await a.emitWithAck('binary', Buffer.from([1, 2])))], [1, 2, 1, 2])
  let heard
  b.on('heard', (data) => {
    heard = data
  })
  // A volatile message is dropped while the client's connection is not ready to send.
  while (heard === undefined) await a.emitWithAck('shout')
  assert.deepEqual([...heard], [1, 2])
  const left = new Promise((resolve) => a.once('disconnect', resolve))
  a.emit('leave')
  assert.equal(await left, 'io server disconnect')
  assert.equal(events().get('leave').outcomes.completed, 1)
})

test('an acknowledgement that never comes keeps nothing', async (t) => {
  const { connected, events, io } = await socketIo(t)
  io.on('connection', (socket) => {
    socket.on('ignored', () => {})
    socket.on('last', (ack) => ack())
  })
  const client = await connected()
  client.emit('ignored', () => {})
  await client.emitWithAck('last')
  assert.equal(events().get('ignored').outcomes.completed, 1)
  assert.equal(events().get('ignored').acks, null)
})

test('the promise of a function that is not async is left alone', async (t) => {
  const { connected, events, io } = await socketIo(t)
  const shared = Promise.reject(new Error('handled by the application'))
  shared.catch(() => {})
  io.on('connection', (socket) => {
    socket.on('cached', () => shared)
    socket.on('last', (ack) => ack())
  })
  const client = await connected()
  client.emit('cached')
  await client.emitWithAck('last')
  await turn()
  assert.deepEqual(events().get('cached').outcomes, { completed: 1, errored: 0, blocked: 0, shed: 0 })
})

test('sockets that were connected before are watched; close() takes everything off all of them', async (t) => {
  const { connected, events, handle, io, spillway } = await socketIo(t)
  io.on('connection', (socket) => socket.on('hello', (ack) => ack('hi')))
  const client = await connected()
  const [server] = io.sockets.sockets.values()
  const names = ['onevent', 'ack', 'dispatch']
  assert.ok(names.every((name) => Object.hasOwn(server, name)))
  handle.close()
  handle.close()
  assert.ok(names.every((name) => !Object.hasOwn(server, name)))
  assert.ok(!Object.hasOwn(io.sockets, 'emitReserved') && !Object.hasOwn(io, 'bind'))
  assert.equal(io.engine.opts.allowRequest, undefined)
  assert.equal(io.engine.listenerCount('connection'), 1)
  assert.deepEqual(
    Object.getOwnPropertySymbols(server)
      .map(String)
      .filter((each) => each.includes('spillway')),
    []
  )
  assert.equal(await client.emitWithAck('hello'), 'hi')
  assert.equal(events().size, 0)
  assert.equal(spillway.snapshot().sockets.connections.open, 0)
  spillway.sockets(io)
  assert.equal(await client.emitWithAck('hello'), 'hi')
  assert.equal(events().get('hello').outcomes.completed, 1)
  assert.equal(spillway.snapshot().sockets.connections.open, 1)
})

test('two instances watch the same server, and each counts; one leaves', async (t) => {
  const { connected, events, handle, io } = await socketIo(t)
  const other = spillwayFor(t)
  other.sockets(io)
  const thrown = []
  io.on('connection', (socket) => {
    socket.on('hello', async (ack) => ack('hi'))
    socket.on('bye', (ack) => ack(thrown.length))
  })
  const client = await connected()
  assert.equal(await client.emitWithAck('hello'), 'hi')
  await turn()
  const countOf = (spillway) => spillway.snapshot().sockets.events.find(({ event }) => event === 'hello')
  assert.equal(countOf(other).outcomes.completed, 1)
  assert.equal(events().get('hello').outcomes.completed, 1)
  handle.close()
  assert.equal(await client.emitWithAck('hello'), 'hi')
  await turn()
  assert.equal(countOf(other).outcomes.completed, 2)
  assert.equal(events().get('hello').outcomes.completed, 1)
})

test('several servers; one that listens later; io.close()', async (t) => {
  const { connected, spillway, io } = await socketIo(t)
  const later = new Server()
  spillway.sockets(later)
  const server = http.createServer()
  later.attach(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  later.on('connection', (socket) => socket.on('x', (ack) => ack()))
  const { io: connect } = require('socket.io-client')
  const client = connect(`http://127.0.0.1:${/** @type {any} */ (server.address()).port}`, {
    forceNew: true,
    reconnection: false,
  })
  t.after(() => client.close())
  await once(client, 'connect')
  await client.emitWithAck('x')
  await connected()
  assert.equal(spillway.snapshot().sockets.connections.open, 2)
  assert.deepEqual(
    spillway.snapshot().sockets.events.map(({ event }) => event),
    ['x']
  )
  await Promise.all([later.close(), io.close()])
  await until(() => spillway.snapshot().sockets.connections.open === 0)
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})

test('a server is watched once', (t) => {
  const spillway = spillwayFor(t)
  const io = new Server()
  const first = spillway.sockets(io)
  assert.throws(() => spillway.sockets(io), { code: 'ERR_SPILLWAY_SOCKETS_TAKEN', message: /already/ })
  first.close()
  const second = spillway.sockets(io)
  first.close()
  assert.throws(() => spillway.sockets(io), { code: 'ERR_SPILLWAY_SOCKETS_TAKEN' })
  second.close()
})

test('anything else is a clear error', (t) => {
  const spillway = spillwayFor(t)
  const io = new Server()
  for (const [given, words] of [
    [undefined, /Socket\.IO 4 .*got undefined\./],
    [http.createServer(), /`attach\(\)`/],
    [io.sockets, /watches all namespaces/],
    [{ clients: {}, opts: {}, on() {}, verify() {} }, /server that has this engine/],
  ]) {
    assert.throws(() => spillway.sockets(/** @type {any} */ (given)), {
      code: 'ERR_SPILLWAY_NOT_SOCKETS',
      message: words,
    })
  }
  assert.throws(() => spillway.sockets(io, /** @type {any} */ ({ priorty: () => 'low' })), {
    code: 'ERR_SPILLWAY_UNKNOWN_OPTION',
    message: /priority/,
  })
})
