'use strict'
// Work for requests that nobody waits for any more: what is seen of it, and what is not counted.

const assert = require('node:assert/strict')
const { once, EventEmitter } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const { setImmediate: turn } = require('node:timers/promises')
const { test } = require('node:test')
const express = require('express')
const { Pool } = require('pg')
const { CallPlace } = require('../../src/core/call-place')
const { resolveOptions } = require('../../src/core/options/options')
const { Instance } = require('../../src/instance')
const { Connection } = require('../support/connection')
const { handClock } = require('../support/hand-clock')
const { serve } = require('../support/serve')
const { withoutDatabase } = require('../pools/fake-client')

const GET = 'GET /report/7 HTTP/1.1\r\nHost: a\r\n\r\n'
const BUSY_MS = 25

/** An application with one route, whose handler the test goes on with. */
async function served(t, options = {}) {
  const clock = handClock()
  const instance = new Instance(resolveOptions({ logger: false, ...options }), clock, new CallPlace(test))
  // Where Node keeps contexts by async hooks, they are off until a pool is short.
  instance.context.turnOn()
  t.after(() => instance.close())
  const came = new EventEmitter()
  const app = express()
  app.get('/report/:id', async (req, res) => {
    const leave = new Promise((resolve) => came.once('go on', resolve))
    came.emit('request', { req, res })
    const goOn = await leave
    await goOn(res)
  })
  const server = http.createServer(app)
  instance.entrance.attach(server)
  const { port, get } = await serve(t, server)
  const arrive = async () => {
    const arrived = once(came, 'request')
    const connection = await Connection.open(port)
    connection.send(GET)
    const [{ req, res }] = await arrived
    return { connection, req, res }
  }
  /** The handler goes on in a turn of its own. */
  const goOn = async (handler) => {
    await turn()
    const done = new Promise((resolve) =>
      came.emit('go on', async (res) => {
        await handler(res)
        resolve(undefined)
      })
    )
    await done
    await turn()
  }
  return { arrive, clock, get, goOn, instance, sample: () => instance.startedFeatures.waste.sample() }
}

const untilClosed = async (res) => {
  if (!res.closed) await once(res, 'close')
}

test('the time before a response is ended that nobody reads is wasted', async (t) => {
  const { arrive, clock, goOn, instance, sample } = await served(t)
  const { connection, res } = await arrive()
  connection.reset()
  await untilClosed(res)
  assert.deepEqual(sample(), [])
  await goOn(() => {
    clock.advance(BUSY_MS)
    res.json({ late: true })
    res.end()
  })
  const wasted = { method: 'GET', route: '/report/:id', requests: 1, loopMs: BUSY_MS, poolMs: 0 }
  assert.deepEqual(sample(), [wasted])
  const family = instance.families().find(({ name }) => name === 'spillway_wasted_seconds_total')
  const points = [...family.points(instance.capture())]
  assert.deepEqual(
    points.map(({ labels, value }) => [labels.pairs, value]),
    [[{ http_route: '/report/:id', resource: 'loop' }, BUSY_MS / 1000]]
  )
})

test('work for an answer that is read is not wasted', async (t) => {
  const { arrive, clock, goOn, sample } = await served(t)
  const { connection, res } = await arrive()
  await goOn(() => {
    clock.advance(BUSY_MS)
    res.json({ late: false })
  })
  await connection.until('late')
  assert.deepEqual(sample(), [])
})

test('a timeout has answered: what its handler does from then on is wasted', async (t) => {
  const { arrive, clock, goOn, sample } = await served(t, { errors: { timeout: 1000 } })
  const { connection, res } = await arrive()
  clock.pass(1100)
  await connection.until('503')
  await untilClosed(res)
  await goOn(() => {
    clock.advance(BUSY_MS)
    res.json({ late: true })
  })
  assert.deepEqual(
    sample().map(({ requests, loopMs }) => [requests, loopMs]),
    [[1, BUSY_MS]]
  )
})

test('a connection counts from the disconnect, and the code between two queries', async (t) => {
  const { arrive, clock, goOn, instance, sample } = await served(t)
  const pool = new Pool(withoutDatabase({ max: 2 }))
  t.after(() => pool.end())
  instance.features.use('pools').add('orders', pool, { maxWait: false })
  const { connection, res } = await arrive()
  const untilLeft = once(res, 'close')
  await goOn(async () => {
    const client = await pool.connect()
    clock.advance(500)
    connection.reset()
    await untilLeft
    clock.advance(40)
    client.release()
    await turn()
    clock.advance(BUSY_MS)
    await pool.query('select 1')
  })
  assert.deepEqual(
    sample().map(({ requests, loopMs, poolMs }) => [requests, loopMs, poolMs]),
    [[1, BUSY_MS, 40]]
  )
})

test('a handler that stops where its client leaves wastes nothing', async (t) => {
  const { arrive, clock, goOn, sample } = await served(t)
  const { connection, res } = await arrive()
  connection.reset()
  await untilClosed(res)
  await goOn(() => void clock.advance(BUSY_MS))
  assert.deepEqual(sample(), [])
})

test('a request that the metrics leave out is not counted, and without parts none is', async (t) => {
  const { arrive, goOn, sample } = await served(t, { ignore: '/report/7' })
  const { connection, res } = await arrive()
  connection.reset()
  await untilClosed(res)
  await goOn(() => void res.end('late'))
  assert.deepEqual(sample(), [])
  const { instance } = await served(t, { insight: { parts: false } })
  assert.equal(instance.startedFeatures.waste, undefined)
})

test('a stream of HTTP/2 that its client has cancelled', async (t) => {
  const clock = handClock()
  const instance = new Instance(resolveOptions({ logger: false }), clock, new CallPlace(test))
  t.after(() => instance.close())
  const server = http2.createServer()
  instance.entrance.attach(server)
  const arrived = once(server, 'request')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const session = http2.connect(`http://127.0.0.1:${/** @type {any} */ (server.address()).port}`)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/report/7' }).on('error', () => {})
  const [{ stream: ofServer }, res] = await arrived
  stream.close(http2.constants.NGHTTP2_CANCEL)
  await once(ofServer, 'close')
  await turn()
  clock.advance(BUSY_MS)
  res.end('late')
  assert.deepEqual(
    instance.startedFeatures.waste.sample().map(({ requests, loopMs }) => [requests, loopMs]),
    [[1, BUSY_MS]]
  )
})
