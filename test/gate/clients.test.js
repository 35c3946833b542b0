'use strict'
// How many requests the clients can have outstanding, from connections and headers given by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Clients } = require('../../src/core/gate/measurements/clients')

const SAMPLE_MS = 100
const UNBOUNDED = Number.POSITIVE_INFINITY

function driven({ open = 0, isKnown = true, sessions = 0 } = {}) {
  const connections = { open, accepted: open, sessions }
  let [nowMs, cpuMs] = [0, 0]
  const clients = new Clients(isKnown ? () => connections : undefined, {
    now: () => nowMs,
    cpuMs: () => cpuMs,
  })
  /** Samples in which that many requests of these headers were queued. */
  const pass = (ms, { isIdling = false, outstanding = 0, queued = [{}], cpuShare = 1 } = {}) => {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += SAMPLE_MS
      cpuMs += cpuShare * SAMPLE_MS
      for (const headers of queued) clients.onQueue({ headers })
      clients.onTurn(nowMs, outstanding, isIdling)
    }
    return clients.maxOutstanding
  }
  return { clients, connections, pass }
}

test('clients are a bound once their number has been steady for half a second', () => {
  const { pass } = driven({ open: 50 })
  assert.equal(pass(500), UNBOUNDED)
  assert.equal(pass(100), 50)
})

test('clients whose number grows by more than a tenth within half a second are no bound, until they have come', () => {
  const { connections, pass } = driven({ open: 100 })
  pass(1100)
  for (const open of [111, 123, 136, 150]) {
    connections.open = open
    assert.equal(pass(400), UNBOUNDED)
  }
  assert.equal(pass(200), 150)
})

test('a few more clients are counted, and are still a bound', () => {
  const { connections, pass } = driven({ open: 100 })
  pass(1100)
  connections.open = 110
  assert.equal(pass(100), 110)
  // By a tenth in all, and not in each sample.
  connections.open = 112
  assert.equal(pass(100), UNBOUNDED)
})

test('clients that disconnect count until the loop has idled for a second: they may come back', () => {
  const { connections, pass } = driven({ open: 1000 })
  pass(1100)
  connections.open = 50
  assert.equal(pass(5000), 1000)
  pass(900, { isIdling: true })
  assert.equal(pass(100), 1000)
  pass(1000, { isIdling: true })
  assert.equal(pass(100), 50)
})

test('clients that have left do not count once all others have waited, and nobody has connected, for half a second', () => {
  const { connections, pass } = driven({ open: 300 })
  pass(1100)
  connections.open = 100
  connections.accepted += 100
  assert.equal(pass(500, { outstanding: 100 }), 300)
  assert.equal(pass(100, { outstanding: 100 }), 100)
})

for (const [what, given, each] of [
  ['a fifth of their connections is not in use: they open more as they need them', { outstanding: 40 }],
  ['they connect for each request', { outstanding: 50 }, (connections) => connections.accepted++],
  ['sessions of HTTP/2 carry any number of requests', { outstanding: 50, sessions: 50 }],
])
  test(`clients that have left may come back: ${what}`, () => {
    const { connections, pass } = driven({ open: 300, sessions: given.sessions })
    pass(1100)
    connections.open = 50
    for (let i = 0; i < 20; i++) {
      each?.(connections)
      assert.equal(pass(100, given), 300)
    }
  })

for (const header of ['x-forwarded-for', 'forwarded', 'via', 'traceparent', 'x-request-id']) {
  test(`clients that send ${header} are gateways, and no bound`, () => {
    const { pass } = driven({ open: 50 })
    pass(2000)
    assert.equal(pass(100, { queued: [{ [header]: 'x' }] }), UNBOUNDED)
  })
}

test('half of the queued requests may be forwarded, and no more: a few clients do not decide for all', () => {
  const requests = (forwarded) =>
    Array.from({ length: 100 }, (_, i) => (i < forwarded ? { via: '1.1 x' } : {}))
  const { pass } = driven({ open: 50 })
  pass(2000)
  assert.equal(pass(100, { queued: requests(50) }), 50)
  assert.equal(pass(100, { queued: requests(51) }), UNBOUNDED)
})

test('while nothing is queued, the clients are what they were', () => {
  const { pass } = driven({ open: 50 })
  pass(2000, { queued: [{ via: '1.1 x' }] })
  assert.equal(pass(2000, { queued: [] }), UNBOUNDED)
  assert.equal(pass(100), 50)
})

test('with proxy: true every client is a gateway, with proxy: false none, whatever the headers say', () => {
  const { clients, pass } = driven({ open: 50 })
  pass(2000)
  clients.update({ proxy: true })
  assert.equal(pass(100), UNBOUNDED)
  clients.update({ proxy: false })
  assert.equal(pass(100, { queued: [{ via: '1.1 x' }] }), 50)
  clients.update({ proxy: undefined })
  assert.equal(pass(100, { queued: [{ via: '1.1 x' }] }), UNBOUNDED)
})

test('the streams of HTTP/2 sessions count by what is outstanding: sessions are few', () => {
  const { pass } = driven({ open: 2, sessions: 2 })
  assert.equal(pass(1200, { outstanding: 200 }), 200)
  assert.equal(pass(100, { outstanding: 250 }), UNBOUNDED)
})

test('where connections are not known there is no bound', () => {
  const { pass } = driven({ isKnown: false })
  assert.equal(pass(5000, { outstanding: 5 }), UNBOUNDED)
})

test('all clients wait while three quarters of the most requests are outstanding', () => {
  const { clients, pass } = driven({ open: 100 })
  pass(1000, { isIdling: true })
  pass(900, { outstanding: 100 })
  assert.equal(clients.waitingMs, 900)
  pass(100, { outstanding: 74 })
  assert.equal(clients.waitingMs, 0)
  pass(900, { outstanding: 75 })
  assert.equal(clients.waitingMs, 900)
})

test('clients whose requests outstanding grow do not wait', () => {
  const { clients, pass } = driven({ open: 100 })
  pass(1000, { isIdling: true })
  for (let outstanding = 1000; outstanding < 3000; outstanding *= 1.12) {
    pass(100, { outstanding })
    assert.equal(clients.waitingMs, 0)
  }
  pass(1000, { outstanding: 3000 })
  assert.equal(clients.waitingMs, 1000)
})

test('gateways never all wait: their next requests are those of others', () => {
  const { clients, pass } = driven()
  pass(5000, { outstanding: 100, queued: [{ via: '1.1 x' }] })
  assert.equal(clients.waitingMs, 0)
})

test('clients do not wait while the loop idles', () => {
  const { clients, pass } = driven({ open: 100 })
  pass(5000, { isIdling: true, outstanding: 100 })
  assert.equal(clients.waitingMs, 0)
})

test('of each tenth of a second the most outstanding requests count: rejections are sent together, and then there are few', () => {
  const { clients, pass } = driven({ open: 100 })
  pass(5000, { isIdling: true })
  for (let i = 1; i <= 100; i++) clients.onTurn(5000 + 10 * i, i % 2 === 0 ? 10 : 100, false)
  assert.equal(clients.waitingMs, 1000)
})

test('the share of the CPU that other processes leave is followed in seconds, in a full loop, and is half at least', () => {
  const { clients, pass } = driven({ open: 50 })
  assert.equal(clients.cpuShare, 1)
  pass(5000, { cpuShare: 0.1, isIdling: true })
  assert.equal(clients.cpuShare, 1)
  pass(3000, { cpuShare: 0.7 })
  assert.ok(Math.abs(clients.cpuShare - 0.7) < 0.02, `${clients.cpuShare}`)
  pass(5000, { cpuShare: 0.1 })
  assert.ok(Math.abs(clients.cpuShare - 0.5) < 0.02, `${clients.cpuShare}`)
  pass(5000, { cpuShare: 1.3 })
  assert.ok(clients.cpuShare > 0.98 && clients.cpuShare <= 1, `${clients.cpuShare}`)
})

test('a request that has waited in the queue of a gateway came through one, whatever its headers', () => {
  const { clients, pass } = driven({ open: 50 })
  clients.onGatewayQueue()
  pass(100, { queued: [] })
  assert.equal(clients.areGateways, true)
  clients.update({ proxy: false })
  clients.onGatewayQueue()
  pass(100, { queued: [] })
  assert.equal(clients.areGateways, false)
})
