'use strict'
// limit() in every framework: who runs, who waits, who is rejected, and that every ending gives the slot
// back.

const assert = require('node:assert/strict')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { test } = require('node:test')
const { createSpillway } = require('../../src')
const { FRAMEWORKS, limited, until } = require('./limited')

for (const framework of FRAMEWORKS) {
  test(`${framework}: one more than the slots waits, and runs when a slot is free`, async (t) => {
    const { get, held, state } = await limited(t, { framework })
    const first = get('/report')
    await until(() => held.length === 1)
    const second = get('/report')
    await until(() => state().queued === 1)
    assert.equal((await get('/other')).body, 'other')
    held.shift().end('first')
    assert.equal((await first).body, 'first')
    await until(() => held.length === 1)
    held.shift().end('second')
    assert.equal((await second).body, 'second')
    await until(() => state().running === 0)
    const { admitted, rejected, queued } = state()
    assert.deepEqual({ admitted, rejected, queued }, { admitted: 2, rejected: 0, queued: 0 })
  })

  test(`${framework}: a full queue is 503 with the reason of the limit, and the gate forgets the request`, async (t) => {
    const { get, held, spillway, state } = await limited(t, { framework, limit: { maxQueue: 0 } })
    const first = get('/report')
    await until(() => held.length === 1)
    const { status, headers, body } = await get('/report')
    assert.equal(status, 503)
    assert.match(headers['retry-after'], /^\d+$/)
    assert.equal(JSON.parse(body).title, 'Service Unavailable')
    const { admission } = spillway.snapshot()
    assert.deepEqual(admission.shed, [{ reason: 'limit:report', priority: 'normal', count: 1 }])
    assert.equal(admission.inFlight, 1)
    const [{ at: _, ...last }] = admission.rejected
    assert.deepEqual(last, { reason: 'limit:report', priority: 'normal', value: 2, bound: 1 })
    held.shift().end()
    await first
    assert.equal(state().rejected, 1)
  })

  test(`${framework}: a request that waits for maxWait is 503`, async (t) => {
    const { get, held, state } = await limited(t, { framework, limit: { maxWait: 20 } })
    const first = get('/report')
    await until(() => held.length === 1)
    assert.equal((await get('/report')).status, 503)
    held.shift().end('done')
    assert.equal((await first).body, 'done')
    assert.equal(state().queued, 0)
  })

  test(`${framework}: a client that leaves while it is queued gives its place in the queue back`, async (t) => {
    const { get, held, port, state } = await limited(t, { framework, limit: { maxQueue: 1 } })
    const first = get('/report')
    await until(() => held.length === 1)
    const leaving = http.get({ port, path: '/report', agent: false })
    leaving.on('error', () => {})
    await until(() => state().queued === 1)
    leaving.socket.resetAndDestroy()
    await until(() => state().queued === 0)
    const third = get('/report')
    await until(() => state().queued === 1)
    held.shift().end()
    await until(() => held.length === 1)
    held.shift().end('third')
    assert.equal((await third).body, 'third')
    await first
    await until(() => state().running === 0)
    assert.deepEqual([state().admitted, state().abandoned], [2, 1])
  })

  test(`${framework}: a client that leaves while its handler runs gives the slot to the next`, async (t) => {
    const { get, held, port, state } = await limited(t, { framework })
    const leaving = http.get({ port, path: '/report', agent: false })
    leaving.on('error', () => {})
    await until(() => held.length === 1)
    const second = get('/report')
    await until(() => state().queued === 1)
    leaving.destroy()
    await until(() => held.length === 2)
    held[1].end('second')
    assert.equal((await second).body, 'second')
  })

  for (const mode of ['off', 'threshold'])
    test(`${framework}: it works with mode ${mode}`, async (t) => {
      const { get, held } = await limited(t, { framework, shed: { mode }, limit: { maxQueue: 0 } })
      const first = get('/report')
      await until(() => held.length === 1)
      assert.equal((await get('/report')).status, 503)
      held.shift().end('done')
      assert.equal((await first).body, 'done')
    })

  for (const by of ['attach', 'neither'])
    test(`${framework}: it works with ${by} instead of the middleware`, async (t) => {
      const { get, held, state } = await limited(t, { framework, by, limit: { maxQueue: 1 } })
      const first = get('/report')
      await until(() => held.length === 1)
      const second = get('/report')
      await until(() => state().queued === 1)
      assert.equal((await get('/report')).status, 503)
      held.shift().end('first')
      await until(() => held.length === 1)
      held.shift().end('second')
      assert.deepEqual([(await first).body, (await second).body], ['first', 'second'])
      await until(() => state().running === 0)
    })

  test(`${framework}: mode observe rejects nothing`, async (t) => {
    const { get, held, spillway, state } = await limited(t, {
      framework,
      shed: { mode: 'observe' },
      limit: { maxQueue: 0 },
    })
    const three = [get('/report'), get('/report'), get('/report')]
    await until(() => held.length === 3)
    for (const res of held) res.end('done')
    for (const { status } of await Promise.all(three)) assert.equal(status, 200)
    assert.equal(state().rejected, 0)
    assert.deepEqual(spillway.snapshot().admission.shed, [])
  })

  test(`${framework}: with errorMode next the error handler of the route gets the rejection`, async (t) => {
    const seen = []
    const before = (app) => {
      if (!framework.startsWith('koa')) return
      app.use(async (ctx, next) => {
        try {
          await next()
        } catch (error) {
          seen.push(error.reason)
          ctx.status = 429
          ctx.body = 'ours'
        }
      })
    }
    const shed = { errorMode: 'next' }
    const { app, get, held } = await limited(t, { framework, before, shed, limit: { maxQueue: 0 } })
    if (!framework.startsWith('koa'))
      app.use((error, _req, res, _next) => {
        seen.push(error.reason)
        res.status(429).end('ours')
      })
    const first = get('/report')
    await until(() => held.length === 1)
    const { status, body } = await get('/report')
    assert.deepEqual([status, body, seen], [429, 'ours', ['limit:report']])
    held.shift().end()
    await first
  })

  test(`${framework}: close() rejects those that wait, and lets the others pass`, async (t) => {
    const { get, held, spillway, state } = await limited(t, { framework })
    const first = get('/report')
    await until(() => held.length === 1)
    const second = get('/report')
    await until(() => state().queued === 1)
    spillway.close()
    assert.equal((await second).status, 503)
    const third = get('/report')
    await until(() => held.length === 2)
    for (const res of held) res.end('done')
    assert.deepEqual([(await first).body, (await third).body], ['done', 'done'])
  })
}

test('a half-closed client that waits is answered at once', async (t) => {
  const { get, held, port, state } = await limited(t)
  const first = get('/report')
  await until(() => held.length === 1)
  const socket = net.connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('GET /report HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await until(() => state().queued === 1)
  socket.end()
  let text = ''
  socket.setEncoding('utf8').on('data', (piece) => {
    text += piece
  })
  await once(socket, 'close')
  assert.match(text, /^HTTP\/1\.1 503 /)
  assert.equal(state().queued, 0)
  held.shift().end('done')
  assert.equal((await first).body, 'done')
})

test('a client that closes its connection while it waits counts as one that half-closes', async (t) => {
  const { get, held, port, state } = await limited(t)
  const first = get('/report')
  await until(() => held.length === 1)
  const socket = net.connect(port, '127.0.0.1')
  socket.write('GET /report HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => state().queued === 1)
  socket.destroy()
  await until(() => state().queued === 0)
  assert.deepEqual([state().rejected, state().abandoned], [1, 0])
  held.shift().end()
  await first
})

test('a limit that is made after close() lets every request run', async (t) => {
  const { app, get, held, spillway } = await limited(t)
  spillway.close()
  app.get('/late', spillway.limit({ name: 'late', maxConcurrent: 1, maxWait: 0 }), (_req, res) =>
    held.push(res)
  )
  const both = [get('/late'), get('/late')]
  await until(() => held.length === 2)
  for (const res of held) res.end()
  for (const { status } of await Promise.all(both)) assert.equal(status, 200)
})

test('pipelined requests hold a slot each until their answer is sent, and a closed connection gives all back', async (t) => {
  const { held, port, state } = await limited(t, { limit: { maxConcurrent: 2 } })
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const one = 'GET /report HTTP/1.1\r\nHost: a\r\n\r\n'
  socket.write(one + one + one)
  await until(() => held.length === 2 && state().queued === 1)
  socket.resetAndDestroy()
  await until(() => state().running === 0 && state().queued === 0)
  assert.deepEqual([held.length, state().abandoned], [2, 1])
})

test('a stream holds its slot until it ends, and a handler that throws gives it back', async (t) => {
  const { app, get, held, middleware, state } = await limited(t)
  app.get('/throws', middleware, () => {
    throw new Error('not today')
  })
  app.use((_error, _req, res, _next) => res.status(500).end())
  const first = get('/report')
  await until(() => held.length === 1)
  held[0].write('a piece')
  const second = get('/throws')
  await until(() => state().queued === 1)
  assert.equal(state().running, 1)
  held[0].end()
  assert.equal((await second).status, 500)
  await first
  await until(() => state().running === 0)
})

test('a request whose connection was handed over keeps its slot until the connection closes', async (t) => {
  const { app, middleware, port, state } = await limited(t)
  app.get('/socket', middleware, (req) => {
    req.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  })
  const socket = net.connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  await once(socket, 'data')
  assert.equal(state().running, 1)
  socket.destroy()
  await until(() => state().running === 0)
})

test('a limit on two routes bounds their sum; twice on one route it counts a request once', async (t) => {
  const { app, get, held, middleware, spillway } = await limited(t)
  app.get('/twice', middleware, middleware, (_req, res) => held.push(res))
  const first = get('/twice')
  await until(() => held.length === 1)
  const second = get('/report')
  await until(() => spillway.snapshot().bulkheads[0].queued === 1)
  held[0].end()
  await first
  await until(() => held.length === 2)
  held[1].end()
  assert.equal((await second).status, 200)
})

test('a request holds a slot in each limit on its way, and gives all back', async (t) => {
  const { app, get, held, middleware, spillway } = await limited(t)
  const inner = spillway.limit({ name: 'inner', maxConcurrent: 3 })
  app.get('/both', middleware, inner, (_req, res) => held.push(res))
  const first = get('/both')
  await until(() => held.length === 1)
  const running = () => spillway.snapshot().bulkheads.map((each) => each.running)
  assert.deepEqual(running(), [1, 1])
  held[0].end()
  await first
  await until(() => running().every((each) => each === 0))
})

test('higher classes run first, and take the place of a lower class in a full queue', async (t) => {
  const classify = (req) => req.headers['x-class'] ?? 'normal'
  const { held, request, state } = await limited(t, { shed: { classify }, limit: { maxQueue: 2 } })
  const ask = (name) => request({ path: '/report', headers: { 'x-class': name } })
  const first = ask('normal')
  await until(() => held.length === 1)
  const low = ask('low')
  await until(() => state().queued === 1)
  const normal = ask('normal')
  await until(() => state().queued === 2)
  const high = ask('high')
  assert.equal((await low).status, 503)
  const bypass = ask('bypass')
  await until(() => held.length === 2)
  held[1].end('bypass')
  assert.equal((await bypass).body, 'bypass')
  held[0].end()
  await first
  await until(() => held.length === 3)
  held[2].end('high')
  assert.equal((await high).body, 'high')
  await until(() => held.length === 4)
  held[3].end('normal')
  assert.equal((await normal).body, 'normal')
})

test('a key that floods the queue takes no place from another key', async (t) => {
  const key = (req) => req.headers['x-user']
  const { held, request, state } = await limited(t, { limit: { key, maxQueue: 3 } })
  const ask = (user) => request({ path: '/report', headers: { 'x-user': user } })
  const floods = []
  for (let i = 0; i < 4; i++) {
    floods.push(ask('flood'))
    await until(() => held.length + state().queued === i + 1)
  }
  const other = ask('other')
  const statuses = []
  for (const each of floods) each.then(({ status }) => statuses.push(status))
  await until(() => statuses.length === 1)
  assert.deepEqual(statuses, [503])
  held[0].end()
  await until(() => held.length === 2)
  held[1].end('1')
  await until(() => held.length === 3)
  held[2].end('2')
  assert.equal((await other).status, 200)
  await until(() => held.length === 4)
  held[3].end('3')
  await Promise.all(floods)
})

test('key gets the context of Koa, with what code before the limit knows', async (t) => {
  const seen = []
  const { get, held, state } = await limited(t, {
    framework: 'koa',
    limit: { key: (_req, ctx) => void seen.push(ctx.state.user) },
    before: (app) =>
      app.use((ctx, next) => {
        ctx.state.user = 'ann'
        return next()
      }),
  })
  const first = get('/report')
  await until(() => held.length === 1)
  const second = get('/report')
  await until(() => state().queued === 1)
  assert.deepEqual(seen, ['ann'])
  held[0].end()
  await until(() => held.length === 2)
  held[1].end()
  await Promise.all([first, second])
})

test('a request waits no longer than its own deadline', async (t) => {
  const deadline = { of: (req) => Number(req.headers['x-ms'] ?? 60_000) }
  const { held, request } = await limited(t, { options: { deadline } })
  const ask = (ms) => request({ path: '/report', headers: { 'x-ms': ms } })
  const first = ask(60_000)
  await until(() => held.length === 1)
  assert.equal((await ask(0)).status, 503)
  assert.equal((await ask(15)).status, 503)
  held[0].end()
  await first
})

test('all requests that wait run when the mode changes to observe: in their order, one a callback', async (t) => {
  const order = []
  const onRun = () => {
    order.push('run')
    process.nextTick(() => order.push('tick'))
  }
  const { get, held, spillway, state } = await limited(t, { onRun })
  const all = []
  for (let i = 0; i < 4; i++) {
    all.push(get(`/report?${i}`))
    await until(() => held.length + state().queued === i + 1)
  }
  spillway.update({ shed: { mode: 'observe' } })
  await until(() => held.length === 4)
  assert.deepEqual(order, ['run', 'tick', 'run', 'tick', 'run', 'tick', 'run', 'tick'])
  for (const [i, res] of held.entries()) res.end(String(i))
  assert.deepEqual(
    (await Promise.all(all)).map(({ body }) => body),
    ['0', '1', '2', '3']
  )
})

test('requests that wait go on waiting when the mode changes to off', async (t) => {
  const { get, held, spillway, state } = await limited(t)
  const all = [get('/report'), get('/report')]
  await until(() => held.length === 1 && state().queued === 1)
  spillway.update({ shed: { mode: 'off' } })
  await get('/other')
  assert.equal(state().queued, 1)
  held[0].end()
  await until(() => held.length === 2)
  held[1].end()
  for (const { status } of await Promise.all(all)) assert.equal(status, 200)
})

test('the metrics show slots, requests and waits', async (t) => {
  const { get, held, state } = await limited(t)
  const all = [get('/report'), get('/report')]
  await until(() => held.length === 1 && state().queued === 1)
  const text = (await get('/metrics')).body
  assert.match(text, /^spillway_limit_requests\{limit="report",state="running"\} 1$/m)
  assert.match(text, /^spillway_limit_requests\{limit="report",state="queued"\} 1$/m)
  assert.match(text, /^spillway_limit_slots\{limit="report"\} 1$/m)
  held[0].end()
  await until(() => held.length === 2)
  held[1].end()
  await Promise.all(all)
  await until(() => state().running === 0)
})

test('wrong use has an error that says what to write', async (t) => {
  const { middleware, spillway } = await limited(t)
  const code = 'ERR_SPILLWAY_OPTION_VALUE'
  const refuses = (given, message) => assert.throws(() => spillway.limit(given), { code, message })
  refuses({ name: 'report', maxConcurrent: 1 }, /There is a limit 'report' already/)
  refuses({ name: 'a' }, /`limit.maxConcurrent` is missing: .* with how many requests may run at a time\./)
  refuses({ maxConcurrent: 5 }, /`limit.name` is missing: .* with the name that metrics and logs show\./)
  refuses(undefined, /`limit.name` is missing/)
  refuses({ name: 'a', maxConcurrent: 0 }, /`limit.maxConcurrent` must be a whole number of at least 1/)
  refuses({ name: 'a', maxConcurrent: '5' }, /`limit.maxConcurrent` must be/)
  refuses({ name: '', maxConcurrent: 5 }, /`limit.name` must be a name/)
  refuses({ name: 'a', maxConcurrent: 5, maxWait: -1 }, /`limit.maxWait` must be/)
  refuses({ name: 'a', maxConcurrent: 5, maxQueue: 1.5 }, /`limit.maxQueue` must be/)
  refuses({ name: 'a', maxConcurrent: 5, key: 'ip' }, /`limit.key` must be a function/)
  refuses(5, /`limit` must be an object/)
  assert.throws(() => spillway.limit({ name: 'a', maxConcurent: 5 }), /maxConcurrent/)
  assert.throws(() => middleware(), /was called without `next`/)
  for (const name of ['a\nb', 'a b', 'a"b', "a'b", 'a\u202eb', 'x'.repeat(65)])
    refuses(
      { name, maxConcurrent: 5 },
      /`limit.name` must be .* visible characters without spaces and quotes/
    )
  assert.throws(() => spillway.limit({ name: 'a', maxConcurrent: 0 }), /got 0 \(number\)\.$/)
  assert.throws(() => spillway.limit('a', 7), /limit\(\{ name: 'a', maxConcurrent: 7 \}\)/)
  assert.throws(() => middleware({}, {}, () => {}), /was given an object that is not a response of Node/)
  for (const given of [{ limit: {} }, { limits: {} }])
    for (const refused of [() => createSpillway(given), () => spillway.update(given)])
      assert.throws(refused, /Write `spillway\.limit\(\{ name: 'report', maxConcurrent: 5 \}\)`/)
  for (let i = 1; i < 50; i++) spillway.limit({ name: `n${i}`, maxConcurrent: 1 })
  refuses({ name: 'more', maxConcurrent: 5 }, /There are already 50 limits/)
})

test('limit that was not called is an error in the line that registers it, in a router of Koa for each request', async (t) => {
  const { spillway } = await limited(t)
  const handler = () => {}
  const wrong = []
  for (const name of ['express', 'express-4']) {
    const express = require(name)
    wrong.push(
      () => express().use(spillway.limit),
      () => express().get('/report', spillway.limit, handler),
      () => express().route('/report').post([spillway.limit, handler]),
      () => express.Router().use(spillway.limit)
    )
  }
  for (const name of ['koa', 'koa-2']) wrong.push(() => new (require(name))().use(spillway.limit))
  const uncalled = /Call it: app\.get\(path, spillway\.limit\(/
  for (const each of wrong) assert.throws(each, { code: 'ERR_SPILLWAY_MISUSE', message: uncalled })
  assert.equal(typeof spillway.limit.name, 'string')
  // A router of Koa reads nothing of its handlers, and calls them with a context.
  assert.throws(() => spillway.limit({ req: {} }, async () => {}), uncalled)
})
