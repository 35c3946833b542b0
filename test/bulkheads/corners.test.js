'use strict'
// limit() beyond plain HTTP/1 and Express: HTTP/2, Connect, timeouts, drains, async contexts, events.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const { test } = require('node:test')
const { createSpillway } = require('../../src')
const { serve } = require('../support/serve')
const { limited, until } = require('./limited')

const OPTIONS = {
  logger: false,
  shed: { mode: 'adaptive' },
  insight: { stalls: false, doctor: false, outgoing: false, warnings: false },
}

/** A listener whose every request passes the limit. */
function listening(t, given = {}) {
  const spillway = createSpillway(OPTIONS)
  t.after(() => {
    assert.deepEqual(spillway.snapshot().internalErrors, {})
    spillway.close()
  })
  const limit = spillway.limit({ name: 'all', maxConcurrent: 1, maxWait: 60_000, ...given })
  const held = []
  const listener = (req, res) => limit(req, res, () => held.push(res))
  const state = () => spillway.snapshot().bulkheads[0]
  return { spillway, limit, held, listener, state }
}

test('HTTP/2: a stream that is reset gives its slot back, whether it runs or waits', async (t) => {
  const { spillway, held, listener, state } = listening(t)
  const server = http2.createServer(listener)
  spillway.attach(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  t.after(() => {
    session.destroy()
    server.close()
  })
  const open = () => session.request({ ':path': '/' }).on('error', () => {})
  const first = open()
  await until(() => held.length === 1)
  const second = open()
  await until(() => state().queued === 1)
  const third = open()
  await until(() => state().queued === 2)
  second.close(http2.constants.NGHTTP2_CANCEL)
  await until(() => state().queued === 1)
  first.close(http2.constants.NGHTTP2_CANCEL)
  await until(() => held.length === 2)
  held[1].end('third')
  const [headers] = await once(third, 'response')
  assert.equal(headers[':status'], 200)
  third.resume()
  await until(() => state().running === 0)
  assert.deepEqual([state().admitted, state().abandoned], [2, 1])
})

test('HTTP/2: a session that closes gives all slots back', async (t) => {
  const { spillway, held, listener, state } = listening(t, { maxConcurrent: 2 })
  const server = http2.createServer(listener)
  spillway.attach(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
  for (let i = 0; i < 4; i++) session.request({ ':path': '/' }).on('error', () => {})
  await until(() => held.length === 2 && state().queued === 2)
  session.destroy()
  await until(() => state().running === 0 && state().queued === 0)
})

test('in a plain listener, behind wrap', async (t) => {
  const { spillway, held, listener, state } = listening(t, { maxQueue: 0 })
  const { get } = await serve(t, http.createServer(spillway.wrap(listener)))
  const first = get('/')
  await until(() => held.length === 1)
  assert.equal((await get('/')).status, 503)
  held[0].end('done')
  assert.equal((await first).body, 'done')
  await until(() => state().running === 0)
})

test('Connect', async (t) => {
  const { spillway, limit, held, state } = listening(t, { maxQueue: 1 })
  const app = require('connect')()
  app.use(spillway.express())
  app.use('/report', limit)
  app.use((_req, res) => held.push(res))
  const { get } = await serve(t, http.createServer(app))
  const first = get('/report')
  await until(() => held.length === 1)
  const second = get('/report')
  await until(() => state().queued === 1)
  assert.equal((await get('/report')).status, 503)
  held[0].end()
  await until(() => held.length === 2)
  held[1].end()
  assert.deepEqual([(await first).status, (await second).status], [200, 200])
})

test('a request that errors.timeout answers gives its slot back', async (t) => {
  const { get, held, state } = await limited(t, { options: { errors: { timeout: 20 } } })
  assert.equal((await get('/report')).status, 503)
  await until(() => state().running === 0)
  assert.equal(held.length, 1)
})

test('a request waits no longer than its errors.timeout', async (t) => {
  const timeout = (_req, { route }) => (route === '/report' ? 30 : undefined)
  const { app, get, held, middleware, spillway } = await limited(t, { options: { errors: { timeout } } })
  app.get('/slow', middleware, (_req, res) => held.push(res))
  const first = get('/slow')
  await until(() => held.length === 1)
  assert.equal((await get('/report')).status, 503)
  assert.equal(spillway.snapshot().bulkheads[0].rejected, 1)
  held[0].end()
  assert.equal((await first).status, 200)
  assert.equal(held.length, 1)
})

test('a drain serves those that wait', async (t) => {
  const { get, held, spillway, state } = await limited(t, { by: 'attach' })
  const first = get('/report')
  await until(() => held.length === 1)
  const second = get('/report')
  await until(() => state().queued === 1)
  const drained = spillway.drain({ delay: 0, timeout: 60_000 })
  held[0].end('first')
  await until(() => held.length === 2)
  held[1].end('second')
  assert.deepEqual([(await first).body, (await second).body], ['first', 'second'])
  assert.equal((await drained).cut, 0)
})

for (const framework of ['express', 'koa'])
  test(`${framework}: a handler that had to wait sees the async context of its request`, async (t) => {
    const storage = new AsyncLocalStorage()
    const seen = []
    const before = (app) =>
      app.use((...given) => {
        const { url } = given[0]
        const next = given.at(-1)
        return storage.run(url, next)
      })
    const { get, held, state } = await limited(t, {
      framework,
      before,
      onRun: () => seen.push(storage.getStore()),
    })
    const first = get('/report?1')
    await until(() => held.length === 1)
    const second = get('/report?2')
    await until(() => state().queued === 1)
    held[0].end()
    await until(() => held.length === 2)
    held[1].end()
    await Promise.all([first, second])
    assert.deepEqual(seen, ['/report?1', '/report?2'])
  })

test('the event of an overload and its log line name the limit and its slots', async (t) => {
  const lines = []
  const logger = { warn: (_fields, text) => lines.push(text), error() {}, info() {} }
  const { get, held, spillway } = await limited(t, { limit: { maxQueue: 0 }, options: { logger } })
  const overloads = []
  spillway.on('overload', (details) => overloads.push(details))
  const first = get('/report')
  await until(() => held.length === 1)
  await get('/report')
  assert.deepEqual(overloads, [{ reason: 'limit:report', value: 2, bound: 1 }])
  assert.ok(
    lines.some((line) => line.includes('limit:report: 2 requests for 1 slot')),
    lines.join('\n')
  )
  held[0].end()
  await first
})

test('respond and headers get the reason of the limit', async (t) => {
  const verdicts = []
  const respond = (_req, res, verdict) => {
    verdicts.push(verdict.reason)
    res.writeHead(429).end('slow down')
  }
  const { get, held } = await limited(t, { shed: { respond }, limit: { maxQueue: 0 } })
  const first = get('/report')
  await until(() => held.length === 1)
  assert.equal((await get('/report')).body, 'slow down')
  assert.deepEqual(verdicts, ['limit:report'])
  held[0].end()
  await first
})

test('a key that throws is reported, and the request waits with those without a key', async (t) => {
  const { app, get, held, spillway } = await limited(t, { internalErrors: { 'limit.key': 1 } })
  const limit = spillway.limit({
    name: 'keyed',
    maxConcurrent: 1,
    maxWait: 60_000,
    key() {
      throw new Error('not today')
    },
  })
  app.get('/keyed', limit, (_req, res) => held.push(res))
  const first = get('/keyed')
  await until(() => held.length === 1)
  const second = get('/keyed')
  await until(() => spillway.snapshot().bulkheads[1].queued === 1)
  held[0].end()
  await until(() => held.length === 2)
  held[1].end()
  assert.deepEqual([(await first).status, (await second).status], [200, 200])
})
