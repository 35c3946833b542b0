'use strict'
// The corners of HTTP, and what a gate in one's process must not spoil, one by one on real servers.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { describe, it, test } = require('node:test')
const express = require('express')
const { systemClock } = require('../../src/core/clock')
const { OverloadError, createSpillway } = require('../../src/index.js')
const { Spillway } = require('../../src/spillway')
const { Connection } = require('../support/connection')
const { copiedPackage } = require('../support/copied-package')
const { oneValue, parse } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { DrivenAdmission } = require('./driven-admission')
const { QUEUE, REFUSE, attached, holdingServer, until } = require('./holding-server')

const GET = (url) => `GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n'

/** @returns {string[]} what nobody caught while the test runs */
function uncaughtIn(t) {
  const uncaught = []
  const listener = (error) => uncaught.push(error.message)
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', listener)
  t.after(() => {
    process.off('uncaughtException', listener)
    for (const other of others) process.on('uncaughtException', other)
  })
  return uncaught
}

test('a handler that throws when it is dequeued throws out of its own callback, and the others run from theirs', () => {
  const driven = new DrivenAdmission(QUEUE)
  const running = driven.ask()
  const [throwing, next] = [driven.ask(), driven.ask()]
  throwing.ticket.runQueued = () => {
    driven.end(throwing)
    throw new Error('of the handler')
  }
  driven.end(running)
  assert.throws(() => driven.turn(1), { message: 'of the handler' })
  assert.equal(next.hasRun, undefined)
  driven.clock.turn()
  assert.equal(next.hasRun, true)
  assert.equal(driven.admission.sample().inFlight, 1)
})

test('the entry of a queued request has the idle time of the loop while it waited', () => {
  const driven = new DrivenAdmission(QUEUE)
  const running = driven.ask()
  const queued = driven.ask()
  driven.turn(1, 7)
  driven.end(running)
  driven.turn(1, 5)
  assert.equal(queued.hasRun, true)
  const { dequeuedIdleMs, queuedIdleMs } = queued.ticket.queueEntry
  assert.equal(dequeuedIdleMs - queuedIdleMs, 12)
})

test('a queued handler that throws neither stops the others that are queued nor keeps its slot', async (t) => {
  const uncaught = uncaughtIn(t)
  const work = (req, res) => {
    if (req.url === '/throws') throw new Error('of the handler')
    res.end('done')
  }
  const { port, hold, get, waiting, admission } = await holdingServer(t, {
    shed: { ...QUEUE, maxConcurrent: 2 },
    work,
  })
  const [one, two] = [await hold(), await hold()]
  const client = await Connection.open(port)
  client.send(GET('/throws'))
  await waiting(1)
  const after = get('/')
  await waiting(2)
  one.release()
  two.release()
  assert.equal((await after).body, 'done')
  assert.deepEqual(uncaught, ['of the handler'])
  client.destroy()
  await until(() => admission().inFlight === 0)
})

for (const [event, happens] of Object.entries({
  'its turn comes': (driven, running) => {
    driven.end(running)
    driven.turn(1)
  },
  'the spillway is closed': (driven) => driven.admission.close(),
})) {
  test(`a stream that is closed, and not yet destroyed, is neither run nor answered when ${event}`, () => {
    const driven = new DrivenAdmission(QUEUE)
    const running = driven.ask()
    const left = driven.ask()
    left.stream = { closed: true, destroyed: false }
    happens(driven, running)
    assert.deepEqual([left.hasRun, left.answer], [undefined, undefined])
    driven.end(left)
    assert.equal(driven.admission.sample().abandoned, 1)
  })
}

for (const [what, spoil] of Object.entries({
  'takes all listeners of `close` off its response': (res) => res.removeAllListeners('close'),
  'takes the connection from its response': (res) => {
    const { socket } = res
    res.detachSocket(socket)
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone')
  },
  'throws in a listener before ours': (res) =>
    res.prependListener('close', () => {
      throw new Error('of the listener')
    }),
})) {
  test(`an application that ${what} keeps no slot`, async (t) => {
    uncaughtIn(t)
    const work = (_req, res) => {
      spoil(res)
      res.end('done')
    }
    const { get, clock, admission, spillway } = await holdingServer(t, { shed: REFUSE, work })
    assert.equal((await get('/')).body, 'done')
    await until(() => {
      clock.advance(1000)
      return admission().inFlight === 0
    })
    const { requests, routes } = spillway.snapshot()
    assert.deepEqual([requests.inFlight, routes[0].outcomes.completed], [0, 1])
  })
}

for (const [name, create] of Object.entries({
  attach: attached,
  wrap: (spillway, handler) => http.createServer(spillway.wrap(handler)),
})) {
  test(`where Node captures promise rejections, it also captures those of queued requests, with ${name}`, async (t) => {
    EventEmitter.captureRejections = true
    t.after(() => {
      EventEmitter.captureRejections = false
    })
    const work = async () => {
      throw new Error('of the handler')
    }
    const { get, hold, waiting } = await holdingServer(t, { shed: QUEUE, create, work })
    const { release } = await hold()
    const answer = get('/')
    await waiting(1)
    release()
    assert.equal((await answer).status, 500)
  })
}

test('a request whose body was read before the gate is queued and runs like any other', async (t) => {
  const create = (spillway, handler) =>
    http.createServer(
      express()
        .use(express.json())
        .use(spillway.express())
        .use((req, res) => handler(req, res))
    )
  const work = (req, res) => res.end(req.body.text)
  const { hold, request, waiting } = await holdingServer(t, { shed: QUEUE, create, work })
  const first = await hold()
  const headers = { 'content-type': 'application/json' }
  const second = request({ method: 'POST', path: '/', headers }, '{"text":"read"}')
  await waiting(1)
  first.release()
  await first.answer
  assert.equal((await second).body, 'read')
})

describe('Expect: 100-continue', () => {
  const EXPECT = `${POST}Expect: 100-continue\r\n\r\n`

  it('is rejected before the body is sent', async (t) => {
    const { port, hold } = await holdingServer(t, { shed: REFUSE })
    const first = await hold()
    const client = await Connection.open(port)
    client.send(EXPECT)
    await client.untilClosed()
    assert.match(client.received, /^HTTP\/1\.1 503 /)
    assert.match(client.received, /\r\nConnection: close\r\n/)
    first.release()
    await first.answer
  })

  const makers = [
    ['one of us', 0],
    ['two of us', 1],
    ['two copies of the package', 1, copiedPackage().createSpillway],
  ]
  for (const [who, more, createOther = createSpillway] of makers) {
    it(`goes on by itself where nobody listens, once, with ${who} on the server`, async (t) => {
      const others = []
      t.after(() => {
        for (const each of others) each.close()
      })
      let ran = 0
      const create = (spillway, handler) => {
        const server = attached(spillway, handler)
        for (let i = 0; i < more; i++) {
          const other = createOther({ logger: false })
          others.push(other)
          other.attach(server)
        }
        return server
      }
      const work = (req, res) => {
        ran++
        req.resume().on('end', () => res.end('done'))
      }
      const { port } = await holdingServer(t, { shed: QUEUE, create, work })
      const client = await Connection.open(port)
      client.send(EXPECT)
      await client.until('100 Continue')
      client.send('0123456789')
      await client.until('done')
      assert.equal(client.received.split('100 Continue').length, 2)
      assert.equal(ran, 1)
      client.destroy()
    })
  }

  it("leaves the word to the user's own listener, also after waiting", async (t) => {
    const create = (spillway, handler) =>
      attached(spillway, handler).on('checkContinue', (_req, res) => res.writeHead(417).end())
    const { port, hold, waiting } = await holdingServer(t, { shed: QUEUE, create })
    const first = await hold()
    const client = await Connection.open(port)
    client.send(EXPECT)
    await waiting(1)
    first.release()
    await client.until('\r\n\r\n')
    assert.match(client.received, /^HTTP\/1\.1 417 /)
    client.destroy()
    await first.answer
  })

  it('goes on after waiting where nobody listens', async (t) => {
    const { port, hold, waiting } = await holdingServer(t, { shed: QUEUE })
    const first = await hold()
    const client = await Connection.open(port)
    client.send(EXPECT)
    await waiting(1)
    assert.equal(client.received, '')
    first.release()
    await client.until('100 Continue')
    client.send('0123456789')
    await client.until('done')
    client.destroy()
    await first.answer
  })
})

describe('a rejection and its connection', () => {
  const EXPRESS = (spillway, handler) => http.createServer(express().use(spillway.express()).use(handler))
  for (const [name, create] of Object.entries({ 'attach()': attached, 'Express 5': EXPRESS })) {
    it(`closes it where a long body was not read, with ${name}`, async (t) => {
      const { port, hold } = await holdingServer(t, { shed: REFUSE, create })
      const first = await hold()
      const client = await Connection.open(port)
      client.send(`${POST.replace('Content-Length: 10', 'Content-Length: 65537')}\r\n01234`)
      await client.untilClosed()
      assert.match(client.received, /^HTTP\/1\.1 503 [\s\S]*\r\nConnection: close\r\n/)
      first.release()
      await first.answer
    })

    it(`reads a short body and keeps it, with ${name}`, async (t) => {
      const { port, hold } = await holdingServer(t, { shed: REFUSE, create })
      const first = await hold()
      const client = await Connection.open(port)
      client.send(`${POST}\r\n01234`)
      await client.until('later."}')
      client.send(`56789${GET('/')}`)
      await client.until('later."}', 2)
      assert.doesNotMatch(client.received, /Connection: close|400/i)
      client.destroy()
      first.release()
      await first.answer
    })

    it(`keeps it otherwise, with ${name}`, async (t) => {
      const { port, hold } = await holdingServer(t, { shed: REFUSE, create })
      const first = await hold()
      const client = await Connection.open(port)
      for (const nth of [1, 2]) {
        client.send(GET('/'))
        await client.until('later."}', nth)
      }
      assert.doesNotMatch(client.received, /Connection: close/i)
      client.destroy()
      first.release()
      await first.answer
    })
  }
})

test('a pipeline of 1000 requests to an idle server is served in full', async (t) => {
  const spillway = new Spillway({ logger: false })
  t.after(() => spillway.close())
  const statuses = []
  const server = http.createServer()
  server.on('request', (_req, res) => res.on('finish', () => statuses.push(res.statusCode)))
  spillway.attach(server.on('request', (_req, res) => res.end()))
  const { port } = await serve(t, server)
  const client = await Connection.open(port)
  client.send(GET('/').repeat(1000))
  await until(() => statuses.length === 1000)
  assert.deepEqual(new Set(statuses), new Set([200]))
  client.destroy()
})

test('pipelined requests are answered in order, rejected ones included', async (t) => {
  const { port, isHeld, release, refused } = await holdingServer(t, { shed: REFUSE })
  const client = await Connection.open(port)
  const held = isHeld()
  client.send(GET('/hold') + GET('/second') + GET('/third'))
  await held
  await refused(2)
  assert.equal(client.received, '')
  release()
  await client.until('later."}', 2)
  const statuses = client.received.match(/HTTP\/1\.1 \d+/g)
  assert.deepEqual(statuses, ['HTTP/1.1 200', 'HTTP/1.1 503', 'HTTP/1.1 503'])
  client.destroy()
})

test('pipelined requests that are queued are answered in order, and dropped together', async (t) => {
  let ran = 0
  const work = (req, res) => {
    ran++
    res.end(req.url)
  }
  const { port, isHeld, release, waiting, admission, hold } = await holdingServer(t, { shed: QUEUE, work })
  const client = await Connection.open(port)
  const held = isHeld()
  client.send(GET('/hold') + GET('/second') + GET('/third'))
  await held
  await waiting(2)
  release()
  await client.until('/third')
  assert.deepEqual(client.received.match(/held|\/second|\/third/g), ['held', '/second', '/third'])
  const first = await hold()
  client.send(GET('/fourth') + GET('/fifth'))
  await waiting(2)
  client.reset()
  await until(() => admission().abandoned === 2)
  first.release()
  await first.answer
  await waiting(0)
  assert.equal(ran, 2)
})

test('a queued request is not run if its connection closed with the request that freed its slot', async (t) => {
  let ran = 0
  const work = (_req, res) => {
    ran++
    res.end()
  }
  const { port, isHeld, waiting, admission } = await holdingServer(t, { shed: QUEUE, work })
  const client = await Connection.open(port)
  const held = isHeld()
  client.send(GET('/hold') + GET('/second') + GET('/third'))
  await held
  await waiting(2)
  client.reset()
  await until(() => admission().abandoned === 2 || ran > 0)
  assert.equal(ran, 0)
  assert.equal(admission().inFlight, 0)
})

test('attach() and express() together decide once', async (t) => {
  let asked = 0
  const classify = () => {
    asked++
    return 'normal'
  }
  const create = (spillway, handler) =>
    spillway.attach(http.createServer(express().use(spillway.express()).use(handler)))
  const { hold, get, admission, waiting } = await holdingServer(t, { shed: { ...QUEUE, classify }, create })
  const first = await hold()
  const second = get('/')
  await waiting(1)
  first.release()
  assert.equal((await second).status, 200)
  await first.answer
  await until(() => admission().inFlight === 0)
  assert.deepEqual([asked, admission().admitted], [2, 2])
})

test('two on one server decide each for itself: the inner never gets what the outer rejects', async (t) => {
  const inner = new Spillway({ logger: false, shed: REFUSE })
  t.after(() => inner.close())
  const create = (outer, handler) => outer.attach(inner.attach(http.createServer(handler)))
  const { hold, get, admission } = await holdingServer(t, { shed: REFUSE, create })
  const first = await hold()
  assert.equal((await get('/')).status, 503)
  first.release()
  await first.answer
  assert.equal((await get('/')).status, 200)
  await until(() => inner.snapshot().admission.inFlight === 0)
  assert.deepEqual(admission().shed, [{ reason: 'concurrency', priority: 'normal', count: 1 }])
  assert.deepEqual(inner.snapshot().admission.shed, [])
  assert.equal(inner.snapshot().admission.admitted, 2)
})

test('requests that are queued at close() are rejected as closed: in the event, the metric and the snapshot', async (t) => {
  const { get, hold, waiting, spillway, admission } = await holdingServer(t, { shed: QUEUE })
  const metrics = await serve(t, spillway.handler('metrics'))
  const told = []
  spillway.on('overload', (details) => told.push(details))
  const { answer, release } = await hold()
  const others = [get('/'), get('/')]
  await waiting(2)
  spillway.close()
  for (const { status } of await Promise.all(others)) assert.equal(status, 503)
  assert.deepEqual(told, [{ reason: 'closed', value: null, bound: null }])
  const labels = { reason: 'closed', priority: 'normal' }
  assert.deepEqual(admission().shed, [{ ...labels, count: 2 }])
  const families = parse((await metrics.get('/')).body)
  assert.equal(oneValue(families, 'spillway_shed_requests_total', labels), 2)
  // A reason that is seldom one has a series only while it is.
  assert.equal(oneValue(families, 'spillway_overload', { resource: 'closed' }), 1)
  release()
  await answer
})

test('the overloaded resource is the one for which requests are rejected', async (t) => {
  const { clock, get, hold, spillway } = await holdingServer(t, { shed: REFUSE })
  const metrics = await serve(t, spillway.handler('metrics'))
  const overloaded = async () =>
    parse((await metrics.get('/')).body)
      .get('spillway_overload')
      .samples.filter(({ value }) => value > 0)
      .map(({ labels }) => labels.resource)
  assert.deepEqual(await overloaded(), [])
  clock.advance(1000)
  const { answer, release } = await hold()
  assert.equal((await get('/')).status, 503)
  assert.deepEqual(await overloaded(), ['concurrency'])
  release()
  await answer
})

test('the clock is frozen under the mock timers of node:test', (t) => {
  const path = require.resolve('../../src/core/clock')
  const { [path]: usual } = require.cache
  t.after(() => {
    require.cache[path] = usual
  })
  delete require.cache[path]
  t.mock.timers.enable()
  assert.deepEqual([systemClock.isFrozen, require(path).systemClock.isFrozen], [false, true])
})

test('where time is frozen, as with fake timers, all requests are admitted at once', async (t) => {
  const spillway = new Spillway({ logger: false, shed: QUEUE }, { ...systemClock, isFrozen: true })
  t.after(() => spillway.close())
  let arrived = 0
  const server = attached(spillway, () => arrived++).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const clients = []
  for (let i = 0; i < 3; i++) {
    clients.push(await Connection.open(server.address().port))
    clients[i].send(GET('/'))
  }
  await until(() => arrived === 3)
  for (const client of clients) client.destroy()
})

test('an OverloadError has all that a handler needs, and the client does not get the reason', () => {
  const error = new OverloadError({
    reason: 'loop',
    value: 46,
    bound: 40,
    priority: 'low',
    retryAfterSeconds: 3,
  })
  const {
    name,
    code,
    status,
    statusCode,
    expose,
    reason,
    value,
    bound,
    priority,
    retryAfterSeconds,
    headers,
  } = error
  assert.ok(error instanceof Error)
  assert.deepEqual(
    { name, code, status, statusCode, expose, reason, value, bound, priority, retryAfterSeconds, headers },
    {
      name: 'OverloadError',
      code: 'ERR_SPILLWAY_OVERLOADED',
      status: 503,
      statusCode: 503,
      expose: true,
      reason: 'loop',
      value: 46,
      bound: 40,
      priority: 'low',
      retryAfterSeconds: 3,
      headers: { 'Retry-After': '3', 'Cache-Control': 'no-store' },
    }
  )
  assert.doesNotMatch(error.message, /loop|low/)
})

describe('a queued request on a loop that nothing else wakes', () => {
  const served = async (t, shed, deadline) => {
    const server = await holdingServer(t, { shed, deadline, clock: systemClock })
    const { answer, release } = await server.hold()
    const end = async () => {
      release()
      await answer
    }
    return { ...server, end }
  }

  it('is rejected while the request that has the slot still runs', async (t) => {
    const { get, admission, end } = await served(t, { maxConcurrent: 1, maxDelay: 20, targetDelay: 20 })
    const { status } = await get('/other')
    assert.equal(status, 503)
    assert.equal(admission().inFlight, 1)
    await end()
  })

  it('is rejected at its own deadline, although no request has ended yet', async (t) => {
    const { get, admission, end } = await served(t, QUEUE, { of: () => 20 })
    assert.equal((await get('/other')).status, 503)
    assert.deepEqual(
      admission()
        .shed.filter(({ count }) => count > 0)
        .map(({ reason }) => reason),
      ['deadline']
    )
    await end()
  })
})
