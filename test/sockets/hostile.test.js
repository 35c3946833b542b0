'use strict'
// What clients and applications do that nobody expects: names as long as a message, namespaces without end,
// listeners that are removed, handshakes whose clients go, and requests that are not Node's.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { Duplex } = require('node:stream')
const { test } = require('node:test')
const { setFlagsFromString } = require('node:v8')
const { runInNewContext } = require('node:vm')
const { Server } = require('socket.io')
const { Manager } = require('socket.io-client')
const { WebSocketServer } = require('ws')
const { ConnectionTable } = require('../../src/features/sockets/connection-table')
const { Newcomers } = require('../../src/features/sockets/newcomers')
const { IoServer } = require('../../src/features/sockets/io-server')
const { Sockets } = require('../../src/features/sockets/sockets')
const { listening, socketIo, until, webSockets } = require('../support/sockets')
const { spillwayFor } = require('../support/spillway')

test('a name from `kind` that is longer than a name is counted among the others', async (t) => {
  const { connected, wss, events } = await webSockets(t, { sockets: { kind: (data) => String(data) } })
  wss.on('connection', (ws) => ws.on('message', (data) => ws.send(data)))
  const ws = await connected()
  for (const name of ['say', 'a'.repeat(1_000_000), '__proto__', 'constructor']) {
    ws.send(name)
    await once(ws, 'message')
  }
  assert.deepEqual([...events().keys()].sort(), ['(other)', '__proto__', 'constructor', 'say'])
})

test('namespaces that clients name come and go, and nothing of them is kept', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const { io, connected } = await socketIo(t, { serverOptions: { cleanupEmptyChildNamespaces: true } })
  io.of(/^\/room-\d+$/)
  const left = []
  for (let i = 0; i < 3; i++) {
    const client = await connected(`/room-${i}`)
    left.push(new WeakRef(io.of(`/room-${i}`)))
    client.close()
    await until(() => !io._nsps.has(`/room-${i}`))
  }
  await until(() => {
    collect()
    // The last one may be held by what closed it.
    return left.filter((ref) => ref.deref() === undefined).length >= 2
  })
})

test('a WebSocket is forgotten when it closes, also after removeAllListeners()', async (t) => {
  const { connected, wss, spillway } = await webSockets(t)
  const opened = once(wss, 'connection')
  const ws = await connected()
  const [served] = await opened
  served.removeAllListeners()
  ws.close()
  await until(() => wss.clients.size === 0 || served.readyState === served.CLOSED)
  await until(() => spillway.snapshot().sockets.connections.open === 0)
  assert.equal(spillway.snapshot().sockets.connections.closed.client_close, 1)
})

/** A socket that keeps what is written to it. */
function recorded() {
  const written = []
  const socket = new Duplex({
    read() {},
    write(piece, _encoding, done) {
      written.push(String(piece))
      done()
    },
  })
  return { socket, written }
}

test('an upgrade whose request has no socket of its own is answered on the socket that is given', async (t) => {
  const spillway = spillwayFor(t, { shed: { shortage: () => 1 }, insight: false })
  const wss = new WebSocketServer({ noServer: true })
  t.after(() => wss.close())
  spillway.sockets(wss)
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  await until(() => {
    const { socket, written } = recorded()
    const req = /** @type {any} */ ({ method: 'GET', url: '/', headers })
    wss.handleUpgrade(req, socket, Buffer.alloc(0), () => {})
    return written.join('').startsWith('HTTP/1.1 503')
  })
})

/** The sockets of an instance whose gate decides when it is told. */
function withGate() {
  const decisions = []
  /** Those that were given up. */
  const given = []
  const gate = {
    classOf: () => 0,
    sample: () => ({ held: 0, room: 1 }),
    retryAfterSeconds: () => 1,
    admit: ({ onDecision }) => {
      decisions.push(onDecision)
      return () => given.push(onDecision)
    },
  }
  const recorder = { find: () => undefined, countUpgrade() {}, watchSessions() {} }
  const deps = {
    admission: { addConnectionGate: () => gate },
    clock: { now: () => 0 },
    options: { routes: { overflow: '(other)' } },
    recorder,
    servers: {},
  }
  const sockets = new Sockets(/** @type {any} */ (deps))
  sockets.add(new WebSocketServer({ noServer: true }), {})
  return { sockets, decisions, given }
}

for (const reason of [undefined, 'loop'])
  test(`a client that goes between the decision (${reason ?? 'open'}) and its turn: nothing is opened or answered`, () => {
    const { sockets, decisions } = withGate()
    const res = new EventEmitter()
    sockets.openOrRefuse({}, { owner: {}, res, socket: undefined }, () => assert.fail('opened'))
    res.emit('close')
    decisions[0](reason)
    assert.deepEqual(sockets.sample().refused, [])
    assert.equal(res.listenerCount('close'), 0)
  })

test('a held upgrade whose client ends its side is given up, and answered', async () => {
  const { sockets, decisions, given } = withGate()
  const { socket, written } = recorded()
  sockets.openOrRefuse({}, { owner: {}, socket }, () => assert.fail('opened'))
  socket.resume().push(null)
  await once(socket, 'close')
  assert.deepEqual(given, decisions)
  assert.match(written.join(''), /^HTTP\/1.1 503/)
  assert.deepEqual(sockets.sample().refused, [])
})

test('the promise of an async listener that the application has wrapped stays its own', async (t) => {
  const { connected, wss, events } = await webSockets(t)
  const handled = []
  const save = async () => {
    throw new Error('the database is away')
  }
  const safe = (listener) => {
    const handling = (...args) => {
      const promise = listener(...args)
      promise.catch((error) => handled.push(error.message))
      return promise
    }
    return Object.assign(handling, { listener })
  }
  const proxy = new Proxy(save, { apply: (...given) => safe(Reflect.apply)(...given) })
  // The runner fails where a rejection is handled by nobody.
  wss.on('connection', (ws) => {
    ws.on('message', safe(save))
    ws.on('message', proxy)
  })
  ;(await connected()).send('x')
  await until(() => handled.length === 2)
  assert.equal(events().get('message').outcomes.completed, 1)
})

test('an event whose name is no text, which another parser lets through, goes to the middlewares of the application', async (t) => {
  const { connected, io, events } = await socketIo(t)
  const seen = []
  io.on('connection', (socket) => {
    socket.use(([name], next) => {
      seen.push(typeof name)
      next(typeof name === 'string' ? undefined : new Error('bad event'))
    })
    socket.on('error', (error) => seen.push(error.message))
    socket.onevent({ type: 2, nsp: '/', data: [{ toString: 1, valueOf: 1 }] })
  })
  await connected()
  await until(() => seen.length === 2)
  assert.deepEqual(seen, ['object', 'bad event'])
  assert.deepEqual([...events().keys()], ['(unhandled)'])
})

test("a handshake of another server than Node's opens: it can be neither held nor answered", () => {
  const { sockets, decisions } = withGate()
  let opened = 0
  sockets.openOrRefuse({}, { owner: {}, res: { writeStatus() {} }, socket: undefined }, () => opened++)
  sockets.openOrRefuse({}, { owner: {}, socket: undefined }, () => opened++)
  assert.deepEqual([opened, decisions.length], [2, 0])
})

test('a socket of another namespace is as old as its connection', async (t) => {
  const server = http.createServer()
  const io = new Server(server)
  t.after(() => io.close())
  const seen = []
  let nowMs = 7
  const sockets = {
    connections: new ConnectionTable(),
    newcomers: new Newcomers({ now: () => nowMs }),
    nowMs: () => nowMs,
    openOrRefuse: (_req, _of, open) => open(),
    open() {},
    receive: ({ name, newcomer }) => void seen.push([name, newcomer?.bucket]),
  }
  const watched = new IoServer(io, {}, /** @type {any} */ (sockets))
  t.after(() => watched.close())
  io.of('/room').on('connection', (socket) => socket.on('say', () => {}))
  io.on('connection', () => (nowMs = 9000))
  const manager = new Manager(`http://127.0.0.1:${await listening(t, server)}`, { reconnection: false })
  t.after(() => manager._close())
  await new Promise((resolve) => manager.socket('/').once('connect', () => resolve(undefined)))
  manager.socket('/room').emit('say')
  await until(() => seen.length === 1)
  assert.deepEqual(seen, [['say', 0]])
})

test('a watch that a listener of the same close ends first counts the connection no second time', async (t) => {
  const { io, handle, spillway, connected } = await socketIo(t)
  let isClosed = false
  io.on('connection', ({ conn }) => {
    conn.prependListener('close', () => handle.close())
    conn.on('close', () => (isClosed = true))
  })
  const socket = await connected('/', { transports: ['websocket'] })
  socket.disconnect()
  await until(() => isClosed)
  const { closed } = spillway.snapshot().sockets.connections
  assert.equal(
    Object.values(closed).reduce((sum, count) => sum + count, 0),
    0
  )
})
