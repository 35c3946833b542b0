'use strict'
// `log.access` as an object: further fields, another level, and requests without a line, as pino-http knows
// them.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const express = require('express')
const { HOSTILE_THENABLES } = require('../support/hostile-thenables')
const { pinoWithLines } = require('../support/lines')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const raise = () => {
  throw new Error('as a function of a user does')
}

/** The lines of requests for these paths, whose last number is their status. */
async function linesOf(t, access, paths, options) {
  const { lines, logger } = pinoWithLines({ base: null, level: 'trace' })
  const spillway = spillwayFor(t, { logger, log: { access }, ...options })
  const app = express()
  app.use(spillway.express())
  app.use((req, _res, next) => {
    req.user = { id: 7 }
    next()
  })
  app.use('/api', (req, res) => {
    res.locals.cached = true
    res.status(Number.parseInt(req.url.slice(1), 10)).end()
  })
  app.use(spillway.errorHandler())
  const { get } = await serve(t, app)
  for (const path of paths) await get(path)
  const { internalErrors } = await ended(spillway, paths.length)
  return {
    access: lines.filter(({ place }) => place === undefined),
    faults: lines.filter(({ place }) => place !== undefined),
    internalErrors,
  }
}

const LEVELS = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }

describe('log.access.fields', () => {
  it('adds its fields to the line, and sees request and response as middlewares left them', async (t) => {
    const fields = (req, res) => ({ user: req.user.id, cached: res.locals.cached })
    const { access } = await linesOf(t, { fields }, ['/api/200', '/api/500'])
    assert.deepEqual(
      access.map(({ user, cached, msg }) => [user, cached, msg]),
      [
        [7, true, 'request completed'],
        [7, true, 'request errored'],
      ]
    )
  })

  it('cannot change the fields of the line', async (t) => {
    const fields = () => ({ req: 'mine', res: 'mine', responseTime: 'mine', route: 'mine', extra: 1 })
    const { access } = await linesOf(t, { fields }, ['/api/200'])
    const [{ req, res, responseTime, route, extra }] = access
    assert.deepEqual([req.url, res.statusCode, route, extra], ['/api/200', 200, '/api', 1])
    assert.equal(typeof responseTime, 'number')
  })

  it('cannot change the fields of the logger', async (t) => {
    const fields = () => ({ level: 99, time: 'noon', component: 'mine', extra: 1 })
    const { access } = await linesOf(t, { fields }, ['/api/200'])
    const [{ level, time, component, extra }] = access
    assert.deepEqual([level, typeof time, component, extra], [30, 'number', 'spillway', 1])
  })

  it('may return nothing', async (t) => {
    const { access, internalErrors } = await linesOf(t, { fields: () => undefined }, ['/api/200'])
    assert.deepEqual([access.length, internalErrors], [1, {}])
  })

  for (const [what, fields, message] of [
    ['throws', raise, 'as a function of a user does'],
    ['returns a text', () => 'mine', 'it must return an object, but returned string'],
    ['returns a promise', async () => ({}), 'it must return an object, but returned a promise'],
    [
      'returns what throws when it is read',
      () => ({
        get a() {
          return raise()
        },
      }),
      'as a function of a user does',
    ],
  ]) {
    it(`that ${what} does not suppress the line, is counted, and is reported once`, async (t) => {
      const { access, faults, internalErrors } = await linesOf(t, { fields }, ['/api/200', '/api/200'])
      assert.equal(access.length, 2)
      assert.deepEqual(
        faults.map(({ place, err }) => [place, err.message]),
        [['log.access.fields', message]]
      )
      assert.deepEqual(internalErrors, { 'log.access.fields': 2 })
    })
  }
})

describe('log.access.level', () => {
  it('gives a line another level, and leaves the others', async (t) => {
    const names = { '/api/200': 'debug', '/api/404': 'info', '/api/500': 'fatal', '/api/204': 'silent' }
    const level = (req) => names[req.originalUrl]
    const paths = [...Object.keys(names), '/api/503']
    const { access } = await linesOf(t, { level }, paths)
    assert.deepEqual(
      access.map((line) => [line.req.url, LEVELS[line.level]]),
      [
        ['/api/200', 'debug'],
        ['/api/404', 'info'],
        ['/api/500', 'fatal'],
        ['/api/503', 'error'],
      ]
    )
  })

  it('is called for rejected requests too', async (t) => {
    const { lines, logger } = pinoWithLines()
    const spillway = spillwayFor(t, {
      logger,
      log: { access: { level: (_req, res) => (res.statusCode === 503 ? 'error' : undefined) } },
      shed: { mode: 'threshold', maxConcurrent: 1 },
    })
    const held = []
    const { get } = await serve(
      t,
      spillway.wrap((_req, res) => held.push(res))
    )
    const first = get('/first')
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal((await get('/second')).status, 503)
    held[0].end()
    await first
    await ended(spillway, 1)
    const rejected = lines.find(({ msg }) => msg === 'request rejected')
    assert.equal(LEVELS[rejected.level], 'error')
  })

  for (const [what, level, message] of [
    ['throws', raise, 'as a function of a user does'],
    ['is no level', () => 'loud', "'loud' is not a level of this logger; the line keeps its usual level"],
    [
      'is a member of a logger and no level',
      () => 'child',
      "'child' is not a level of this logger; the line keeps its usual level",
    ],
    ['is a number', () => 30, 'it returned number; the line keeps its usual level'],
    ['is a promise', async () => 'info', 'it returned object; the line keeps its usual level'],
  ]) {
    it(`that ${what} keeps the usual level, is counted, and is reported once`, async (t) => {
      const { access, faults, internalErrors } = await linesOf(t, { level }, ['/api/404', '/api/200'])
      assert.deepEqual(
        access.map((line) => LEVELS[line.level]),
        ['warn', 'info']
      )
      assert.deepEqual(
        faults.map(({ place, err }) => [place, err.message]),
        [['log.access.level', message]]
      )
      assert.deepEqual(internalErrors, { 'log.access.level': 2 })
    })
  }

  it('that the logger does not have keeps the usual level', async (t) => {
    const lines = []
    const write = (level) => (fields, message) => lines.push([level, fields.place ?? message])
    const logger = { info: write('info'), warn: write('warn'), error: write('error') }
    await linesOf(t, { level: () => 'debug' }, ['/api/200'], { logger })
    assert.deepEqual(lines, [
      ['error', 'log.access.level'],
      ['info', 'request completed'],
    ])
  })
})

describe('log.access.ignore', () => {
  it('leaves out what a list names', async (t) => {
    const ignore = ['/api/204', /^\/api\/40/, (req) => req.originalUrl === '/api/500']
    const paths = ['/api/200', '/api/204?a', '/api/404', '/api/500', '/api/503']
    const { access } = await linesOf(t, { ignore }, paths)
    assert.deepEqual(
      access.map(({ req }) => req.url),
      ['/api/200', '/api/503']
    )
  })

  it('leaves out by the answer, as `skip` of morgan', async (t) => {
    const ignore = (_req, res) => res.statusCode < 400
    const { access } = await linesOf(t, { ignore }, ['/api/200', '/api/404', '/api/204'])
    assert.deepEqual(
      access.map(({ req }) => req.url),
      ['/api/404']
    )
  })

  it('leaves out what a function names', async (t) => {
    const { access } = await linesOf(t, { ignore: (req) => req.user.id === 7 }, ['/api/200'])
    assert.deepEqual(access, [])
  })

  for (const [what, ignore, message] of [
    ['throws', raise, 'as a function of a user does'],
    ['returns a promise', async () => true, 'it returned a promise instead of true or false'],
  ]) {
    it(`that ${what} ignores nothing, is counted, and is reported once`, async (t) => {
      const { access, faults, internalErrors } = await linesOf(t, { ignore }, ['/api/200', '/api/200'])
      assert.equal(access.length, 2)
      assert.deepEqual(
        faults.map(({ place, err }) => [place, err.message]),
        [['log.access.ignore', message]]
      )
      assert.deepEqual(internalErrors, { 'log.access.ignore': 2 })
    })
  }
})

for (const option of ['fields', 'level', 'ignore']) {
  for (const [what, make] of Object.entries(HOSTILE_THENABLES)) {
    it(`log.access.${option} that returns ${what} does not suppress the line, and is reported once`, async (t) => {
      const { access, faults } = await linesOf(t, { [option]: make }, ['/api/200', '/api/200'])
      assert.equal(access.length, 2)
      assert.deepEqual(
        faults.map(({ place }) => place),
        [`log.access.${option}`]
      )
    })
  }
}

it('log.access.fields that returns an object with one-time getters does not suppress the line', async (t) => {
  let reads = 0
  const fields = () => {
    reads = 0
    return Object.defineProperty({}, 'then', {
      get: () => (reads++ === 0 ? () => {} : raise()),
    })
  }
  const { access, faults } = await linesOf(t, { fields }, ['/api/200'])
  assert.deepEqual(
    [access.length, faults.map(({ err }) => err.message)],
    [1, ['it must return an object, but returned a promise']]
  )
})
