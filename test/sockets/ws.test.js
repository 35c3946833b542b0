'use strict'
// What is measured of ws, over real connections, and that what the application sees is as without.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const { WebSocket, WebSocketServer } = require('ws')
const { spillwayFor } = require('../support/spillway')
const { until, webSockets } = require('../support/sockets')

const kind = (data, isBinary) => (isBinary ? 'binary' : JSON.parse(String(data)).type)

test('messages by kind; a kind that throws or is none counts as message', async (t) => {
  const { connected, events, spillway, wss } = await webSockets(t, { sockets: { kind } })
  wss.on('connection', (ws) => ws.on('message', (data, isBinary) => ws.send(data, { binary: isBinary })))
  const client = await connected()
  const sent = ['{"type":"chat"}', Buffer.alloc(1_000_000), 'no json', '{"type":7}']
  for (const each of sent) {
    client.send(each)
    const [echo] = await once(client, 'message')
    assert.equal(echo.length, each.length)
  }
  assert.deepEqual([...events()].map(([name, { outcomes }]) => [name, outcomes.completed]).sort(), [
    ['binary', 1],
    ['chat', 1],
    ['message', 2],
  ])
  const { messages } = spillway.snapshot().sockets
  const bytes = sent.reduce((sum, { length }) => sum + length, 0)
  assert.deepEqual(messages, { received: 4, receivedBytes: bytes, sent: 4, sentBytes: bytes })
  assert.deepEqual(spillway.snapshot().internalErrors, { 'sockets.kind': 1 })
})

test('hostile kinds share a row after a hundred', async (t) => {
  const { connected, wss, spillway } = await webSockets(t, { sockets: { kind: (data) => String(data) } })
  wss.on('connection', (ws) => ws.on('message', (data) => ws.send(data)))
  const client = await connected()
  for (let i = 0; i < 150; i++) {
    client.send(`kind ${i}`)
    await once(client, 'message')
  }
  assert.equal(spillway.snapshot().sockets.events.length, 101)
})

test('listeners of every sort are called, and removed by the original function', async (t) => {
  const { connected, events, wss } = await webSockets(t)
  const seen = []
  wss.on('connection', (ws) => {
    const removed = () => seen.push('removed')
    ws.on('message', removed)
    ws.off('message', removed)
    ws.once('message', () => seen.push('once'))
    ws.addEventListener('message', ({ data }) => seen.push(`event ${data}`))
    ws.onmessage = ({ data }) => ws.send(`echo ${data}`)
  })
  const client = await connected()
  for (const text of ['a', 'b']) {
    client.send(text)
    const [echo] = await once(client, 'message')
    assert.equal(String(echo), `echo ${text}`)
  }
  assert.deepEqual(seen, ['once', 'event a', 'event b'])
  assert.equal(events().get('message').outcomes.completed, 2)
})

test('why connections closed, by a closed set of words', async (t) => {
  const { connected, spillway, wss } = await webSockets(t)
  const closed = () => spillway.snapshot().sockets.connections.closed
  const counts = {}
  const expect = async (reason) => {
    counts[reason] = (counts[reason] ?? 0) + 1
    await until(
      () =>
        Object.values(closed()).reduce((sum, each) => sum + each, 0) ===
        Object.values(counts).reduce((sum, each) => sum + each, 0)
    )
    assert.deepEqual({ ...closed() }, counts)
  }
  const connections = []
  wss.on('connection', (ws) => connections.push(ws))
  ;(await connected()).close()
  await expect('client_close')
  ;(await connected()).close(4321, 'mine')
  await expect('application')
  ;(await connected()).terminate()
  await expect('lost')
  await connected()
  connections.at(-1).close()
  await expect('server_close')
  await connected()
  connections.at(-1).terminate()
  await expect('server_close')
  const breaking = await connected()
  breaking._socket.write(Buffer.from([0xc3, 0x80, 0, 0, 0, 0]))
  connections.at(-1).on('error', () => {})
  await expect('protocol_error')
})

test('what is sent to a connection that is closed counts for nothing', async (t) => {
  const { connected, spillway, wss } = await webSockets(t)
  const opened = once(wss, 'connection')
  const client = await connected()
  const [ws] = await opened
  ws.send('counts')
  client.close()
  await once(ws, 'close')
  ws.send('counts not', () => {})
  assert.equal(spillway.snapshot().sockets.messages.sent, 1)
})

test('an `emit` of a subclass, which changes what listeners get, is called', async (t) => {
  class Parsing extends WebSocket {
    emit(event, ...args) {
      if (event === 'message') args[0] = JSON.parse(args[0])
      return super.emit(event, ...args)
    }
  }
  const { connected, wss, events } = await webSockets(t, { serverOptions: { WebSocket: Parsing } })
  const seen = new Promise((resolve) => wss.on('connection', (ws) => ws.on('message', resolve)))
  const client = await connected()
  client.send('{"text":"hello"}')
  assert.deepEqual(await seen, { text: 'hello' })
  assert.equal(events().get('message').outcomes.completed, 1)
})

test('two instances that are closed in the order of their making leave nothing', (t) => {
  const wss = new WebSocketServer({ noServer: true })
  t.after(() => wss.close())
  const handles = [spillwayFor(t, {}).sockets(wss), spillwayFor(t, {}).sockets(wss)]
  for (const handle of handles) handle.close()
  assert.ok(!Object.hasOwn(wss, 'handleUpgrade'))
})

test('a server without one of its own: the application upgrades', async (t) => {
  const { spillway, server, connected } = await webSockets(t, { serverOptions: { path: '/first' } })
  const second = new WebSocketServer({ noServer: true })
  const handle = spillway.sockets(second)
  server.removeAllListeners('upgrade')
  server.on('upgrade', (req, socket, head) =>
    second.handleUpgrade(req, socket, head, (ws) => second.emit('connection', ws, req))
  )
  const seen = once(second, 'connection')
  const client = await connected('/second')
  const [ws, req] = await seen
  assert.equal(req.url, '/second')
  assert.equal(spillway.snapshot().sockets.connections.open, 1)
  handle.close()
  assert.ok(!Object.hasOwn(second, 'handleUpgrade'))
  assert.ok(['emit', 'send', 'close', 'terminate'].every((name) => !Object.hasOwn(ws, name)))
  const echoed = once(client, 'message')
  ws.send('still there')
  assert.equal(String((await echoed)[0]), 'still there')
})

test('an upgrade that is decided here counts once among requests', async (t) => {
  const { connected, spillway } = await webSockets(t)
  await connected()
  const upgraded = spillway.snapshot().routes.reduce((sum, { outcomes }) => sum + outcomes.upgraded, 0)
  assert.equal(upgraded, 1)
})
