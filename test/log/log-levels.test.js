'use strict'
// Normal life is info, trouble a warning, and a failure an error.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { Events } = require('../../src/core/events')
const { EVENT_LINES, shadowOverloads } = require('../../src/core/log/event-lines')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { Connection } = require('../support/connection')
const { pinoWithLines } = require('../support/lines')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const LEVELS = { 30: 'info', 40: 'warn', 50: 'error' }
const turn = () => new Promise((resolve) => setImmediate(resolve))

it('a drain that cuts no request is logged as info, with its duration rounded', async (t) => {
  const { lines, logger } = pinoWithLines()
  const spillway = spillwayFor(t, { logger })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  await get('/')
  await ended(spillway, 1)
  await spillway.drain({ timeout: 1000, delay: 0 })
  assert.deepEqual(
    lines.map(({ level, event, cut }) => [LEVELS[level], event, cut]),
    [
      ['info', 'draining', undefined],
      ['info', 'drained', 0],
    ]
  )
  assert.match(String(lines[1].durationMs), /^\d+(\.\d{1,3})?$/)
})

it('a drain that cuts requests is logged as warn', async (t) => {
  const { lines, logger } = pinoWithLines()
  const spillway = spillwayFor(t, { logger })
  const { port, server } = await serve(t, () => {})
  spillway.attach(server)
  const connection = await Connection.open(port)
  connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  while (spillway.snapshot().requests.inFlight === 0) await turn()
  await spillway.drain({ timeout: 1, delay: 0 })
  const { level, cut } = lines.find(({ event }) => event === 'drained')
  assert.deepEqual([LEVELS[level], cut], ['warn', 1])
})

it('an overload is logged as warn, and its end as info', () => {
  const { lines, logger } = pinoWithLines()
  const events = new Events(EVENT_LINES, { internalErrors: new InternalErrors(logger), logger })
  events.emit('overload', { reason: 'concurrency', value: 1, bound: 1 })
  events.emit('recovered', { reason: 'concurrency', reasons: { concurrency: 1 }, durationMs: 0, rejected: 1 })
  assert.deepEqual(
    lines.map(({ level, event }) => [LEVELS[level], event]),
    [
      ['warn', 'overload'],
      ['info', 'recovered'],
    ]
  )
})

it('a failing check is logged as warn, and its recovery as info', async (t) => {
  const { lines, logger } = pinoWithLines()
  const spillway = spillwayFor(t, { logger })
  let isThere = false
  spillway.health.check('database', () => isThere, { cache: 0 })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  assert.equal((await get('/readyz')).status, 503)
  isThere = true
  assert.equal((await get('/readyz')).status, 200)
  assert.deepEqual(
    lines.map(({ level, check, verdict, err }) => [LEVELS[level], check, verdict, err]),
    [
      ['warn', 'database', 'failed', undefined],
      ['info', 'database', 'ok', undefined],
    ]
  )
})

describe('an event', () => {
  it('has the level it was given, and its durations rounded in the line alone', () => {
    const { lines, logger } = pinoWithLines()
    const events = new Events(
      {
        ready: { level: 'info', sentence: ({ workers }) => `${workers} workers` },
        crashed: { level: 'error', sentence: () => 'crashed' },
      },
      { internalErrors: new InternalErrors(logger), logger }
    )
    const heard = []
    events.on('crashed', (details) => heard.push(details))
    events.emit('ready', { workers: 2 })
    events.emit('crashed', { uptimeMs: 51.44889599999999 })
    assert.deepEqual(
      lines.map(({ level, event, uptimeMs }) => [LEVELS[level], event, uptimeMs]),
      [
        ['info', 'ready', undefined],
        ['error', 'crashed', 51.4],
      ]
    )
    assert.deepEqual(heard, [{ uptimeMs: 51.44889599999999 }])
  })

  it('of mode observe says what would be rejected, and what would have been', () => {
    const { lines, logger } = pinoWithLines()
    const tell = shadowOverloads({
      info: (fields, message) => logger.info(fields, message),
      warn: (fields, message) => logger.warn(fields, message),
    })
    tell('overload', { reason: 'loop', value: 46, bound: 40 })
    tell('recovered', { reason: 'loop', reasons: { loop: 3 }, durationMs: 1234.5678, rejected: 3 })
    assert.deepEqual(
      lines.map(({ level, time, pid, hostname, ...line }) => [LEVELS[level], line]),
      [
        [
          'warn',
          {
            event: 'wouldShed',
            reason: 'loop',
            value: 46,
            bound: 40,
            msg: 'spillway: mode adaptive would shed requests now (loop: wait 46 ms, allowed 40 ms)',
          },
        ],
        [
          'info',
          {
            event: 'wouldHaveShed',
            reason: 'loop',
            reasons: { loop: 3 },
            durationMs: 1235,
            requests: 3,
            msg: 'spillway: mode adaptive would have shed 3 requests',
          },
        ],
      ]
    )
  })
})
