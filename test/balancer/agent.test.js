'use strict'
// The agent that HAProxy asks: its lines, its weight, and a real HAProxy that follows them.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const { test } = require('node:test')
const { setImmediate: turn } = require('node:timers/promises')
const { createSpillway } = require('../../src')
const { Weight } = require('../../src/features/balancer/weight')
const { Spillway } = require('../../src/spillway')
const { handClock } = require('../support/hand-clock')
const { FakeClock } = require('../support/fake-clock')
const { serve } = require('../support/serve')
const { HAPROXY_SKIP, startHaproxy } = require('./haproxy')

async function lineOf({ port, host }, sends = '') {
  const socket = net.connect(port, host)
  if (sends !== '') socket.write(sends)
  let text = ''
  for await (const piece of socket.setEncoding('utf8')) text += piece
  return text
}

/** At the pressure of the user's own figure, which the test sets. */
function madeSpillway(t, options = {}) {
  const hand = handClock()
  // The loop is idle all the time, so that the pressure is the user's figure.
  const clock = { ...hand, idleMs: () => hand.now() }
  const given = { shortage: 0 }
  const spillway = new Spillway(
    { logger: false, shed: { mode: 'observe', shortage: () => given.shortage }, ...options },
    clock
  )
  t.after(() => spillway.close())
  const settle = async (shortage, ms = 10_000) => {
    given.shortage = shortage
    for (let i = 0; i < ms / 100; i++) {
      clock.pass(100)
      await turn()
    }
  }
  return { clock, spillway, settle }
}

test('the weight is what the pressure leaves, as a mean of five seconds, and at least 1', () => {
  const clock = new FakeClock()
  const pressure = { ratio: 0 }
  const weight = new Weight({ clock, pressure })
  assert.equal(weight.percent, 100)
  pressure.ratio = 0.8
  clock.advance(5000)
  assert.equal(weight.percent, 49)
  clock.advance(60_000)
  assert.equal(weight.percent, 20)
  pressure.ratio = 1
  clock.advance(60_000)
  assert.equal(weight.percent, 1)
})

test('each connection gets a line with the weight, whatever it sends', async (t) => {
  const { clock, spillway, settle } = madeSpillway(t)
  const address = await spillway.agent({ port: 0 })
  assert.match(await lineOf(address), /^up ready \d+%\n$/)
  await settle(1)
  await lineOf(address)
  clock.advance(60_000)
  assert.equal(await lineOf(address, 'GET / HTTP/1.1\r\n\r\n'), 'up ready 1%\n')
})

test('clients that do not close cannot keep a check out', async (t) => {
  const { spillway } = madeSpillway(t)
  const address = await spillway.agent({ port: 0 })
  const held = []
  t.after(() => {
    for (const each of held) each.destroy()
  })
  for (let i = 0; i < 64; i++) {
    const socket = net.connect({ ...address, allowHalfOpen: true }).on('error', () => {})
    held.push(socket)
    socket.resume()
    await once(socket, 'end')
  }
  const [oldest] = held
  assert.match(await lineOf(address), /^up ready \d+%\n$/)
  // The agent never ends the client's side. A write to a connection that was cut fails.
  while (!oldest.destroyed) {
    oldest.write('more')
    await turn()
  }
})

test('agent() of a closed instance rejects, as listen() does', async () => {
  for (const isUsed of [false, true]) {
    const spillway = createSpillway({ logger: false })
    if (isUsed) spillway.pressure
    spillway.close()
    for (const member of ['agent', 'listen'])
      await assert.rejects(spillway[member]({ port: 0 }), { code: 'ERR_SPILLWAY_LISTEN' }, member)
  }
})

test('while /readyz says 503 the line is drain: before ready(), while a check fails, in a drain', async (t) => {
  const { spillway } = madeSpillway(t, { health: { manual: true } })
  const address = await spillway.agent({ port: 0 })
  assert.equal(await lineOf(address), 'drain\n')
  spillway.ready()
  assert.match(await lineOf(address), /^up ready/)
  let isWell = false
  spillway.health.check('database', () => isWell, { cache: 0 })
  assert.equal(await lineOf(address), 'drain\n')
  isWell = true
  assert.match(await lineOf(address), /^up ready/)
})

test('an agent that cannot listen is logged with its port and the code', async (t) => {
  const warnings = []
  const logger = { warn: ({ err }, message) => warnings.push([err?.code, message]), error() {} }
  const spillway = createSpillway({ logger })
  t.after(() => spillway.close())
  const taken = net.createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address()
  await assert.rejects(spillway.agent({ port }))
  await spillway.agent({ port: 0 })
  await assert.rejects(spillway.agent({ port: 0 }))
  assert.deepEqual(warnings, [
    ['ERR_SPILLWAY_LISTEN', `spillway: the agent does not listen on port ${port} of 127.0.0.1 (EADDRINUSE)`],
    [
      'ERR_SPILLWAY_LISTEN',
      'spillway: the agent does not listen: The agent of this spillway is already listening. Call agent() once.',
    ],
  ])
})

test('agent() refuses what it cannot do, and close() ends it', async (t) => {
  const spillway = createSpillway({ logger: false })
  t.after(() => spillway.close())
  assert.throws(() => spillway.agent({ port: -1 }), /agent\.port/)
  const taken = net.createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address()
  await assert.rejects(spillway.agent({ port }), {
    code: 'ERR_SPILLWAY_LISTEN',
    message: `The agent cannot listen on 127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}.`,
  })
  const address = await spillway.agent({ port: 0 })
  await assert.rejects(spillway.agent({ port: 0 }), { code: 'ERR_SPILLWAY_LISTEN' })
  spillway.close()
  await assert.rejects(lineOf(address), { code: 'ECONNREFUSED' })
  await assert.rejects(spillway.agent({ port: 0 }), { code: 'ERR_SPILLWAY_LISTEN' })
})

test('a real HAProxy takes the weight, drains, and takes the server back', {
  skip: HAPROXY_SKIP,
}, async (t) => {
  const { clock, spillway, settle } = madeSpillway(t)
  const service = await serve(
    t,
    spillway.wrap((_req, res) => res.end('served'))
  )
  const agent = await spillway.agent({ port: 0 })
  const haproxy = await startHaproxy(
    t,
    ({ port, admin }) => `
global
  stats socket ${admin}
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
listen service
  bind 127.0.0.1:${port}
  server one 127.0.0.1:${service.port} weight 100 agent-check agent-port ${agent.port} agent-inter 50ms
`
  )
  await settle(1)
  await lineOf(agent)
  clock.advance(60_000)
  await haproxy.until('service', ({ one }) => one.weight === '1' && !one.status.startsWith('DRAIN'))
  let isWell = false
  spillway.health.check('database', () => isWell, { cache: 0 })
  await haproxy.until('service', ({ one }) => one.status.startsWith('DRAIN'))
  isWell = true
  await settle(0)
  clock.advance(60_000)
  await haproxy.until('service', ({ one }) => Number(one.weight) > 50 && !one.status.startsWith('DRAIN'))
  const answer = await fetch(`http://127.0.0.1:${haproxy.port}/`)
  assert.equal(await answer.text(), 'served')
})
