'use strict'
// Invariant 9: nothing that is not gated can be used to starve what is. Real sockets, with every feature on
// that reads something of the client or answers before the gate.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { test } = require('node:test')
const client = require('prom-client')
const { LoopTurns } = require('../src/core/gate/measurements/loop-turns')
const { leapingClock } = require('./support/leaping-clock')
const { serve } = require('./support/serve')
const { spillwayFor } = require('./support/spillway')

const TOKEN = 'correct-horse-battery-staple'
const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` }
const MANY = 300
const turn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * A service with limits, deadlines and ages, an agent, load headers and an admin server. A request to `/held`
 * is answered by `release()`.
 */
async function service(t, { clock = undefined, limit = {}, ...options } = {}) {
  const spillway = spillwayFor(
    t,
    {
      balancer: { orca: ['127.0.0.1'] },
      deadline: { header: 'x-request-timeout-ms' },
      endpoints: { allow: () => true },
      health: { maxPressure: 0.95 },
      proxy: { requestStart: true },
      ...options,
      shed: { maxAge: 60_000, ...options.shed },
    },
    clock
  )
  const held = []
  const limited = spillway.limit({ name: 'held', maxConcurrent: 1, maxWait: 60_000, ...limit })
  const app = await serve(
    t,
    spillway.attach(
      http.createServer((req, res) => {
        if (req.url?.startsWith('/held')) return void limited(req, res, () => held.push(res))
        res.end('done')
      })
    )
  )
  t.after(() => {
    for (const res of held) res.end()
  })
  const release = () => held.shift()?.end('held')
  const limits = () => spillway.snapshot().bulkheads[0]
  return { app, held, limits, release, spillway }
}

/** A registry of the application, whose collection blocks the loop for so long. */
function blocking(ms) {
  const registry = new client.Registry()
  const counts = { registry, collected: 0 }
  const collect = () => {
    counts.collected++
    for (const untilMs = performance.now() + ms; performance.now() < untilMs; );
  }
  new client.Gauge({ name: 'blocks', help: 'Time.', registers: [registry], collect })
  return counts
}

test('invariant 9: a flood of scrapes, at the application and the admin server, makes one rendering a second', async (t) => {
  const clock = leapingClock()
  const counts = blocking(0)
  const { app, spillway } = await service(t, { clock, registry: counts.registry })
  const admin = await spillway.listen({ port: 0, token: TOKEN, maxRequestsPerSecond: 10_000 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
  t.after(() => agent.destroy())
  const ports = [app.port, admin.port]
  const scrape = (i) => app.request({ port: ports[i % 2], path: '/metrics', headers: AUTHORIZED, agent })
  for (let i = 0; i < 2; i++) {
    clock.leap()
    const before = counts.collected
    const sinceMs = clock.now()
    const texts = await Promise.all(Array.from({ length: MANY }, async (_, i) => (await scrape(i)).body))
    const most = 1 + Math.ceil((clock.now() - sinceMs) / 1000)
    const collected = counts.collected - before
    assert.ok(collected >= 1 && collected <= most, `${collected} renderings`)
    assert.ok(new Set(texts).size <= most)
    assert.match(texts[0], /^blocks 0$/m)
  }
})

test('invariant 9: the time of a scrape is work of the loop, as the gate measures it', async (t) => {
  const longestMs = 100
  let mostMs = 0
  const { onTurn } = LoopTurns.prototype
  t.mock.method(LoopTurns.prototype, 'onTurn', function (busyMs) {
    mostMs = Math.max(mostMs, busyMs)
    return Reflect.apply(onTurn, this, arguments)
  })
  const { app } = await service(t, { registry: blocking(longestMs).registry })
  assert.equal((await app.get('/metrics')).status, 200)
  while (mostMs < longestMs) await turn()
})

test('invariant 9: a flood without the token keeps nobody out of the admin server who has it', async (t) => {
  const { spillway } = await service(t)
  const maxRequestsPerSecond = 50
  const { port, host, url } = await spillway.listen({
    port: 0,
    token: TOKEN,
    maxConnections: 16,
    maxRequestsPerSecond,
  })
  const sockets = []
  t.after(() => {
    for (const each of sockets) each.destroy()
  })
  let refused = 0
  for (let i = 0; i < MANY; i++) {
    const socket = net.connect({ port, host }).on('error', () => {})
    sockets.push(socket)
    socket.on('data', (data) => void (/^HTTP\/1.1 4(01|29)/.test(String(data)) && refused++))
    // A third of them sends nothing, and a third never ends its head.
    if (i % 3 === 1) socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}:${port}\r\nX-Slow:`)
    if (i % 3 === 2)
      socket.write(
        `GET /metrics HTTP/1.1\r\nHost: ${host}:${port}\r\nAuthorization: Bearer ${'x'.repeat(28)}\r\n\r\n`
      )
    if (i % 10 === 9) {
      await once(socket, 'connect')
      const { status } = await fetch(`${url}/metrics`, { headers: { ...AUTHORIZED, Connection: 'close' } })
      assert.equal(status, 200)
    }
  }
  assert.ok(refused > 0)
})

test('invariant 9: thousands who wait for a slot of one route keep nobody out of others', async (t) => {
  const { app, held, limits, release } = await service(t)
  const agent = new http.Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const flood = Array.from({ length: MANY }, (_, i) =>
    app.get(`/held?${i}`, { agent, headers: { 'x-user': `${i}` } })
  )
  while (limits().queued < MANY - 1) await turn()
  const other = await app.get('/')
  assert.equal(other.body, 'done')
  assert.equal(held.length, 1)
  for (let i = 0; i < MANY; i++) {
    while (held.length === 0) await turn()
    release()
  }
  assert.ok((await Promise.all(flood)).every(({ status }) => status === 200))
})

test('invariant 9: keys without number that a client invents leave nothing behind, and a queue is bounded', async (t) => {
  const maxQueue = 50
  const key = (req) => req.headers['x-user']
  const { app, held, limits, release } = await service(t, { limit: { key, maxQueue } })
  const one = app.get('/held', { headers: { 'x-user': 'first' } })
  while (held.length === 0) await turn()
  const flood = Array.from({ length: MANY }, (_, i) =>
    app.get('/held', { headers: { 'x-user': `${'k'.repeat(500)}${i}` } })
  )
  while (limits().rejected < MANY - maxQueue) await turn()
  assert.equal(limits().queued, maxQueue)
  for (let i = 0; i <= maxQueue; i++) {
    while (held.length === 0) await turn()
    release()
  }
  assert.equal((await one).status, 200)
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 200).length, maxQueue)
  assert.deepEqual([limits().queued, limits().running], [0, 0])
})

const seconds = (ms) => `t=${((Date.now() + ms) / 1000).toFixed(3)}`
const HOSTILE = {
  'deadlines of 0': { 'x-request-timeout-ms': '0' },
  'deadlines that have passed': { 'x-request-timeout-ms': '-1' },
  'deadlines without end': { 'x-request-timeout-ms': '9'.repeat(300) },
  'ages in the future': { 'x-request-start': () => seconds(3_600_000) },
  'ages of an hour': { 'x-request-start': () => seconds(-3_600_000) },
  'a hundred headers': Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`x-request-start-${i}`, 'x'.repeat(100)])
  ),
  'stamps of 8 kB': {
    'x-request-start': `t=${'1'.repeat(8000)}`,
    'endpoint-load-metrics-format': 'x'.repeat(4000),
  },
}

for (const [what, headers] of Object.entries(HOSTILE))
  test(`invariant 9: a flood with ${what} has no other request rejected`, async (t) => {
    const { app } = await service(t)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
    t.after(() => agent.destroy())
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'function' ? value() : value])
    )
    for (let i = 0; i < 20; i++) {
      const flood = Array.from({ length: 16 }, () => app.get('/', { agent, headers: given }))
      // An honest client, through the same proxy.
      const honest = { 'x-request-start': seconds(0), 'x-request-timeout-ms': '60000' }
      const others = await Promise.all(
        ['/', '/readyz'].map((path) => app.get(path, { agent, headers: honest }))
      )
      assert.deepEqual(
        others.map(({ status }) => status),
        [200, 200]
      )
      await Promise.all(flood)
    }
  })

test('invariant 9: a flood of connections to the agent keeps no check and no request out', async (t) => {
  const { app, spillway } = await service(t)
  const address = await spillway.agent({ port: 0 })
  const sockets = []
  t.after(() => {
    for (const each of sockets) each.destroy()
  })
  for (let i = 0; i < MANY; i++) {
    const socket = net.connect({ ...address, allowHalfOpen: true }).on('error', () => {})
    socket.write('x'.repeat(1000))
    sockets.push(socket)
  }
  const check = net.connect({ ...address })
  let line = ''
  for await (const piece of check.setEncoding('utf8')) line += piece
  assert.match(line, /^up ready \d+%\n$/)
  assert.equal((await app.get('/')).status, 200)
  assert.equal((await app.get('/readyz')).status, 200)
})
