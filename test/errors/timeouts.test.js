'use strict'
// errors.timeout: who is answered in the stead of a handler, when, with what, and what the handler's late
// answer does.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const { describe, it } = require('node:test')
const { Spillway } = require('../../src/spillway')
const { Connection } = require('../support/connection')
const { handClock } = require('../support/hand-clock')
const { outcomesOf } = require('../support/outcomes')
const { serve } = require('../support/serve')
const { ended } = require('../support/spillway')

/** How often the timeouts are checked. */
const CHECK_MS = 100
const TIMEOUT_MS = 1000
const never = () => {}

/**
 * A spillway on a clock moved by hand around a listener, and a promise of the nth request its handler was
 * given.
 */
async function timed(t, errors, listener = never, options = {}) {
  const clock = handClock()
  const logged = []
  const logger = {
    warn: (fields, msg) => logged.push({ ...fields, msg }),
    error: (fields) => logged.push(fields),
  }
  const spillway = new Spillway(
    { logger, errors, shed: { mode: 'off' }, insight: false, ...options },
    /** @type {any} */ (clock)
  )
  t.after(() => spillway.close())
  const arrivals = []
  let arrived = never
  const server = http.createServer((req, res) => {
    arrivals.push({ req, res })
    arrived()
    listener(req, res)
  })
  const served = await serve(t, spillway.attach(server))
  const entered = async (count = 1) => {
    while (arrivals.length < count) await new Promise((resolve) => (arrived = resolve))
    return arrivals[count - 1]
  }
  return { ...served, clock, entered, logged, spillway }
}

describe('errors.timeout', () => {
  it('answers a request whose handler does not answer in time, and counts it as timed out', async (t) => {
    const { clock, entered, get, logged, spillway } = await timed(t, { timeout: TIMEOUT_MS })
    const answer = get('/a')
    await entered()
    clock.pass(TIMEOUT_MS - 1)
    assert.equal(spillway.snapshot().oldest.length, 1)
    clock.pass(100)
    const { status, headers, body } = await answer
    assert.equal(status, 503)
    assert.equal(headers['content-type'], 'application/problem+json')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers.connection, 'close')
    assert.deepEqual(JSON.parse(body), {
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      detail: 'No answer in time.',
    })
    const snapshot = await ended(spillway, 1)
    assert.deepEqual(outcomesOf(snapshot), { 'GET (unmatched) timed_out': 1 })
    assert.equal(snapshot.requests.sinceStart.errorRatio, 1)
    assert.deepEqual(
      logged.map(({ event, count, method, route, msg }) => ({ event, count, method, route, msg })),
      [
        {
          event: 'timeout',
          count: 1,
          method: 'GET',
          route: null,
          msg: 'spillway: GET (unmatched) did not answer in time, so spillway answered',
        },
      ]
    )
  })

  it('says of several at once how many there are', async (t) => {
    const { clock, entered, get, logged } = await timed(t, { timeout: TIMEOUT_MS })
    const answers = [get('/a'), get('/b'), get('/c')]
    await entered(3)
    clock.pass(TIMEOUT_MS + 100)
    await Promise.all(answers)
    assert.deepEqual(
      logged.map(({ count, msg }) => [count, msg]),
      [[3, 'spillway: GET (unmatched) and 2 others did not answer in time, so spillway answered']]
    )
  })

  it('answers with the configured 504, with text to a client that wants text, and to HEAD without a body', async (t) => {
    const { clock, entered, request } = await timed(t, { timeout: TIMEOUT_MS, timeoutStatus: 504 })
    const answers = [
      request({ path: '/a', headers: { Accept: 'text/plain' } }),
      request({ path: '/a', method: 'HEAD' }),
    ]
    await entered(2)
    clock.pass(TIMEOUT_MS + 100)
    const [text, head] = await Promise.all(answers)
    assert.equal(text.status, 504)
    assert.equal(text.body, 'Gateway Timeout: No answer in time.\n')
    assert.equal(head.status, 504)
    assert.equal(head.body, '')
    assert.ok(Number(head.headers['content-length']) > 0)
  })

  it('leaves a response alone that has begun, however long it takes', async (t) => {
    const { clock, entered, get, spillway } = await timed(t, { timeout: TIMEOUT_MS }, (_req, res) =>
      res.write('a')
    )
    const answer = get('/a')
    const { res } = await entered()
    clock.pass(10 * TIMEOUT_MS)
    res.end('b')
    assert.equal((await answer).body, 'ab')
    assert.deepEqual(outcomesOf(await ended(spillway, 1)), { 'GET (unmatched) completed': 1 })
  })

  it('arms no timer while no request waits for its answer, and none without the option', async (t) => {
    const on = await timed(t, { timeout: TIMEOUT_MS }, (_req, res) => res.write('a'))
    assert.equal(on.clock.armed(CHECK_MS), 0)
    const answer = on.get('/a')
    const { res } = await on.entered()
    on.clock.pass(100)
    assert.equal(on.clock.armed(CHECK_MS), 0)
    const other = on.get('/b')
    const second = await on.entered(2)
    assert.equal(on.clock.armed(CHECK_MS), 1)
    for (const each of [res, second.res]) each.end()
    await Promise.all([answer, other])
    await ended(on.spillway, 2)
    on.clock.pass(100)
    assert.equal(on.clock.armed(CHECK_MS), 0)

    const off = await timed(t, {}, (_req, res) => res.end())
    await off.get('/a')
    assert.equal(off.clock.armed(CHECK_MS), 0)
  })

  it('may be a function of route and class; if it returns undefined there is no timeout', async (t) => {
    const asked = []
    const timeout = (req, about) => {
      asked.push([req.url, about])
      return req.url === '/slow' ? undefined : TIMEOUT_MS
    }
    const { clock, entered, get } = await timed(t, { timeout })
    const slow = get('/slow')
    const { res } = await entered()
    const other = get('/other')
    await entered(2)
    clock.pass(5 * TIMEOUT_MS)
    assert.equal((await other).status, 503)
    res.end('at last')
    assert.equal((await slow).body, 'at last')
    assert.deepEqual(asked[0], ['/slow', { route: null, priority: 'normal' }])
  })

  for (const [what, timeout] of [
    ['throws', () => assert.fail('a rule gone wrong')],
    ['gives no number', () => 'soon'],
    ['gives a number as text', () => String(TIMEOUT_MS)],
    ['gives 0', () => 0],
    ['gives a negative number', () => -1],
    ['gives NaN', () => Number.NaN],
    ['gives false', () => false],
  ]) {
    it(`a function that ${what} is reported once, and its requests have no timeout`, async (t) => {
      const { clock, entered, get, spillway } = await timed(t, { timeout })
      const answer = get('/a')
      const { res } = await entered()
      clock.pass(10 * TIMEOUT_MS)
      res.end('late')
      assert.equal((await answer).body, 'late')
      assert.ok(spillway.snapshot().internalErrors['errors.timeout'] > 1)
    })
  }

  for (const [what, ruin] of /** @type {[string, (res: any) => void][]} */ ([
    ['`destroy`', (res) => Object.assign(res, { destroy: () => assert.fail('destroy gone wrong') })],
    [
      '`headersSent`',
      (res) => Object.defineProperty(res, 'headersSent', { get: () => assert.fail('gone wrong') }),
    ],
  ])) {
    it(`a response whose ${what} throws is cut off, and the next request still gets its timeout`, async (t) => {
      const { clock, entered, get, spillway } = await timed(t, { timeout: TIMEOUT_MS })
      const ruined = get('/a')
      const { res } = await entered()
      // The substitute answer must fail before the response is destroyed.
      Object.defineProperty(res, 'writeHead', { value: () => {}, configurable: false })
      ruin(res)
      clock.pass(TIMEOUT_MS + 100)
      await assert.rejects(ruined)
      const next = get('/b')
      await entered(2)
      clock.pass(TIMEOUT_MS + 100)
      assert.equal((await next).status, 503)
      assert.ok(spillway.snapshot().internalErrors['errors.timeout'] > 0)
    })
  }

  it('gives the slot to the next queued request', async (t) => {
    const shed = /** @type {const} */ ({ mode: 'adaptive', maxConcurrent: 1 })
    const { clock, entered, get, spillway } = await timed(t, { timeout: TIMEOUT_MS }, never, { shed })
    const first = get('/a')
    await entered()
    assert.equal(spillway.snapshot().admission.inFlight, 1)
    clock.pass(TIMEOUT_MS + 100)
    assert.equal((await first).status, 503)
    while (spillway.snapshot().admission.inFlight > 0) await new Promise((resolve) => setImmediate(resolve))
    const second = get('/b')
    const { res } = await entered(2)
    res.end('in')
    assert.equal((await second).body, 'in')
  })

  it('does not time out queued requests: the gate owns their wait', async (t) => {
    const shed = /** @type {const} */ ({
      mode: 'adaptive',
      maxConcurrent: 1,
      maxDelay: 1e6,
      targetDelay: 1e6,
    })
    const begin = (_req, res) => res.write('a')
    const { clock, entered, get, spillway } = await timed(t, { timeout: TIMEOUT_MS }, begin, { shed })
    const first = get('/a')
    const { res } = await entered()
    const second = get('/b')
    while (spillway.snapshot().admission.queued === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(spillway.snapshot().oldest[0].state, 'queued')
    clock.pass(2 * TIMEOUT_MS)
    res.end('done')
    await first
    const next = await entered(2)
    next.res.end('done too')
    assert.equal((await second).status, 200)
  })

  it('keeps the headers of the response, except those of the missing body', async (t) => {
    const { clock, entered, get } = await timed(t, { timeout: TIMEOUT_MS }, (_req, res) => {
      res.setHeader('Content-Encoding', 'gzip')
      res.setHeader('Content-Length', 5)
      res.setHeader('ETag', '"a"')
      res.setHeader('Cache-Control', 'max-age=60')
      res.setHeader('Content-Security-Policy', "default-src 'none'")
      res.setHeader('Access-Control-Allow-Origin', '*')
    })
    const answer = get('/a')
    await entered()
    clock.pass(TIMEOUT_MS + 100)
    const { headers, body } = await answer
    assert.equal(JSON.parse(body).status, 503)
    assert.equal(headers['content-encoding'], undefined)
    assert.equal(headers.etag, undefined)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['content-security-policy'], "default-src 'none'")
    assert.equal(headers['access-control-allow-origin'], '*')
  })

  it("does not wait for a middleware's wrapper of the response", async (t) => {
    const { clock, entered, get } = await timed(t, { timeout: TIMEOUT_MS }, (_req, res) => {
      for (const name of ['end', 'write', 'writeHead', 'setHeader']) res[name] = () => assert.fail('asked')
    })
    const answer = get('/a')
    await entered()
    clock.pass(TIMEOUT_MS + 100)
    assert.equal((await answer).status, 503)
  })

  it('a request of a disconnected client is aborted, and a client that still uploads is answered', async (t) => {
    const { clock, entered, port, spillway } = await timed(t, { timeout: TIMEOUT_MS })
    const left = await Connection.open(port)
    left.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    await entered()
    left.destroy()
    const uploading = await Connection.open(port)
    uploading.send('POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\npart')
    await entered(2)
    while (spillway.snapshot().oldest.length > 1) await new Promise((resolve) => setImmediate(resolve))
    clock.pass(TIMEOUT_MS + 100)
    await uploading.until('503 Service Unavailable')
    await uploading.untilClosed()
    assert.deepEqual(outcomesOf(await ended(spillway, 2)), {
      'GET (unmatched) aborted': 1,
      'POST (unmatched) timed_out': 1,
    })
  })

  it('an HTTP/2 upload under way does not keep its stream open', async (t) => {
    const clock = handClock()
    const options = { logger: /** @type {const} */ (false), errors: { timeout: TIMEOUT_MS } }
    const spillway = new Spillway(options, /** @type {any} */ (clock))
    t.after(() => spillway.close())
    const server = spillway.attach(http2.createServer((req) => req.resume()))
    const { port } = await serve(t, server)
    const client = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => client.destroy())
    const upload = client.request({ ':method': 'POST', ':path': '/a' })
    upload.write('part')
    await once(server, 'request')
    clock.pass(TIMEOUT_MS + 100)
    const [headers] = await once(upload, 'response')
    assert.equal(headers[':status'], 503)
    upload.resume()
    assert.deepEqual(outcomesOf(await ended(spillway, 1)), { 'POST (unmatched) timed_out': 1 })
  })

  it('pipelined requests end once each', async (t) => {
    const { clock, entered, port, spillway } = await timed(t, { timeout: TIMEOUT_MS })
    const connection = await Connection.open(port)
    connection.send('GET /a HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
    await entered(3)
    clock.pass(TIMEOUT_MS + 100)
    await connection.untilClosed()
    const { routes, requests } = await ended(spillway, 3)
    assert.equal(requests.inFlight, 0)
    assert.equal(routes[0].outcomes.timed_out, 3)
    assert.equal(connection.received.split('HTTP/1.1 503').length - 1, 1)
  })

  it('two instances: the first to find it answers, and both count it once', async (t) => {
    const one = handClock()
    const other = handClock()
    const options = { logger: /** @type {const} */ (false), errors: { timeout: TIMEOUT_MS } }
    const spillways = [one, other].map((clock) => new Spillway(options, /** @type {any} */ (clock)))
    t.after(() => spillways.forEach((each) => void each.close()))
    const server = http.createServer(never)
    for (const each of spillways) each.attach(server)
    const { get } = await serve(t, server)
    const answer = get('/a')
    await once(server, 'request')
    one.pass(TIMEOUT_MS + 100)
    other.pass(TIMEOUT_MS + 100)
    assert.equal((await answer).status, 503)
    for (const each of spillways) {
      assert.deepEqual(outcomesOf(await ended(each, 1)), { 'GET (unmatched) timed_out': 1 })
    }
  })

  it('after close() no request is answered', async (t) => {
    const { clock, entered, get, spillway } = await timed(t, { timeout: TIMEOUT_MS })
    const answer = get('/a')
    const { res } = await entered()
    spillway.close()
    clock.pass(10 * TIMEOUT_MS)
    assert.equal(clock.armed(CHECK_MS), 0)
    res.end('own')
    assert.equal((await answer).body, 'own')
  })
})
