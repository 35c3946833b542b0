'use strict'
// Where the time of a call went: looking up the name, connecting, waiting for the first byte. Real sockets,
// and a clock that moves only where a resolver, a handshake or a server is slow.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const { describe, it, test } = require('node:test')
const undici = require('undici')
const { UndiciOpenings } = require('../../src/features/outgoing/undici-openings')
const { CLIENT, SERVER } = require('../support/pre-shared-key')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { stillClock } = require('../support/still-clock')

/** A resolver that answers after so long. */
const slowLookup = (clock, ms) => (_name, options, callback) =>
  setImmediate(() => {
    clock.advance(ms)
    if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
    else callback(null, '127.0.0.1', 4)
  })

/**
 * A server whose answers, and whose handshakes if it has TLS, are slow. The rest of an answer waits for
 * `finish`.
 */
async function slowServer(t, { clock, answerMs = 0, handshakeMs }) {
  let finish = () => {}
  const answer = (_req, res) => {
    clock.advance(answerMs)
    res.write('first')
    finish = () => res.end('last')
  }
  const pskCallback = () => {
    clock.advance(handshakeMs)
    return SERVER.pskCallback()
  }
  const tls = { ...SERVER, maxVersion: /** @type {const} */ ('TLSv1.2'), pskCallback }
  const { port } = await serve(t, handshakeMs === undefined ? answer : https.createServer(tls, answer))
  const onHead = () => {
    clock.advance(7)
    finish()
  }
  return { port, isTls: handshakeMs !== undefined, onHead }
}

/** Each makes a call on a connection that is kept. */
const CLIENTS = {
  'node:http': (t, { host, port, lookup, isTls, onHead }) => {
    const { request, Agent } = isTls ? https : http
    const agent = new Agent({ keepAlive: true, ...CLIENT })
    t.after(() => agent.destroy())
    return async () => {
      const call = request({ host, port, lookup, agent })
      call.end()
      const [response] = await once(call, 'response')
      onHead()
      const isFree = once(agent, 'free')
      await response.resume().toArray()
      await isFree
    }
  },
  undici: (t, { host, port, lookup, isTls, onHead }) => {
    const dispatcher = new undici.Agent({ connect: { ...CLIENT, lookup } })
    t.after(() => dispatcher.close())
    return async () => {
      const { body } = await undici.request(`${isTls ? 'https' : 'http'}://${host}:${port}`, { dispatcher })
      onHead()
      await body.text()
      await new Promise((resolve) => setImmediate(resolve))
    }
  },
}

/** The parts of the one host, once so many calls have ended. */
async function partsOf(spillway, calls) {
  for (;;) {
    const [host] = spillway.snapshot().outgoing.hosts
    if (host?.sinceStart.count >= calls) {
      const { connections, lookupMs, connectMs, firstByteMs, totalMs } = host.sinceStart
      assert.deepEqual(host.lastMinute, host.sinceStart)
      return { connections, lookupMs, connectMs, firstByteMs, totalMs }
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}

for (const [title, clientFor] of Object.entries(CLIENTS)) {
  describe(`a call by ${title}`, () => {
    it('has what a slow server took until the first byte, on a new connection and on a kept one', async (t) => {
      const clock = stillClock()
      const spillway = spillwayFor(t, {}, clock)
      const server = await slowServer(t, { clock, answerMs: 500 })
      const call = clientFor(t, { host: '127.0.0.1', ...server })
      await call()
      await call()
      assert.deepEqual(await partsOf(spillway, 2), {
        connections: 1,
        lookupMs: 0,
        connectMs: 0,
        firstByteMs: 1000,
        totalMs: 1014,
      })
    })

    it('has what a late handshake of TLS took, and a kept connection has none', async (t) => {
      const clock = stillClock()
      const spillway = spillwayFor(t, {}, clock)
      const server = await slowServer(t, { clock, handshakeMs: 300 })
      const call = clientFor(t, { host: '127.0.0.1', ...server })
      await call()
      await call()
      assert.deepEqual(await partsOf(spillway, 2), {
        connections: 1,
        lookupMs: 0,
        connectMs: 300,
        firstByteMs: 0,
        totalMs: 314,
      })
    })
  })
}

test('a call by node:http has what a slow resolver took; TLS after it counts as connecting', async (t) => {
  const clock = stillClock()
  const spillway = spillwayFor(t, {}, clock)
  const server = await slowServer(t, { clock, handshakeMs: 20, answerMs: 3 })
  const call = CLIENTS['node:http'](t, { host: 'shop.test', lookup: slowLookup(clock, 400), ...server })
  await call()
  await call()
  assert.deepEqual(await partsOf(spillway, 2), {
    connections: 1,
    lookupMs: 400,
    connectMs: 20,
    firstByteMs: 6,
    totalMs: 440,
  })
})

test('metrics have the parts and the connections of each host', async (t) => {
  const clock = stillClock()
  const spillway = spillwayFor(t, {}, clock)
  const server = await slowServer(t, { clock, handshakeMs: 20, answerMs: 500 })
  const call = CLIENTS['node:http'](t, { host: 'shop.test', lookup: slowLookup(clock, 400), ...server })
  await call()
  await call()
  await partsOf(spillway, 2)
  const { get } = await serve(t, (req, res) => spillway.handler('metrics')(req, res))
  const lines = (await get('/metrics')).body.match(/^spillway_outgoing_.*"shop.test".*$/gm)
  assert.deepEqual(lines, [
    `spillway_outgoing_part_seconds_total{server_address="shop.test",server_port="${server.port}",part="lookup"} 0.4`,
    `spillway_outgoing_part_seconds_total{server_address="shop.test",server_port="${server.port}",part="connect"} 0.02`,
    `spillway_outgoing_part_seconds_total{server_address="shop.test",server_port="${server.port}",part="first_byte"} 1`,
    `spillway_outgoing_connections_total{server_address="shop.test",server_port="${server.port}"} 1`,
  ])
})

test('the doctor says that a route waits for DNS, and not for the host', async (t) => {
  const still = stillClock()
  const clock = { ...still, idleMs: still.now }
  const spillway = spillwayFor(t, {}, clock)
  const { port } = await slowServer(t, { clock, answerMs: 30 })
  const answer = http.createServer(async (_req, res) => {
    const call = http.get({ host: 'shop.test', port, lookup: slowLookup(clock, 2400), agent: false })
    const [response] = await once(call, 'response')
    res.end(String(response.statusCode))
    response.destroy()
  })
  spillway.attach(answer)
  const { get } = await serve(t, answer)
  spillway.diagnose()
  for (let i = 0; i < 25; i++) await get('/orders')
  const [{ problem, summary, advice }] = spillway.diagnose().findings
  assert.equal(problem, 'slow-dependency')
  assert.match(summary, /for shop\.test:\d+\. Of the 2\.4 s of a call, 2\.4 s are DNS look-up\./)
  assert.match(advice, /DNS servers of this machine \(.+\), not at shop\.test:\d+/)
})

test('a name that is not found took its time in the look-up', async (t) => {
  const clock = stillClock()
  const spillway = spillwayFor(t, {}, clock)
  const lookup = (_name, _options, callback) =>
    setImmediate(() => {
      clock.advance(5000)
      callback(Object.assign(new Error('getaddrinfo EAI_AGAIN shop.test'), { code: 'EAI_AGAIN' }))
    })
  const call = http.get({ host: 'shop.test', lookup, agent: false })
  await once(call, 'error')
  const { lookupMs, connectMs, firstByteMs } = await partsOf(spillway, 1)
  assert.deepEqual([lookupMs, connectMs, firstByteMs], [5000, 0, 0])
})

test('a call that waits for a connection of its agent has that wait in no part', async (t) => {
  const clock = stillClock()
  const spillway = spillwayFor(t, {}, clock)
  const { port, onHead } = await slowServer(t, { clock, answerMs: 500 })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const call = async () => {
    const [response] = await once(http.get({ host: '127.0.0.1', port, agent }), 'response')
    onHead()
    await response.resume().toArray()
  }
  await Promise.all([call(), call()])
  const { connections, connectMs, firstByteMs, totalMs } = await partsOf(spillway, 2)
  assert.deepEqual([connections, connectMs, firstByteMs], [1, 0, 1000])
  // Before Node 22 a call begins when it is sent.
  const waitedMs = process.versions.node.startsWith('20.') ? 0 : 507
  assert.equal(totalMs, 1014 + waitedMs)
})

test('fetch has the look-up of a name apart from connecting', async (t) => {
  const spillway = spillwayFor(t)
  const { port } = await serve(t, (_req, res) => res.end('answer'))
  for (let i = 0; i < 2; i++) {
    await (await fetch(`http://localhost:${port}/`)).text()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { connections, lookupMs, connectMs, firstByteMs, totalMs } = await partsOf(spillway, 2)
  assert.equal(connections, 1)
  for (const ms of [lookupMs, connectMs, firstByteMs]) assert.ok(ms > 0)
  assert.ok(lookupMs + connectMs + firstByteMs <= totalMs)
})

test('fetch of a port that refuses has the attempt as its connection', async (t) => {
  const spillway = spillwayFor(t)
  const { port, server } = await serve(t, () => {})
  server.close()
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`))
  const { connections, lookupMs, connectMs, firstByteMs } = await partsOf(spillway, 1)
  assert.deepEqual([connections, lookupMs, firstByteMs], [1, 0, 0])
  assert.ok(connectMs > 0)
})

describe('connections that undici opens', () => {
  const openings = () => {
    const clock = stillClock()
    const found = new UndiciOpenings(/** @type {any} */ (clock), assert.fail)
    return { clock, found, at: (hostname) => ({ hostname }) }
  }

  it('have the look-up that began with them, and not an earlier one', (t) => {
    const { clock, found, at } = openings()
    t.after(() => found.close())
    found.begin(at('shop.test'))
    clock.advance(100)
    found.onLookup('shop.test', 4000)
    found.onLookup('other.test', 10)
    found.onLookup('SHOP.test', 80)
    found.end(at('shop.test'), true)
    assert.deepEqual(found.take('shop.test', 0)?.parts(0, clock.now()), { lookupMs: 80, connectMs: 20 })
    assert.equal(found.take('shop.test', 0), undefined)
  })

  it('are of the call that waited for them, for as long as it waited', (t) => {
    const { clock, found, at } = openings()
    t.after(() => found.close())
    found.begin(at('::1'))
    clock.advance(100)
    const sinceMs = clock.now()
    clock.advance(50)
    assert.equal(found.take('[::1]', sinceMs), undefined)
    assert.deepEqual(found.takeUnsent('[::1]', sinceMs)?.parts(sinceMs, clock.now()), {
      lookupMs: 0,
      connectMs: 50,
    })
    found.end(at('::1'), true)
    assert.equal(found.take('[::1]', clock.now() + 1), undefined)
    assert.deepEqual(found.take('[::1]', sinceMs)?.parts(sinceMs, clock.now()), {
      lookupMs: 0,
      connectMs: 50,
    })
  })

  it('are all connecting where the look-ups of a host make no entries', (t) => {
    const { clock, found, at } = openings()
    t.after(() => found.close())
    const failed = () => {
      found.begin(at('shop.test'))
      clock.advance(10_000)
      found.end(at('shop.test'), false)
      return found.takeUnsent('shop.test', clock.now() - 10_000)?.parts(0, clock.now())
    }
    assert.deepEqual(failed(), { lookupMs: 10_000, connectMs: 0 })
    found.begin(at('shop.test'))
    found.end(at('shop.test'), true)
    assert.deepEqual(failed(), { lookupMs: 0, connectMs: 10_000 })
  })
})
