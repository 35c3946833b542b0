'use strict'
// What `signal()` takes, when it aborts beside the endings of endings.test.js, and what its reason says.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const { setImmediate: turn } = require('node:timers/promises')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { Connection } = require('../support/connection')
const { GET, ORDER, QUARTER_MS, drained, untilNotListening } = require('../support/draining')
const { drivenClock } = require('../support/driven-clock')
const { handClock } = require('../support/hand-clock')
const { ended, spillwayFor } = require('../support/spillway')
const { serve } = require('../support/serve')
const { Spillway } = require('../../src/spillway')
const { kRouteState } = require('../../src/core/route/route-state')
const { AbortSignals, abortSignalsOf } = require('../../src/features/abort-signals/abort-signals')

const untilAborted = async (signal) => {
  if (!signal.aborted) await once(signal, 'abort')
  return signal.reason
}

/** The signals of a server, each with its request and response, in order of arrival. */
async function served(t, { options, prepare = () => {}, clock } = {}) {
  const spillway = spillwayFor(t, options, clock)
  const came = new EventEmitter()
  const server = http.createServer((req, res) => {
    const signal = spillway.signal(req)
    came.emit('request', { req, res, signal })
  })
  prepare(server)
  const { port, get } = await serve(t, spillway.attach(server))
  const connection = await Connection.open(port)
  const next = async () => (await once(came, 'request'))[0]
  return { spillway, came, get, next, connection, port }
}

test('the reason is an AbortError with a code and a sentence', async (t) => {
  const { connection, next } = await served(t)
  const arrived = next()
  connection.send(GET)
  const { signal } = await arrived
  connection.destroy()
  const reason = await untilAborted(signal)
  assert.ok(reason instanceof Error)
  assert.deepEqual(
    [reason.name, reason.code, reason.message],
    [
      'AbortError',
      'ERR_SPILLWAY_CLIENT_DISCONNECTED',
      'The client disconnected before its answer was complete.',
    ]
  )
  assert.throws(() => signal.throwIfAborted(), { code: 'ERR_SPILLWAY_CLIENT_DISCONNECTED' })
})

test('all who ask for the signal of a request get the same', async (t) => {
  const { connection, next, spillway } = await served(t)
  const arrived = next()
  connection.send(GET)
  const { req, res, signal } = await arrived
  for (const given of [req, res, { req, res }, { raw: req }, { raw: res }])
    assert.equal(spillway.signal(given), signal)
  res.end()
  await ended(spillway, 1)
  assert.equal(signal.aborted, false)
  assert.equal(spillway.signal(res), signal)
  assert.equal(spillway.signal(req).aborted, false)
})

test('a body that was read to its end aborts nothing, although the request has closed', async (t) => {
  const { connection, next, spillway } = await served(t)
  const arrived = next()
  connection.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab')
  const { req, res, signal } = await arrived
  req.resume()
  await once(req, 'close')
  assert.deepEqual([req.destroyed, signal.aborted], [true, false])
  res.end('done')
  await connection.until('done')
  await ended(spillway, 1)
  assert.equal(signal.aborted, false)
  connection.destroy()
  await connection.untilClosed()
  await turn()
  assert.equal(signal.aborted, false)
})

test('a client that half-closes still gets its answer with `httpAllowHalfOpen`, and nothing aborts', async (t) => {
  const { connection, next, spillway } = await served(t, {
    prepare: (server) => {
      server.httpAllowHalfOpen = true
    },
  })
  const arrived = next()
  connection.send(GET)
  const { req, res, signal } = await arrived
  const halfClosed = once(req.socket, 'end')
  connection.end()
  await halfClosed
  await turn()
  assert.equal(signal.aborted, false)
  res.end('done')
  await connection.until('done')
  await ended(spillway, 1)
  assert.equal(signal.aborted, false)
})

test('without `httpAllowHalfOpen` Node closes the connection, and the signal aborts', async (t) => {
  const { connection, next } = await served(t)
  const arrived = next()
  connection.send(GET)
  const { signal } = await arrived
  connection.end()
  assert.equal((await untilAborted(signal)).code, 'ERR_SPILLWAY_CLIENT_DISCONNECTED')
})

test('the signal of a client that has gone before the handler is aborted already', async (t) => {
  const spillway = spillwayFor(t)
  const app = express()
  app.use(spillway.express())
  app.use((req, res, next) => {
    res.on('close', next)
  })
  const asked = new EventEmitter()
  app.use((req) => void asked.emit('signal', spillway.signal(req)))
  const server = http.createServer(app)
  const { port } = await serve(t, server)
  const arrived = once(server, 'request')
  const signal = once(asked, 'signal')
  const connection = await Connection.open(port)
  connection.send(GET)
  await arrived
  connection.reset()
  const [{ aborted, reason }] = await signal
  assert.deepEqual([aborted, reason.code], [true, 'ERR_SPILLWAY_CLIENT_DISCONNECTED'])
})

test('`errors.timeout` aborts it', async (t) => {
  const clock = drivenClock()
  const { connection, next } = await served(t, { options: { errors: { timeout: 1000 } }, clock })
  const arrived = next()
  connection.send(GET)
  const { signal } = await arrived
  clock.advance(1000)
  await connection.until('503')
  assert.equal((await untilAborted(signal)).code, 'ERR_SPILLWAY_TIMEOUT')
})

test('a drain that cuts the request aborts it, and one that waits for it does not', async (t) => {
  const { spillway, advance, server, port, held, untilHeld } = await drained(t)
  const cut = await Connection.open(port)
  cut.send(GET)
  await untilHeld(1)
  const kept = await Connection.open(port)
  kept.send(GET)
  await untilHeld(2)
  const signals = held.map(({ req }) => spillway.signal(req))
  const drain = spillway.drain(ORDER)
  await untilNotListening(server)
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false, false]
  )
  held[1].res.end('done')
  await kept.until('done')
  while (!signals[0].aborted) {
    advance(QUARTER_MS)
    await turn()
  }
  assert.equal((await drain).cut, 1)
  assert.deepEqual([signals[0].reason.code, signals[1].aborted], ['ERR_SPILLWAY_DRAIN', false])
})

test('a drain that ends an event stream aborts its signal', async (t) => {
  const { spillway, advance, port, held, untilHeld } = await drained(t)
  const connection = await Connection.open(port)
  connection.send(GET)
  await untilHeld(1)
  const [{ req, res }] = held
  const signal = spillway.signal(req)
  res.setHeader('Content-Type', 'text/event-stream')
  res.write('data: 1\n\n')
  await connection.until('data: 1')
  const drain = spillway.drain(ORDER)
  while (!signal.aborted) {
    advance(1)
    await turn()
  }
  assert.equal(signal.reason.code, 'ERR_SPILLWAY_DRAIN')
  connection.destroy()
  assert.equal((await drain).cut, 0)
})

test('an error with status 500 is an answer, and aborts nothing', async (t) => {
  const { connection, next, spillway } = await served(t)
  const arrived = next()
  connection.send(GET)
  const { res, signal } = await arrived
  res.writeHead(500).end('failed')
  await connection.until('failed')
  await ended(spillway, 1)
  assert.equal(signal.aborted, false)
})

test('a context of Koa has a signal', async (t) => {
  const spillway = spillwayFor(t)
  const app = new Koa()
  app.use(spillway.koa())
  const asked = new EventEmitter()
  app.use(async (ctx) => {
    const signals = [ctx, ctx.req, ctx.res, ctx.request].map((each) => spillway.signal(each))
    asked.emit('signals', signals)
    await untilAborted(signals[0])
  })
  const { port } = await serve(t, http.createServer(app.callback()))
  const came = once(asked, 'signals')
  const connection = await Connection.open(port)
  connection.send(GET)
  const [[first, ...others]] = await came
  assert.ok(others.every((each) => each === first))
  connection.reset()
  assert.equal((await untilAborted(first)).code, 'ERR_SPILLWAY_CLIENT_DISCONNECTED')
})

test('a signal is of one stream of HTTP/2, and aborts at once when its client cancels', async (t) => {
  const spillway = spillwayFor(t)
  const came = new EventEmitter()
  const server = spillway.attach(
    http2.createServer((req, res) => {
      came.emit('request', { res, signal: spillway.signal(req) })
    })
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => session.destroy())
  const arrivals = []
  came.on('request', (each) => arrivals.push(each))
  const streams = ['/a', '/b'].map((path) => session.request({ ':path': path }).on('error', () => {}))
  while (arrivals.length < 2) await turn()
  streams[0].close(http2.constants.NGHTTP2_CANCEL)
  const reason = await untilAborted(arrivals[0].signal)
  assert.deepEqual([reason.code, arrivals[1].signal.aborted], ['ERR_SPILLWAY_CLIENT_DISCONNECTED', false])
  arrivals[1].res.end('done')
  await once(streams[1].resume(), 'close')
  await ended(spillway, 2)
  assert.equal(arrivals[1].signal.aborted, false)
})

test('an upgraded connection aborts its signal when it closes', async (t) => {
  const spillway = spillwayFor(t)
  const server = spillway.attach(http.createServer())
  const upgraded = once(server, 'upgrade')
  const { port } = await serve(t, server)
  const client = net.connect(port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  const [req, socket] = await upgraded
  socket.on('end', () => socket.end()).resume()
  const signal = spillway.signal(req)
  assert.equal(signal.aborted, false)
  client.destroy()
  assert.equal((await untilAborted(signal)).code, 'ERR_SPILLWAY_CLIENT_DISCONNECTED')
})

test('a closed spillway still has signals', async (t) => {
  const { connection, next, spillway } = await served(t)
  spillway.close()
  const arrived = next()
  connection.send(GET)
  const { signal } = await arrived
  connection.destroy()
  assert.equal((await untilAborted(signal)).code, 'ERR_SPILLWAY_CLIENT_DISCONNECTED')
})

test('what is no request is refused', (t) => {
  const spillway = spillwayFor(t)
  for (const given of [undefined, null, 7, 'request', {}, { raw: {} }, new EventEmitter()])
    assert.throws(() => spillway.signal(/** @type {any} */ (given)), {
      name: 'SpillwayError',
      code: 'ERR_SPILLWAY_NOT_A_REQUEST',
    })
})

/** The signals of an instance whose requests have deadlines. */
async function withDeadline(t, leftMs) {
  const clock = handClock()
  const spillway = new Spillway({ logger: false }, clock)
  t.after(() => spillway.close())
  const found = []
  const server = spillway.attach(http.createServer((req, res) => void found.push({ req, res })))
  const { port } = await serve(t, server)
  const connection = await Connection.open(port)
  connection.send(GET)
  while (found.length === 0) await turn()
  const [{ req, res }] = found
  const { recorder } = res[kRouteState]
  const signals = new AbortSignals({ clock, recorder, leftMs: () => leftMs })
  return { clock, connection, res, signal: signals.of(req) }
}

test('the feature `deadlines` is asked for the deadline of Node’s request', async (t) => {
  const { connection, next, spillway } = await served(t)
  const arrived = next()
  connection.send(GET)
  const { res } = await arrived
  const { recorder } = res[kRouteState]
  const asked = []
  const deadlines = { remaining: (req) => asked.push(req) - 1 }
  const signals = abortSignalsOf({
    clock: handClock(),
    failures: {},
    recorder,
    startedFeatures: { deadlines },
  })
  assert.equal(signals.of(res).reason.code, 'ERR_SPILLWAY_DEADLINE')
  assert.deepEqual(asked, [res.req])
  res.end()
  await ended(spillway, 1)
})

test('a deadline that passes aborts it', async (t) => {
  const { clock, signal } = await withDeadline(t, 50)
  clock.pass(49)
  assert.equal(signal.aborted, false)
  clock.pass(1)
  assert.equal(signal.reason.code, 'ERR_SPILLWAY_DEADLINE')
})

test('a deadline that has passed has aborted it', async (t) => {
  const { signal } = await withDeadline(t, 0)
  assert.equal(signal.reason.code, 'ERR_SPILLWAY_DEADLINE')
})

test('a deadline beyond what a timer takes aborts nothing', async (t) => {
  const { clock, signal } = await withDeadline(t, 2 ** 31)
  clock.pass(1000)
  assert.equal(signal.aborted, false)
})

test('signal() and remaining() of a pipelined request are its own, also after the answers', async (t) => {
  const header = 'x-request-timeout-ms'
  const spillway = spillwayFor(t, { deadline: { header } }, handClock())
  const arrived = []
  const { port } = await serve(
    t,
    spillway.wrap((req, res) => arrived.push({ req, res, signal: spillway.signal(req) }))
  )
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => socket.destroy())
  for (const left of [1000, 2000]) socket.write(`GET / HTTP/1.1\r\nhost: x\r\n${header}: ${left}\r\n\r\n`)
  socket.resume()
  while (arrived.length < 2) await turn()
  const last = once(arrived[1].res, 'finish')
  const areOwn = () => {
    for (const { req, res, signal } of arrived)
      for (const given of [req, res, { raw: req }]) assert.equal(spillway.signal(given), signal)
    for (const given of ['req', 'res'])
      assert.deepEqual(
        arrived.map((each) => spillway.remaining(each[given])),
        [1000, 2000]
      )
  }
  assert.notEqual(arrived[0].signal, arrived[1].signal)
  areOwn()
  for (const { res } of arrived) res.end()
  await last
  areOwn()
})

const HOWS = {
  attach: (spillway, handle) => spillway.attach(http.createServer(handle)),
  wrap: (spillway, handle) => http.createServer(spillway.wrap(handle)),
}

/**
 * Whether the first signal of the instance is asked for after the end of the request, or an earlier one has
 * been.
 */
const FIRSTS = { 'the first signal of all': false, 'a first signal': true }

for (const [how, serverFor] of Object.entries(HOWS))
  for (const [which, isStarted] of Object.entries(FIRSTS)) {
    /** A request that ends before anybody asks for its signal. */
    const begun = async (t, options, clock) => {
      const spillway = spillwayFor(t, options, clock)
      const came = new EventEmitter()
      const server = serverFor(spillway, (req, res) => void came.emit('request', { req, res }))
      const { port } = await serve(t, server)
      if (isStarted)
        spillway.signal({ req: {}, res: new http.ServerResponse(new http.IncomingMessage(null)) })
      const arrived = once(came, 'request')
      const connection = await Connection.open(port)
      connection.send(GET)
      const [{ req, res }] = await arrived
      return { connection, req, res, spillway }
    }

    test(`${how}: ${which} after a complete answer never aborts, and stays the same`, async (t) => {
      const { connection, req, res, spillway } = await begun(t)
      const { socket } = req
      res.end('done')
      await connection.until('done')
      await ended(spillway, 1)
      const closed = new Promise((resolve) => void socket.once('close', resolve))
      connection.reset()
      await closed
      const signal = spillway.signal(req)
      assert.deepEqual([signal.aborted, spillway.signal(req) === signal], [false, true])
    })

    test(`${how}: ${which} after the client left has aborted, and stays the same`, async (t) => {
      const { connection, req, spillway } = await begun(t)
      connection.destroy()
      await ended(spillway, 1)
      const signal = spillway.signal(req)
      assert.equal(signal.reason.code, 'ERR_SPILLWAY_CLIENT_DISCONNECTED')
      assert.equal(spillway.signal(req), signal)
    })

    test(`${how}: ${which} after a timeout names it, once the client has left too`, async (t) => {
      const clock = drivenClock()
      const { connection, req, spillway } = await begun(t, { errors: { timeout: 1000 } }, clock)
      clock.advance(1000)
      await connection.until('503')
      await ended(spillway, 1)
      connection.destroy()
      assert.equal(spillway.signal(req).reason.code, 'ERR_SPILLWAY_TIMEOUT')
    })
  }

test('the reason of a deadline stays when the client leaves after it', async (t) => {
  const clock = handClock()
  const spillway = spillwayFor(t, { deadline: { default: 50 } }, clock)
  const came = new EventEmitter()
  const { port } = await serve(
    t,
    spillway.wrap((req) => void came.emit('request', req, spillway.signal(req)))
  )
  const arrived = once(came, 'request')
  const connection = await Connection.open(port)
  connection.send(GET)
  const [req, signal] = await arrived
  clock.pass(50)
  const { reason } = signal
  assert.equal(reason.code, 'ERR_SPILLWAY_DEADLINE')
  connection.destroy()
  await ended(spillway, 1)
  assert.equal(spillway.signal(req), signal)
  assert.equal(signal.reason, reason)
})
