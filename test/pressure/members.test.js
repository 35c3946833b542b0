'use strict'
// `spillway.pressure` and `shouldDegrade()` as an application uses them.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { once } = require('node:events')
const { test } = require('node:test')
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
  for (let i = 0; i < 200; i++) {
    clock.pass(100)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return spillway
}

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
    await new Promise((resolve) => setImmediate(resolve))
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

test('a pressure that nobody has read has no metric, and one that was read has', async (t) => {
  const metricsOf = async (spillway) => (await (await serve(t, spillway.handler('metrics'))).get('/')).body
  const unread = madeSpillway(t)
  assert.doesNotMatch(await metricsOf(unread), /^spillway_(pressure|degraded)\S* /m)
  const spillway = await pressed(t, { pressure: { degradeAt: ALL_LOW } })
  const { get } = await serve(
    t,
    spillway.wrap((req, res) => res.end(`${spillway.shouldDegrade(req)}`))
  )
  assert.equal((await get('/', { headers: { 'x-class': 'low' } })).body, 'true')
  const metrics = await metricsOf(spillway)
  assert.match(metrics, /^spillway_pressure [\d.e-]+$/m)
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
