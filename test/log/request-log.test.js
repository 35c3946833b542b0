'use strict'
// Lines of slow requests through a real pino; and that no logger takes down what it is told of.

const assert = require('node:assert/strict')
const { openSync } = require('node:fs')
const { describe, it } = require('node:test')
const pino = require('pino')
const { Spillway } = require('../../src/spillway')
const { FakeClock } = require('../support/fake-clock')
const { pinoWithLines } = require('../support/lines')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function countOf(spillway, count) {
  while (spillway.snapshot().requests.sinceStart.count < count) await turn()
}

/** A server whose requests take as many milliseconds as they say, on a clock advanced by hand. */
async function timed(t, options) {
  const { lines, logger } = pinoWithLines({ base: null })
  const clock = new FakeClock()
  const given = { logger, shed: { mode: 'off' }, insight: { stalls: false, doctor: false }, ...options }
  const spillway = new Spillway(given, /** @type {any} */ (clock))
  t.after(() => spillway.close())
  const { get } = await serve(
    t,
    spillway.wrap((req, res) => {
      clock.advance(Number(req.headers['x-ms']))
      res.end()
    })
  )
  let count = 0
  return {
    lines,
    clock,
    spillway,
    async request(url, ms) {
      await get(url, { headers: { 'x-ms': ms, authorization: 's3cret' } })
      await countOf(spillway, ++count)
      clock.turn()
    },
  }
}

describe('the line of a slow request', () => {
  it('has route, status, durations, waiting times, and the request without secrets', async (t) => {
    const { lines, request } = await timed(t, { log: { slowAfter: 100 } })
    await request('/fast', 100)
    await request('/users/7?token=s3cret', 250)
    const [{ time, req, ...line }] = lines
    assert.equal(lines.length, 1)
    // A collection is real, whatever the clock of the test says.
    const { gcMs, runMs } = line.parts
    assert.equal(Math.round(gcMs + runMs), 250)
    assert.deepEqual(line, {
      level: 40,
      component: 'spillway',
      event: 'slow',
      route: '(unmatched)',
      status: 200,
      outcome: 'completed',
      durationMs: 250,
      queueMs: 0,
      firstByteMs: 250,
      loopDelayMs: 250,
      parts: { queueMs: 0, runMs, loopBusyMs: 0, gcMs, waitMs: 0, bodyMs: 0 },
      // The turn before it.
      unreadMs: 100,
      msg: 'spillway: GET (unmatched) took 250 ms',
    })
    assert.deepEqual([req.url, req.headers.authorization], ['/users/7', '[Redacted]'])
    assert.doesNotMatch(JSON.stringify(lines), /s3cret/)
  })

  it('has no parts with `insight: false`', async (t) => {
    const { lines, request } = await timed(t, { log: { slowAfter: 100 }, insight: false })
    await request('/', 250)
    assert.deepEqual(['parts' in lines[0], 'unreadMs' in lines[0], lines[0].loopDelayMs], [false, false, 250])
  })

  it('has its durations rounded', async (t) => {
    const { lines, request } = await timed(t, { log: { slowAfter: 1 } })
    await request('/', 51.44889599999999)
    const [{ durationMs, firstByteMs, loopDelayMs }] = lines
    assert.deepEqual([durationMs, firstByteMs, loopDelayMs], [51.4, 51.4, 51.4])
  })

  it('is written ten times at once, then once a second with the count of those left out', async (t) => {
    const { lines, clock, request } = await timed(t, { log: { slowAfter: 1 } })
    for (let i = 0; i < 15; i++) await request('/', 2)
    assert.equal(lines.length, 10)
    clock.advance(1000)
    await request('/', 2)
    assert.deepEqual([lines.length, lines.at(-1).unlogged], [11, 5])
  })

  it('is not written by default, while the snapshot has the slowest requests', async (t) => {
    const { lines, spillway, request } = await timed(t, {})
    await request('/a', 250)
    await request('/b', 9000)
    assert.deepEqual(lines, [])
    const [{ at, ...slowest }, second] = spillway.snapshot().slowest
    // A collection is real here too.
    const { gcMs, runMs } = slowest.parts
    assert.equal(Math.round(gcMs + runMs), 9000)
    assert.deepEqual(slowest, {
      method: 'GET',
      route: '(unmatched)',
      status: 200,
      outcome: 'completed',
      durationMs: 9000,
      queueMs: 0,
      firstByteMs: 9000,
      loopDelayMs: 9000,
      parts: { queueMs: 0, runMs, loopBusyMs: 0, gcMs, waitMs: 0, bodyMs: 0 },
      // The turn before it.
      unreadMs: 250,
      proxyMs: null,
      requestId: null,
      traceId: null,
    })
    assert.equal(second.durationMs, 250)
  })

  it('is written for the slowest requests of each minute, if configured', async (t) => {
    const { lines, clock, request } = await timed(t, { log: { slowest: 2 } })
    for (const ms of [10, 30, 20]) await request('/', ms)
    assert.deepEqual(lines, [])
    clock.advance(60_000)
    clock.turn()
    assert.deepEqual(
      lines.map(({ level, event, durationMs, msg }) => [level, event, durationMs, msg]),
      [
        [30, 'slowest', 30, "spillway: GET (unmatched) took 30 ms, number 1 of the minute's slowest"],
        [30, 'slowest', 20, "spillway: GET (unmatched) took 20 ms, number 2 of the minute's slowest"],
      ]
    )
    for (const { at, time } of lines) assert.ok(Date.parse(at) < time, 'when it had ended, a minute before')
  })

  it('is written by close() before the minute ends', async (t) => {
    const { lines, logger } = pinoWithLines()
    const clock = new FakeClock()
    const options = { logger, log: { slowAfter: 1 }, shed: { mode: 'off' } }
    const spillway = new Spillway(/** @type {any} */ (options), /** @type {any} */ (clock))
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => {
        clock.advance(5)
        res.end()
      })
    )
    await get('/')
    await countOf(spillway, 1)
    assert.equal(lines.length, 0)
    spillway.close()
    spillway.close()
    assert.equal(lines.length, 1)
  })
})

const raise = () => {
  throw new Error('disk full')
}
const reject = async () => raise()
const closed = () => {
  const destination = pino.destination({ dest: openSync('/dev/null', 'w'), sync: true })
  const logger = pino(destination)
  destination.destroy()
  return logger
}
/** Each write fails, as on a disk that is full. */
const failing = () => pino(pino.destination({ fd: openSync('/dev/null', 'r'), sync: true }))

for (const [what, make] of [
  ['throws', () => ({ info: raise, warn: raise, error: raise })],
  ['rejects, as one that sends its lines may', () => ({ info: reject, warn: reject, error: reject })],
  ['throws when asked for its level', () => ({ info() {}, warn() {}, error() {}, isLevelEnabled: raise })],
  ['is closed', closed],
  ['cannot write', failing],
]) {
  it(`a logger that ${what} is counted, and every request is answered and measured`, async (t) => {
    const spillway = spillwayFor(t, { logger: make(), log: { access: true, slowAfter: 1e-6 } })
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => res.end('ok'))
    )
    for (let i = 0; i < 3; i++) assert.equal((await get('/')).body, 'ok')
    await countOf(spillway, 3)
    const { internalErrors, requests } = spillway.snapshot()
    assert.ok(internalErrors.logger >= 3, JSON.stringify(internalErrors))
    assert.equal(requests.inFlight, 0)
  })
}

it('a logger that throws on an overload does not keep listeners from being called', async (t) => {
  const spillway = spillwayFor(t, {
    logger: { warn: raise, error() {} },
    shed: { mode: 'threshold', maxConcurrent: 1 },
  })
  const heard = []
  spillway.on('overload', (details) => heard.push(details))
  const held = []
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => held.push(res))
  )
  const first = get('/')
  while (held.length === 0) await turn()
  assert.equal((await get('/')).status, 503)
  held[0].end()
  await first
  assert.deepEqual(heard, [{ reason: 'concurrency', value: 1, bound: 1 }])
  assert.deepEqual(spillway.snapshot().internalErrors, { logger: 1 })
})
