'use strict'
// A drain as clients see it: real servers and sockets, and a clock moved by hand.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { Duplex } = require('node:stream')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { Connection } = require('../support/connection')
const {
  GET,
  ORDER,
  QUARTER_MS,
  drained,
  keptConnection,
  turn,
  untilConnected,
  untilNotListening,
} = require('../support/draining')

const BUILDS = {
  attach: (spillway, application) => spillway.attach(http.createServer(application)),
  wrap: (spillway, application) => http.createServer(spillway.wrap(application)),
  'express()': (spillway, application) =>
    http.createServer(
      express()
        .use(spillway.express())
        .use((req, res) => application(req, res))
    ),
  'koa()': (spillway, application) => {
    const app = new Koa().use(spillway.koa())
    app.use((ctx) => {
      ctx.respond = false
      ctx.status = 200
      application(ctx.req, ctx.res)
    })
    return http.createServer(app.callback())
  },
}

for (const [way, build] of Object.entries(BUILDS)) {
  test(`${way}: requests in flight are finished as the last on their connections, then the server is closed`, async (t) => {
    const { spillway, server, port, held, untilHeld } = await drained(t, build)
    const connection = await Connection.open(port)
    connection.send(GET)
    await untilHeld(1)
    const done = spillway.drain(ORDER)
    await untilNotListening(server)
    held[0].res.end('finished')
    await connection.untilClosed()
    assert.match(connection.received, /^HTTP\/1\.1 200 OK\r\n[\s\S]*Connection: close\r\n[\s\S]*finished$/)
    const { cut } = await done
    assert.equal(cut, 0)
    await assert.rejects(Connection.open(port), { code: 'ECONNREFUSED' })
  })

  test(`${way}: a new request on a kept connection is answered, and its connection is closed`, async (t) => {
    const served = await drained(t, build)
    const { spillway, server, held, untilHeld } = served
    const connection = await keptConnection(served)
    const done = spillway.drain(ORDER)
    await untilNotListening(server)
    assert.doesNotMatch(connection.received, /Connection: close/)
    connection.send(GET)
    await untilHeld(2)
    held[1].res.end('after')
    await connection.untilClosed()
    assert.match(connection.received, /Connection: close\r\n[\s\S]*after/)
    assert.equal((await done).cut, 0)
  })

  test(`${way}: a connection without traffic is closed after a quarter of the timeout, and not before`, async (t) => {
    const served = await drained(t, build)
    const { spillway, server, port, advance } = served
    const idle = await keptConnection(served)
    const silent = await Connection.open(port)
    await untilConnected(server, 2)
    const done = spillway.drain(ORDER)
    await untilNotListening(server)
    advance(QUARTER_MS - 1)
    await turn()
    await turn()
    assert.equal(idle.isClosed || silent.isClosed, false)
    advance(1)
    await Promise.all([idle.untilClosed(), silent.untilClosed()])
    const report = await done
    assert.deepEqual(report, { cut: 0, durationMs: QUARTER_MS })
  })
}

for (const [what, own, keptMs] of [
  ['its buffer', { keepAliveTimeout: 100, keepAliveTimeoutBuffer: 50 }, 150],
  ["Node's buffer of a second", { keepAliveTimeout: 100 }, 1100],
])
  test(`a kept connection is closed as soon as Node would close it: after the keep-alive timeout and ${what}`, async (t) => {
    const served = await drained(t)
    const { spillway, server, advance } = served
    Object.assign(server, own)
    const kept = await keptConnection(served)
    const done = spillway.drain({ timeout: 8000, delay: 0 })
    await untilNotListening(server)
    advance(keptMs - 1)
    await turn()
    await turn()
    assert.equal(kept.isClosed, false)
    advance(1)
    await kept.untilClosed()
    assert.deepEqual(await done, { cut: 0, durationMs: keptMs })
  })

test('requests are served as before during the delay, and /readyz fails', async (t) => {
  const served = await drained(t)
  const { spillway, server, port, get, held, untilHeld, advance } = served
  const begun = []
  spillway.on('draining', (order) => begun.push(order))
  const kept = await keptConnection(served)
  const done = spillway.drain({ timeout: 1000, delay: 5000 })
  assert.deepEqual(begun, [{ reason: 'drain', mode: 'production', delayMs: 5000, timeoutMs: 1000 }])
  advance(4999)
  await turn()
  const { status, body } = await get('/readyz')
  assert.deepEqual({ status, body }, { status: 503, body: '{"status":"unavailable","reason":"draining"}' })
  assert.equal((await get('/livez')).status, 200)
  const late = await Connection.open(port)
  for (const connection of [kept, late]) connection.send(GET)
  await untilHeld(3)
  for (const { res } of held.slice(1)) res.end('in the delay')
  for (const connection of [kept, late]) await connection.until('in the delay')
  assert.doesNotMatch(kept.received + late.received, /Connection: close/)
  advance(1)
  await untilNotListening(server)
  for (const connection of [kept, late]) connection.destroy()
  assert.equal((await done).cut, 0)
})

test('a burst of clients is accepted before the server closes', async (t) => {
  const { spillway, server, port } = await drained(t)
  const crowd = [await Connection.open(port)]
  await untilConnected(server, 1)
  const done = spillway.drain(ORDER)
  while (crowd.length < 10) {
    for (let i = 0; i < 20; i++) await turn()
    crowd.push(await Connection.open(port))
    await untilConnected(server, crowd.length)
  }
  assert.equal(server.listening, true)
  await untilNotListening(server)
  for (const connection of crowd) connection.destroy()
  assert.equal((await done).cut, 0)
})

test('an application that closes its server on `draining` destroys no kept connection', async (t) => {
  const served = await drained(t)
  const { spillway, server, held, untilHeld, advance } = served
  const kept = await keptConnection(served)
  const done = spillway.drain({ timeout: 1000, delay: 5000 })
  // As Nest's shutdown hooks do.
  server.close()
  kept.send(GET)
  await Promise.race([untilHeld(2), kept.untilClosed()])
  assert.equal(kept.isClosed, false)
  held[1].res.end('in the delay')
  await kept.until('in the delay')
  kept.destroy()
  advance(5000)
  assert.equal((await done).cut, 0)
  assert.equal(Object.hasOwn(server, 'closeIdleConnections'), false)
})

test('in Kubernetes the delay is five seconds, elsewhere none', async (t) => {
  t.after(() => delete process.env.KUBERNETES_SERVICE_HOST)
  for (const [host, delayMs] of [
    ['10.0.0.1', 5000],
    [undefined, 0],
  ]) {
    const { spillway, advance } = await drained(t)
    if (host !== undefined) process.env.KUBERNETES_SERVICE_HOST = host
    else delete process.env.KUBERNETES_SERVICE_HOST
    let order
    spillway.on('draining', (given) => (order = given))
    const done = spillway.drain()
    assert.deepEqual(order, { reason: 'drain', mode: 'production', delayMs, timeoutMs: 20_000 })
    advance(delayMs)
    await done
  }
})

test('a request in flight at the timeout is cut, counted, and measured as errored', async (t) => {
  const { spillway, server, port, held, untilHeld, advance } = await drained(t)
  const connections = []
  for (let i = 0; i < 3; i++) connections.push(await Connection.open(port))
  for (const connection of connections) connection.send(GET)
  await untilHeld(3)
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  held[0].res.end('in time')
  await connections[0].until('in time')
  held[1].res.write('half')
  advance(ORDER.timeout)
  assert.deepEqual(await done, { cut: 2, durationMs: ORDER.timeout })
  for (const connection of connections) await connection.untilClosed()
  const { requests, routes } = spillway.snapshot()
  assert.equal(requests.inFlight, 0)
  assert.deepEqual(routes[0].outcomes, {
    completed: 1,
    errored: 2,
    aborted: 0,
    upgraded: 0,
    timed_out: 0,
  })
})

test('a second drain() returns the promise of the first, whatever its options', async (t) => {
  const { spillway } = await drained(t)
  const first = spillway.drain(ORDER)
  assert.equal(spillway.drain({ timeout: 1, delay: 1 }), first)
  await first
  assert.equal(spillway.drain(), first)
})

test('close() during a drain waits for its end', async (t) => {
  const { spillway, server, port, held, untilHeld } = await drained(t)
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  const done = spillway.drain({ timeout: 1000, delay: 0 })
  spillway.close()
  await untilNotListening(server)
  held[0].res.end('finished')
  await connection.untilClosed()
  assert.match(connection.received, /Connection: close[\s\S]*finished/)
  assert.equal((await done).cut, 0)
})

for (const isListening of [false, true]) {
  test(`a server attached ${isListening ? 'while it listens' : 'before'} has as many listeners of \`listening\` as before it listened, and is drained`, async (t) => {
    let before
    const attached = (spillway, application) => {
      const server = http.createServer(application)
      if (!isListening) spillway.attach(server)
      before = server.listenerCount('listening')
      return isListening ? server.once('listening', () => spillway.attach(server)) : server
    }
    const { spillway, server, port, held, untilHeld } = await drained(t, attached)
    assert.equal(server.listenerCount('listening'), before)
    const connection = await keptConnection({ port, held, untilHeld })
    const done = spillway.drain(ORDER)
    await untilNotListening(server)
    connection.destroy()
    assert.equal((await done).cut, 0)
  })
}

test('a drain leaves no listener on the server', async (t) => {
  const before = http.createServer()
  const { spillway, server } = await drained(t)
  await spillway.drain(ORDER)
  for (const event of ['connection', 'listening', 'close', 'session', 'checkContinue'])
    assert.equal(server.listenerCount(event), before.listenerCount(event), event)
  assert.equal(Object.hasOwn(server, 'closeIdleConnections'), false)
  assert.equal(Object.hasOwn(server, 'emit'), false)
})

test('a connection made at the moment the drain begins is accepted first', async (t) => {
  const { spillway, server, port, held, untilHeld } = await drained(t)
  for (let i = 0; i < 20; i++) (await Connection.open(port)).destroy()
  const connecting = Array.from({ length: 20 }, () => Connection.open(port))
  await null
  const done = spillway.drain(ORDER)
  for (const connection of await Promise.all(connecting)) connection.send(GET)
  await untilHeld(20)
  // What is answered before says nothing of an end, and no time passes here in which its connection could be
  // still.
  await untilNotListening(server)
  for (const { res } of held) res.end('answered')
  assert.equal((await done).cut, 0)
})

test('a server whose first request came from a disconnected client has no connection to wait for', async (t) => {
  let connection
  const build = (spillway, application) => {
    const app = express().use((req, _res, next) => {
      req.socket.on('close', () => setImmediate(next))
      connection.reset()
    })
    return http.createServer(app.use(spillway.express(), application))
  }
  const { spillway, port, untilHeld } = await drained(t, build)
  connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  // No time goes by.
  const { cut } = await spillway.drain(ORDER)
  assert.equal(cut, 0)
})

test('a connection that is not a socket is closed too, once it carries no traffic', async (t) => {
  const { spillway, server, advance, held, untilHeld } = await drained(t)
  const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  server.emit('connection', connection)
  connection.push(GET)
  await untilHeld(1)
  held[0].res.end('answered')
  await once(held[0].res, 'close')
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  await turn()
  advance(QUARTER_MS)
  assert.deepEqual(await done, { cut: 0, durationMs: QUARTER_MS })
})

test('queued requests are served', async (t) => {
  const shed = { mode: 'adaptive', maxConcurrent: 1, maxDelay: 60_000, targetDelay: 60_000 }
  const { spillway, server, port, held, untilHeld } = await drained(t, undefined, { shed })
  const connections = []
  for (let i = 0; i < 3; i++) connections.push(await Connection.open(port))
  for (const connection of connections) connection.send(GET)
  while (spillway.snapshot().admission.queued < 2) await turn()
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  for (let i = 0; i < 3; i++) {
    await untilHeld(i + 1)
    held[i].res.end('served')
  }
  for (const connection of connections) await connection.until('served')
  assert.equal((await done).cut, 0)
})

test('pipelined requests are all answered, the last with `Connection: close`', async (t) => {
  const { spillway, server, port, held, untilHeld } = await drained(t)
  const connection = await Connection.open(port)
  connection.send(GET + GET + GET)
  await untilHeld(3)
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  for (const { res } of held) res.end('answered')
  await connection.untilClosed()
  assert.equal(connection.received.split('answered').length - 1, 3)
  assert.equal(connection.received.split('Connection: close').length - 1, 1)
  assert.equal((await done).cut, 0)
})

test('a response sent before its request was read in full does not close the connection: the client still sends', async (t) => {
  const { spillway, server, port, held, untilHeld, advance } = await drained(t)
  const connection = await Connection.open(port)
  connection.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n', 'x'.repeat(1000))
  await untilHeld(1)
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  held[0].res.end('too early')
  await connection.until('too early')
  connection.send('x'.repeat(99_000))
  await turn()
  assert.doesNotMatch(connection.received, /Connection: close/)
  advance(QUARTER_MS)
  await turn()
  connection.send(GET)
  await untilHeld(2)
  held[1].res.end('and another')
  await connection.untilClosed()
  assert.match(connection.received, /Connection: close[\s\S]*and another/)
  assert.equal((await done).cut, 0)
})

test('a response begun before the drain is the last on its connection, once that carries no traffic', async (t) => {
  const { spillway, server, port, held, untilHeld, advance } = await drained(t)
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  held[0].res.writeHead(200).write('begun')
  await connection.until('begun')
  const done = spillway.drain(ORDER)
  await untilNotListening(server)
  held[0].res.end('answered')
  await connection.until('answered')
  advance(QUARTER_MS - 1)
  await turn()
  assert.equal(connection.isClosed, false)
  // Still since it was answered, not since the drain began.
  advance(QUARTER_MS)
  await connection.untilClosed()
  assert.equal((await done).cut, 0)
})
