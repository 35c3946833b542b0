'use strict'
// Clients that send a request and close their side at once (`nc -N`, shell health checks), over real sockets.
// Each is answered as plain Node answers it, and what is queued or waits for it is never dropped without a
// byte.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { test } = require('node:test')
const tls = require('node:tls')
const express = require('express')
const { Connection } = require('../support/connection')
const psk = require('../support/pre-shared-key')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { stillClock } = require('../support/still-clock')
const { QUEUE, REFUSE, attached, holdingServer, until } = require('./holding-server')

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const SCHEMES = {
  http: {
    create: (listener) => http.createServer(listener),
    connect: (port) => net.connect({ port, host: '127.0.0.1' }),
    connected: 'connect',
  },
  https: {
    create: (listener) => https.createServer(psk.SERVER, listener),
    connect: (port) => tls.connect({ ...psk.CLIENT, port, host: '127.0.0.1' }),
    connected: 'secureConnect',
  },
}
const GATES = {
  'plain Node': (create, _spillway, handler) => create(handler),
  'attach()': (create, spillway, handler) => spillway.attach(create(handler)),
  'wrap()': (create, spillway, handler) => create(spillway.wrap(handler)),
  'express()': (create, spillway, handler) => create(express().use(spillway.express()).use(handler)),
}

/**
 * All connect first: a slow machine needs longer for fifty handshakes than a queue may stand.
 *
 * @returns {Promise<string[]>} all that came until the server closed
 */
async function halfClosing({ connect, connected }, port, count) {
  const sockets = Array.from({ length: count }, () => connect(port))
  await Promise.all(sockets.map((socket) => once(socket, connected)))
  return Promise.all(sockets.map(answerOf))
}

function answerOf(socket) {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (data) => (text += data.latin1Slice()))
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    socket.end(GET)
  })
}

for (const [scheme, { create, ...clients }] of Object.entries(SCHEMES)) {
  for (const [name, gated] of Object.entries(GATES)) {
    test(`${scheme}: 1, 2 and 50 half-closing clients at once are all answered by an idle server, with ${name}`, async (t) => {
      const spillway = spillwayFor(t)
      const { port } = await serve(
        t,
        gated(create, spillway, (_req, res) => res.end('done'))
      )
      for (const count of [1, 2, 50]) {
        const answers = await halfClosing(clients, port, count)
        const others = answers.filter((text) => !/^HTTP\/1\.1 200 [\s\S]*done/.test(text))
        assert.deepEqual(others, [])
      }
    })
  }
}

const CREATES = {
  'attach()': attached,
  'wrap()': (spillway, handler) => http.createServer(spillway.wrap(handler)),
  'express()': (spillway, handler) => http.createServer(express().use(spillway.express()).use(handler)),
}

for (const [name, create] of Object.entries(CREATES)) {
  test(`a queued request whose client half-closes is answered, with ${name}`, async (t) => {
    const { port, hold, waiting, admission } = await holdingServer(t, { shed: QUEUE, create })
    const first = await hold()
    const client = await Connection.open(port)
    client.send(GET)
    await waiting(1)
    client.end()
    await client.untilClosed()
    assert.match(client.received, /^HTTP\/1\.1 503 [\s\S]*later/)
    assert.deepEqual([admission().queued, admission().abandoned], [0, 0])
    first.release()
    await first.answer
  })

  test(`of a pipeline of queued requests whose client half-closes the first is answered, and none is left, with ${name}`, async (t) => {
    const { port, hold, waiting, admission, spillway } = await holdingServer(t, { shed: QUEUE, create })
    const first = await hold()
    const client = await Connection.open(port)
    client.send(GET, GET, GET)
    await waiting(3)
    client.end()
    await client.untilClosed()
    assert.match(client.received, /^HTTP\/1\.1 503 /)
    first.release()
    await first.answer
    await until(() => spillway.snapshot().requests.inFlight === 0)
    assert.deepEqual([admission().queued, admission().inFlight], [0, 0])
  })
}

/**
 * A clock that stands, whose timers never fire: what waits for its turn waits until something else sends it.
 */
const timelessClock = () => ({ ...stillClock(), after: () => ({}), cancel() {} })

for (const [name, create] of Object.entries(CREATES)) {
  test(`a 503 that waits for its turn is sent when its client half-closes, and not before, with ${name}`, async (t) => {
    const given = { shed: REFUSE, create, clock: timelessClock() }
    const { port, get, hold, refused } = await holdingServer(t, given)
    const first = await hold()
    await get('/')
    const clients = [await Connection.open(port), await Connection.open(port)]
    for (const client of clients) client.send(GET)
    await refused(3)
    clients[0].end()
    await clients[0].untilClosed()
    assert.match(clients[0].received, /^HTTP\/1\.1 503 [\s\S]*later/)
    assert.equal(clients[1].received, '')
    first.release()
    await first.answer
    clients[1].destroy()
  })

  test(`all 503s that wait are sent when the spillway closes, with ${name}`, async (t) => {
    const given = { shed: REFUSE, create, clock: timelessClock() }
    const { get, hold, refused, spillway } = await holdingServer(t, given)
    const first = await hold()
    await get('/')
    const answers = [get('/'), get('/'), get('/')]
    await refused(4)
    spillway.close()
    for (const { status } of await Promise.all(answers)) assert.equal(status, 503)
    first.release()
    await first.answer
  })
}
