'use strict'
// `spillway.pressure` and `shouldDegrade()` as an application uses them.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const net = require('node:net')
const { once } = require('node:events')
const { test } = require('node:test')
const { setImmediate: turn } = require('node:timers/promises')
const express = require('express')
const Koa = require('koa')
const { createSpillway } = require('../../src')
const { Spillway } = require('../../src/spillway')
const { handClock } = require('../support/hand-clock')
const { runNode } = require('../support/run-node')
const { serve } = require('../support/serve')

const classify = (req) => req.headers['x-class']
/** Whatever the pressure: all of class low, and no other. */
const ALL_LOW = { critical: false, high: false, normal: false, low: 0 }

function madeSpillway(t, options = {}) {
  const spillway = createSpillway({ logger: false, shed: { classify }, ...options })
  t.after(() => spillway.close())
  return spillway
}

/** At a pressure of 1, by the user's own figure. */
async function pressed(t, options = {}) {
  const clock = handClock()
  const spillway = new Spillway(
    { logger: false, shed: { mode: 'observe', classify, shortage: () => 1 }, ...options },
    clock
  )
  t.after(() => spillway.close())
  await spillway.pressure
  await press(clock)
  return spillway
}

async function press(clock) {
  for (let i = 0; i < 200; i++) {
    clock.pass(100)
    await turn()
  }
}

/** A request of each class, all at once on one connection. */
const pipelined = (...classes) =>
  classes.map((name, i) => `GET /${i + 1} HTTP/1.1\r\nhost: x\r\nx-class: ${name}\r\n\r\n`).join('')

const APPS = {
  'http, by request': (spillway) => spillway.wrap((req, res) => res.end(`${spillway.shouldDegrade(req)}`)),
  'http, by response': (spillway) => spillway.wrap((_req, res) => res.end(`${spillway.shouldDegrade(res)}`)),
  express: (spillway) =>
    express()
      .use(spillway.express())
      .get('/', (req, res) => res.send(`${spillway.shouldDegrade(req)}`)),
  'express after the body': (spillway) =>
    express()
      .use(spillway.express())
      .use(express.json())
      .get('/', (req, res) => setImmediate(() => res.send(`${spillway.shouldDegrade(req)}`))),
  koa: (spillway) => {
    const app = new Koa()
    app.use(spillway.koa())
    app.use((ctx) => {
      ctx.body = `${spillway.shouldDegrade(ctx)}`
    })
    return app.callback()
  },
  'a request of Fastify': (spillway) =>
    spillway.wrap((req, res) => res.end(`${spillway.shouldDegrade({ raw: req })}`)),
}

for (const [name, appOf] of Object.entries(APPS)) {
  test(`the class of the request decides: ${name}`, async (t) => {
    const spillway = await pressed(t)
    assert.ok(spillway.pressure > 0.95)
    const { get } = await serve(t, appOf(spillway))
    const answers = {}
    for (const name of ['critical', 'high', 'normal', 'low', 'bypass'])
      answers[name] = (await get('/', { headers: { 'x-class': name } })).body
    assert.deepEqual(answers, {
      critical: 'false',
      high: 'true',
      normal: 'true',
      low: 'true',
      bypass: 'false',
    })
  })
}

for (const [name, answered] of [
  ['in a handler', false],
  ['and after the answer', true],
]) {
  test(`pipelined requests get the answer of their own class ${name}`, async (t) => {
    const spillway = await pressed(t, { pressure: { degradeAt: ALL_LOW } })
    const said = {}
    const waiting = []
    let left = 4
    const { port } = await serve(
      t,
      spillway.wrap((req, res) => {
        const say = () => (said[req.url] = [spillway.shouldDegrade(req), spillway.shouldDegrade(res)])
        if (!answered) say()
        res.on('finish', () => {
          say()
          if (--left === 0) socket.destroy()
        })
        // Both are there before the first is answered.
        waiting.push(res)
        if (waiting.length === 4) for (const each of waiting) each.end('served')
      })
    )
    const socket = net.connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write(pipelined('low', 'critical', 'low', 'critical'))
    socket.resume()
    await once(socket, 'close')
    assert.deepEqual(said, {
      '/1': [true, true],
      '/2': [false, false],
      '/3': [true, true],
      '/4': [false, false],
    })
    const { body } = await (await serve(t, spillway.handler('metrics'))).get('/')
    assert.match(body, /^spillway_degraded_requests_total\{priority="low"\} 2$/m)
  })
}

test('requests that came before the first call have their class', async (t) => {
  const clock = handClock()
  const spillway = new Spillway(
    {
      logger: false,
      shed: { mode: 'observe', classify, shortage: () => 1 },
      pressure: { degradeAt: ALL_LOW },
    },
    clock
  )
  t.after(() => spillway.close())
  const arrived = []
  const { port } = await serve(
    t,
    spillway.wrap((...both) => arrived.push(both))
  )
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  t.after(() => socket.destroy())
  socket.write(pipelined('normal', 'low'))
  while (arrived.length < 2) await turn()
  assert.equal(spillway.pressure, 0)
  await press(clock)
  assert.deepEqual(
    arrived.map(([req]) => spillway.shouldDegrade(req)),
    [false, true]
  )
})

test('what is not a request is reported once, and counted', async (t) => {
  const lines = []
  const logger = {
    warn() {},
    error: (fields, message) => lines.push([fields.place, fields.err.code, message]),
  }
  const spillway = await pressed(t, { logger })
  for (const given of [undefined, {}, '/orders']) assert.equal(spillway.shouldDegrade(given), false)
  assert.equal(lines.length, 1)
  assert.deepEqual(lines[0].slice(0, 2), ['shouldDegrade', 'ERR_SPILLWAY_NOT_A_REQUEST'])
  const { body } = await (await serve(t, spillway.handler('metrics'))).get('/')
  assert.match(body, /spillway_internal_errors_total\{[^}]*shouldDegrade[^}]*\} 3/)
  assert.doesNotMatch(body, /^spillway_degraded_requests_total\{/m)
})

test('the class of a request over HTTP/2 decides', async (t) => {
  const spillway = await pressed(t, { pressure: { degradeAt: { ...ALL_LOW } } })
  const server = http2.createServer((req, res) => res.end(`${spillway.shouldDegrade(req)}`))
  spillway.attach(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => client.close())
  t.after(() => server.close())
  for (const [name, expected] of [
    ['low', 'true'],
    ['normal', 'false'],
  ]) {
    let text = ''
    for await (const piece of client.request({ ':path': '/', 'x-class': name }).setEncoding('utf8'))
      text += piece
    assert.equal(text, expected, name)
  }
})

test('the event `pressure` tells of the step and what is short', async (t) => {
  const lines = []
  const log = (fields, message) => lines.push([fields.event, message])
  const logger = { info: log, warn: log, error: log }
  const clock = handClock()
  const spillway = new Spillway(
    { logger, shed: { mode: 'observe', shortage: () => 0.8 }, pressure: { steps: [0.5, 0.9] } },
    clock
  )
  t.after(() => spillway.close())
  const passed = []
  spillway.on('pressure', (details) => passed.push(details))
  for (let i = 0; i < 60 && passed.length === 0; i++) {
    clock.pass(100)
    await turn()
  }
  assert.equal(passed.length, 1)
  const [{ pressure, ...rest }] = passed
  assert.ok(pressure >= 0.5)
  assert.deepEqual(Object.keys(rest), ['step', 'isAbove', 'by'])
  assert.deepEqual([rest.step, rest.isAbove], [0.5, true])
  assert.ok(
    lines.some(
      ([event, line]) => event === 'pressure' && /^spillway: pressure 0\.\d\d: above 0.5 \(/.test(line)
    )
  )
})

test("a listener of 'pressure' without steps is warned of, and one with steps is not", (t) => {
  const warned = []
  const logger = { warn: ({ mistake }, message) => warned.push([mistake, message]), error() {} }
  for (const pressure of [{ steps: [0.5] }, {}])
    madeSpillway(t, { logger, pressure }).on('pressure', () => {})
  assert.equal(warned.length, 1)
  const [[mistake, message]] = warned
  assert.equal(mistake, 'pressure-without-steps')
  assert.match(
    message,
    /members\.test\.js:\d+: A listener of 'pressure' is never called without steps\. Write /
  )
})

test('the pressure is read anew each time, cannot be set, and is 0 after close()', async (t) => {
  const spillway = madeSpillway(t)
  assert.equal(typeof spillway.pressure, 'number')
  assert.throws(() => {
    spillway.pressure = 1
  }, TypeError)
  const { shouldDegrade } = spillway
  assert.equal(shouldDegrade({}), false)
  spillway.close()
  assert.equal(spillway.pressure, 0)
})

test('degraded requests have a metric once there are any, and none before the pressure was read', async (t) => {
  const metricsOf = async (spillway) => (await (await serve(t, spillway.handler('metrics'))).get('/')).body
  const unread = madeSpillway(t)
  assert.doesNotMatch(await metricsOf(unread), /^spillway_degraded\S* /m)
  const spillway = await pressed(t, { pressure: { degradeAt: ALL_LOW } })
  const { get } = await serve(
    t,
    spillway.wrap((req, res) => res.end(`${spillway.shouldDegrade(req)}`))
  )
  assert.equal((await get('/', { headers: { 'x-class': 'low' } })).body, 'true')
  const metrics = await metricsOf(spillway)
  assert.match(metrics, /^spillway_degraded_requests_total\{priority="low"\} 1$/m)
})

test('off: nothing of the feature is loaded, and no request is told of', async () => {
  const { output } = await runNode(`
    const { createSpillway } = require('./src')
    const spillway = createSpillway({ logger: false })
    const loaded = () => Object.keys(require.cache).filter((file) => file.includes('/features/pressure/')).length
    const before = loaded()
    spillway.pressure
    console.log(JSON.stringify([before, loaded() > 0]))
    spillway.close()
  `)
  assert.deepEqual(output, [0, true])
})

for (const [pressure, message] of [
  [{ steps: [] }, /pressure\.steps/],
  [{ steps: [2] }, /pressure\.steps/],
  [{ steps: 0.5 }, /pressure\.steps/],
  [{ degradeAt: 0.5 }, /pressure\.degradeAt/],
  [{ degradeAt: { bypass: 0.5 } }, /pressure\.degradeAt/],
  [{ degradeAt: { low: 2 } }, /pressure\.degradeAt/],
]) {
  test(`the options are checked: ${JSON.stringify(pressure)}`, () => {
    assert.throws(() => createSpillway({ pressure }), message)
  })
}
