'use strict'
// The header of ORCA: who gets it, in which format, and what it says.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const { LoadHeaders } = require('../../src/features/balancer/load-headers')
const { createSpillway } = require('../../src')
const { FakeClock } = require('../support/fake-clock')
const { serve } = require('../support/serve')

const ASK = { 'endpoint-load-metrics-format': 'TEXT' }
const TEXT =
  /^TEXT application_utilization=[\d.]+(,cpu_utilization=[\d.]+,rps_fractional=[\d.]+,eps=[\d.]+)?$/

async function served(t, options, answer = (_req, res) => res.end('served')) {
  const spillway = createSpillway({ logger: false, ...options })
  t.after(() => spillway.close())
  return serve(t, spillway.wrap(answer))
}

const headerOf = async ({ get }, headers = ASK) =>
  (await get('/', { headers })).headers['endpoint-load-metrics']

test('a trusted proxy that asks gets the load as text or JSON, and nothing if it asks for neither', async (t) => {
  const service = await served(t, { balancer: { orca: ['127.0.0.1'] } })
  assert.match(await headerOf(service), TEXT)
  const json = await headerOf(service, { 'endpoint-load-metrics-format': 'json' })
  assert.ok(JSON.parse(json.replace(/^JSON /, '')).application_utilization >= 0)
  for (const headers of [
    {},
    { 'endpoint-load-metrics-format': 'BIN' },
    { 'endpoint-load-metrics-format': 'constructor' },
  ])
    assert.equal(await headerOf(service, headers), undefined)
})

test('nobody else gets it, and off by default', async (t) => {
  for (const options of [
    {},
    { balancer: { orca: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'] } },
    { balancer: { orca: () => 'yes' } },
    { balancer: { orca: async () => true } },
    {
      balancer: {
        orca: () => {
          throw new Error('not today')
        },
      },
    },
  ])
    assert.equal(await headerOf(await served(t, options)), undefined)
})

test('a subnet and a function are trusted too', async (t) => {
  for (const orca of [['127.0.0.0/8'], ['::1', '127.0.0.1/32'], (req) => req.headers.host !== undefined])
    assert.match(await headerOf(await served(t, { balancer: { orca } })), TEXT)
})

test('an IPv4 proxy on an IPv6 wildcard socket is the same proxy', async (t) => {
  const spillway = createSpillway({ logger: false, balancer: { orca: ['127.0.0.1'] } })
  t.after(() => spillway.close())
  const server = http.createServer(spillway.wrap((_req, res) => res.end()))
  server.listen(0, '::')
  try {
    await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))
  } catch {
    return t.skip('no IPv6')
  }
  t.after(() => server.close())
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/`, { headers: ASK })
  assert.match(answer.headers.get('endpoint-load-metrics'), TEXT)
})

test('a rejected request has it too: that is when a balancer needs it', async (t) => {
  const spillway = createSpillway({
    logger: false,
    balancer: { orca: ['127.0.0.1'] },
    shed: { mode: 'threshold', maxConcurrent: 1 },
  })
  t.after(() => spillway.close())
  const waiting = []
  const app = express().use(spillway.express())
  app.get('/', (_req, res) => waiting.push(res))
  const { get } = await serve(t, app)
  const first = get('/')
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const second = await get('/', { headers: ASK })
  assert.equal(second.status, 503)
  assert.match(second.headers['endpoint-load-metrics'], TEXT)
  waiting[0].end()
  await first
})

test('rates are of the last second, count rejections and server errors, and end with the pressure', () => {
  const clock = new FakeClock()
  const shortages = { rejected: 0 }
  const pressure = { ratio: 0.5 }
  const headers = new LoadHeaders({
    trusted: () => true,
    clock,
    pressure,
    shortages,
    internalErrors: { catchRejection() {} },
  })
  const ask = () => {
    const set = {}
    const res = { setHeader: (name, value) => (set[name] = value) }
    headers.onRequest({ req: { headers: ASK }, res })
    return set['endpoint-load-metrics']
  }
  assert.equal(ask(), 'TEXT application_utilization=0.5')
  for (let i = 0; i < 99; i++) headers.onRequest({ req: { headers: {} } })
  for (const status of [200, 404, 500, 503]) headers.onEnd({ status, ticket: { isRejected: false } })
  headers.onEnd({ status: 503, ticket: { isRejected: true } })
  shortages.rejected = 3
  clock.idle(600)
  clock.advance(400)
  headers.onSample(0.75)
  assert.equal(ask(), 'TEXT application_utilization=0.75,cpu_utilization=0.4,rps_fractional=100,eps=5')
  clock.advance(100)
  headers.onSample(0.8)
  assert.equal(ask(), 'TEXT application_utilization=0.8,cpu_utilization=0.4,rps_fractional=100,eps=5')
  clock.idle(60_000)
  headers.onSample(0)
  assert.match(ask(), /^TEXT application_utilization=0,cpu_utilization=0.002,rps_fractional=0.0\d+,eps=0$/)
})
