'use strict'
// The stream of the live page by real sockets: what it says, to how many, and what a slow, a leaving or a
// strange client costs.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { hostname } = require('node:os')
const { createInterface } = require('node:readline')
const { test } = require('node:test')
const { LiveState, LiveStream, MAX_VIEWERS } = require('../../src/features/admin/live-stream')
const { serve } = require('../support/serve.js')
const { ended, spillwayFor } = require('../support/spillway.js')

const TOKEN = 'correct-horse-battery-staple'

/** Opens the stream. `next()` is its next line. */
async function watch(t, { host = '127.0.0.1', port }, { path = '/live', ...options } = {}) {
  const req = http.get({ host, port, path, agent: false, ...options })
  t.after(() => req.destroy())
  const [res] = await once(req, 'response')
  req.on('error', () => {})
  res.on('error', () => {})
  const lines = createInterface({ input: res })[Symbol.asyncIterator]()
  const next = async () => {
    const { done, value } = await lines.next()
    return done ? undefined : JSON.parse(value)
  }
  return { req, res, next, status: res.statusCode, headers: res.headers }
}

async function adminFor(t, options, given) {
  const spillway = spillwayFor(t, given)
  const address = await spillway.listen({ port: 0, maxRequestsPerSecond: 1000, ...options })
  return { spillway, address }
}

test('it begins with the history and the state, and goes on with a point a second', async (t) => {
  // On a busy machine the gate has a limit.
  const { spillway, address } = await adminFor(t, {}, { shed: { mode: 'off' } })
  const application = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  await application.get('/')
  await ended(spillway, 1)
  const { headers, next, status } = await watch(t, address)
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'application/x-ndjson; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-store')
  assert.match(headers['content-security-policy'], /^default-src 'none'/)
  // Empty, unless the machine has taken a second for all this.
  const { history: before } = await next()
  const { state } = await next()
  assert.equal(state.snapshot.requests.sinceStart.count, 1)
  assert.deepEqual(Object.keys(state), ['instance', 'process', 'snapshot', 'diagnosis', 'fleet'])
  assert.equal(state.diagnosis.healthy, null)
  assert.deepEqual([state.process.pid, state.process.host], [process.pid, hostname()])
  const { point } = await next()
  assert.equal(point.limit, null)
  assert.ok(point.rss > 0 && point.heapUsed > 0)
  // Who comes later finds what there was.
  const { history } = await (await watch(t, address)).next()
  assert.deepEqual(history.slice(0, before.length + 1), [...before, point])
})

test('a state is made once, however many look, and a timeout shorter than a second cuts no client that reads', async (t) => {
  const { address } = await adminFor(t, { timeout: 300 })
  const viewers = await Promise.all([1, 2, 3].map(() => watch(t, address)))
  const read = async ({ next }) => {
    const lines = []
    while (lines.filter(({ state }) => state !== undefined).length < 2) lines.push(await next())
    return lines
  }
  const [first, ...others] = await Promise.all(viewers.map(read))
  assert.ok(first.filter(({ point }) => point !== undefined).length >= 2)
  for (const lines of others) assert.deepEqual(lines, first)
})

test('half of the connections may look; one more is told so', async (t) => {
  const { address } = await adminFor(t, { maxConnections: 4 })
  const first = await watch(t, address)
  await watch(t, address)
  const { status, headers, res } = await watch(t, address)
  assert.deepEqual([status, headers['retry-after']], [503, '5'])
  res.resume()
  first.req.destroy()
  for (;;) {
    const again = await watch(t, address)
    if (again.status === 200) break
    again.res.resume()
    await once(again.res, 'close')
  }
})

test('close() ends the streams', async (t) => {
  const { spillway, address } = await adminFor(t)
  const { next, res } = await watch(t, address)
  await next()
  const closed = once(res, 'close')
  spillway.close()
  await closed
})

test('HEAD answers the head alone', async (t) => {
  const { address } = await adminFor(t)
  const { status, res } = await watch(t, address, { method: 'HEAD' })
  res.resume()
  await once(res, 'end')
  assert.equal(status, 200)
})

test('the stream needs the token', async (t) => {
  const { address } = await adminFor(t, { token: TOKEN })
  const without = await watch(t, address)
  assert.equal(without.status, 401)
  const { status, next } = await watch(t, address, { headers: { Authorization: `Bearer ${TOKEN}` } })
  assert.equal(status, 200)
  assert.deepEqual(await next(), { history: [] })
})

/** A stream whose seconds and timers the test makes. */
async function streamFor(t, { stateBytes = 10 } = {}) {
  const timers = new Set()
  const made = { states: 0, histories: 0 }
  const history = /** @type {any} */ ({
    dueMs: 1000,
    onPoint: undefined,
    points: () => [{ made: ++made.histories }],
  })
  const state = { isDue: () => true, line: () => `{"state":"${++made.states}${'x'.repeat(stateBytes)}"}\n` }
  const clock = {
    now: () => 0,
    after: (_ms, callback) => {
      timers.add(callback)
      return callback
    },
    cancel: (timer) => timers.delete(timer),
  }
  const stream = new LiveStream(/** @type {any} */ ({ clock, history, state }))
  /** @type {any[]} */
  const responses = []
  const server = await serve(t, (req, res) => {
    responses.push(res)
    stream.handler(req, res)
  })
  return { stream, history, timers, made, responses, server }
}

/** The response to a client that reads nothing, once the buffers of the kernel are full. */
async function fullResponse(t, { history, responses, server }) {
  const slow = await watch(t, server)
  slow.res.pause()
  const [response] = responses
  while (!response.writableNeedDrain) {
    history.onPoint({ at: 1 }, 1)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return response
}

test('a client that reads nothing misses lines: what waits for it does not grow', async (t) => {
  const { history, responses, server } = await streamFor(t, { stateBytes: 300_000 })
  const response = await fullResponse(t, { history, responses, server })
  const waiting = response.writableLength
  for (let at = 0; at < 50; at++) history.onPoint({ at }, at)
  assert.equal(response.writableLength, waiting)
  assert.ok(waiting < 1_000_000, `${waiting} bytes`)
  const quick = await watch(t, server)
  assert.ok((await quick.next()).history)
})

test('a client whose buffers stay full for half a minute is cut, however little it reads', async (t) => {
  const { history, responses, server } = await streamFor(t, { stateBytes: 300_000 })
  const response = await fullResponse(t, { history, responses, server })
  history.onPoint({ at: 2 }, 1000)
  history.onPoint({ at: 3 }, 30_999)
  assert.equal(response.destroyed, false)
  history.onPoint({ at: 4 }, 31_000)
  assert.equal(response.destroyed, true)
})

test('without a viewer there is no timer, and nothing is made', async (t) => {
  const { history, made, responses, server, timers } = await streamFor(t)
  assert.deepEqual([timers.size, made.states], [0, 0])
  const viewers = [await watch(t, server), await watch(t, server)]
  assert.equal(timers.size, 1)
  history.onPoint({ at: 1 }, 1)
  const before = made.states
  for (const { req } of viewers) req.destroy()
  await Promise.all(responses.map((res) => (res.destroyed ? undefined : once(res, 'close'))))
  assert.equal(timers.size, 0)
  history.onPoint({ at: 2 }, 2)
  assert.equal(made.states, before)
})

test(`at most ${MAX_VIEWERS} look, and after close() nobody`, async (t) => {
  const { server, stream } = await streamFor(t)
  for (let i = 0; i < MAX_VIEWERS; i++) assert.equal((await watch(t, server)).status, 200)
  assert.equal((await server.get('/')).status, 503)
  stream.close()
  const { status, body } = await server.get('/')
  assert.equal(status, 503)
  assert.match(body, /ask again later/)
})

test('a state that takes long is made less often, but each five seconds', () => {
  let nowMs = 0
  let costMs = 1
  const state = new LiveState(
    /** @type {any} */ ({
      clock: { now: () => nowMs },
      instance: 'one',
      takeSnapshot: () => {
        nowMs += costMs
        return {}
      },
      diagnose: () => ({}),
      takeFleetSnapshot: () => undefined,
    })
  )
  const nextAfter = (cost) => {
    costMs = cost
    const startMs = nowMs
    state.line(startMs)
    let ms = 0
    while (!state.isDue(startMs + ms)) ms += 10
    nowMs = startMs + ms
    return ms
  }
  assert.equal(nextAfter(1), 2000)
  assert.equal(nextAfter(15), 3000)
  assert.equal(nextAfter(400), 5000)
})

test('the workers of a fleet come with the next state, and an error of theirs is reported', async () => {
  const reported = []
  const fleet = {
    workers: [{ worker: 1 }],
    requests: { lastMinute: { count: 10 }, sinceStart: { count: 30 } },
    shed: 4,
    routes: [{ gaveUp: { lastMinute: 2 } }, { gaveUp: { lastMinute: 1 } }],
  }
  let answer = () => Promise.resolve(fleet)
  const state = new LiveState(
    /** @type {any} */ ({
      clock: { now: () => 0 },
      instance: 'one',
      takeSnapshot: () => ({}),
      diagnose: () => ({}),
      takeFleetSnapshot: () => answer(),
      internalErrors: { report: (place, error) => reported.push([place, error.message]) },
    })
  )
  const fleetAt = (nowMs) => JSON.parse(state.line(nowMs)).state.fleet
  assert.equal(fleetAt(0), null)
  await new Promise((resolve) => setImmediate(resolve))
  const { routes: _, ...shown } = fleet
  assert.deepEqual(fleetAt(3000), { ...shown, lastMinute: { gaveUpRatio: 0.3, shedRatio: null } })
  answer = () => Promise.reject(new Error('no answer'))
  fleetAt(6000)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(reported, [['live', 'no answer']])
})
