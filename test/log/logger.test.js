'use strict'
// Where the few lines go that we log.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { test } = require('node:test')
const { loggerFrom } = require('../../src/core/log/logger')
const { createSpillway } = require('../../src/index.js')
const { pinoWithLines } = require('../support/lines')
const { outsideTests } = require('../support/outside-tests')

const INDEX = path.join(__dirname, '../../src/index.js')
const LOGGER_FROM = `
  const { systemClock: clock } = require('${path.join(__dirname, '../../src/core/clock')}')
  const { loggerFrom } = require('${path.join(__dirname, '../../src/core/log/logger')}')
`

/** Runs the script in a process of its own, for pino writes to its standard output. */
function run(script) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    env: outsideTests(),
  })
  assert.equal(stderr, '')
  assert.equal(status, 0)
  return stdout
}

test('a given logger without child() is used itself', () => {
  const given = { info() {}, warn() {}, error() {} }
  assert.equal(loggerFrom(given), given)
  assert.equal(typeof loggerFrom(console).warn, 'function')
})

test('a given logger with child() gets a child with the component name', () => {
  const { lines, logger } = pinoWithLines({ base: { service: 'shop' } })
  loggerFrom(logger).warn({ event: 'overload' }, 'careful')
  const [{ time, ...line }] = lines
  assert.deepEqual(line, {
    level: 40,
    service: 'shop',
    component: 'spillway',
    event: 'overload',
    msg: 'careful',
  })
})

test("its level is the logger's own", () => {
  const { lines, logger } = pinoWithLines({ level: 'error' })
  const ours = loggerFrom(logger)
  ours.warn({}, 'unheard')
  ours.error({}, 'heard')
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['heard']
  )
})

for (const [what, child] of [
  ['throws', () => raise(new Error('no children'))],
  ['gives something else', () => ({ child: true })],
  ['gives nothing', () => undefined],
]) {
  test(`a logger whose child() ${what} is used itself`, () => {
    const given = { info() {}, warn() {}, error() {}, child }
    assert.equal(loggerFrom(given), given)
  })
}

function raise(error) {
  throw error
}

test('winston gets message and fields in one object, with errors described', () => {
  const heard = []
  /** As winston 3 does: of several arguments the first is the sentence. */
  const told =
    (level) =>
    (...given) =>
      heard.push(given.length === 1 ? { level, ...given[0] } : { level, message: given[0] })
  const winston = {
    ...{ profile() {}, configure() {}, add() {}, isLevelEnabled: (level) => level !== 'info' },
    ...{ info: told('info'), warn: told('warn'), error: told('error') },
    child: () => Object.create(winston),
  }
  const logger = loggerFrom(winston)
  const fields = Object.freeze({ event: 'draining' })
  logger.info(fields, 'one')
  logger.warn(fields, 'two')
  logger.error({ err: new RangeError('x'), place: 'metrics' }, 'three')
  const { err } = heard[2]
  assert.deepEqual(heard, [
    { level: 'info', event: 'draining', message: 'one' },
    { level: 'warn', event: 'draining', message: 'two' },
    { level: 'error', err, place: 'metrics', message: 'three' },
  ])
  assert.deepEqual([err.type, err.message], ['RangeError', 'x'])
  assert.deepEqual([logger.isLevelEnabled('info'), logger.isLevelEnabled('warn')], [false, true])
})

test('a logger without info() gets those lines by warn()', () => {
  const heard = []
  const given = {
    warn: (...line) => heard.push(['warn', ...line]),
    error: (...line) => heard.push(['error', ...line]),
  }
  const logger = loggerFrom(given)
  logger.info({ a: 1 }, 'one')
  logger.warn({ b: 2 }, 'two')
  logger.error({ c: 3 }, 'three')
  assert.deepEqual(heard, [
    ['warn', { a: 1 }, 'one'],
    ['warn', { b: 2 }, 'two'],
    ['error', { c: 3 }, 'three'],
  ])
})

test('options create a pino logger', () => {
  const lines = run(`
    ${LOGGER_FROM}
    const logger = loggerFrom({ level: 'error', messageKey: 'message', base: null }, { clock })
    logger.warn({}, 'unheard')
    logger.error({ a: 1 }, 'heard')
  `)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ time, ...line }) => line),
    [{ level: 50, component: 'spillway', a: 1, message: 'heard' }]
  )
})

test("invalid pino options throw at set-up with pino's message", () => {
  assert.throws(() => createSpillway({ logger: { level: 'loud' } }), {
    name: 'SpillwayError',
    code: 'ERR_SPILLWAY_OPTION_VALUE',
    message: /^`logger` must be an object of pino options, but pino rejects it: 'default level:loud must/,
  })
})

test('an access-log line reads as pino would write it, with and without options', () => {
  const line = {
    req: { url: '/"\\n\u2028\ud800', headers: { host: undefined } },
    gone: undefined,
    responseTime: 0.5,
  }
  // One process each: three loggers write through three destinations, in any order.
  const [own, ofOptions, renamed] = ['undefined', '{}', "{ messageKey: 'message' }"].map((option) =>
    run(`
      ${LOGGER_FROM}
      const line = () => (${JSON.stringify(line)})
      const logger = loggerFrom(${option}, { clock })
      logger.info(line(), 'request completed')
      logger.write('info', line(), 'request completed')
      logger.write('error', line(), 'request errored')
    `)
      .trim()
      .split('\n')
      .map((text) => text.replace(/"time":\d+/, '"time":0').replace(/"pid":\d+/, '"pid":1'))
  )
  assert.equal(own[1], own[0])
  assert.equal(JSON.parse(own[2]).level, 50)
  assert.deepEqual(ofOptions, own)
  assert.equal(renamed[1], renamed[0])
  assert.equal(JSON.parse(renamed[1]).message, 'request completed')
})

test('false logs nothing', () => {
  const logger = loggerFrom(false)
  assert.equal(logger.warn({}, 'unheard'), undefined)
  assert.equal(logger.error({}, 'unheard'), undefined)
})

test('by default a pino logger writes JSON with names, level, error and message', () => {
  const lines = run(`
    ${LOGGER_FROM}
    const logger = loggerFrom(undefined, { clock })
    logger.error({ err: new Error('as it should'), place: 'here' }, 'it failed')
    logger.warn({}, 'careful')
  `)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ name, component, level, msg }) => ({ name, component, level, msg })),
    [
      { name: 'spillway', component: 'spillway', level: 50, msg: 'it failed' },
      { name: 'spillway', component: 'spillway', level: 40, msg: 'careful' },
    ]
  )
  assert.equal(lines[0].err.message, 'as it should')
  assert.equal(lines[0].place, 'here')
})

test('pino is not loaded before the first line', () => {
  const loaded = run(`
    require('${INDEX}').createSpillway().close()
    console.log(Object.keys(require.cache).some((file) => /node_modules.pino./.test(file)))
  `)
  assert.equal(loaded, 'false\n')
})
