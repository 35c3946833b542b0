'use strict'
// One line an error, through a real pino.

const assert = require('node:assert/strict')
const { Writable } = require('node:stream')
const { test } = require('node:test')
const pino = require('pino')
const { ErrorLog } = require('../../src/core/errors/error-log')
const { Failure } = require('../../src/core/errors/failure')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { RequestFields } = require('../../src/core/log/request-fields')
const { FakeClock } = require('../support/fake-clock')

const fields = new RequestFields({ query: false })
const REQ = { method: 'GET', url: '/users/7?token=s3cret', headers: { host: 'x' } }

function logging(options) {
  const lines = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(chunk))
      done()
    },
  })
  const clock = new FakeClock()
  const logger = pino(options ?? {}, sink)
  const internalErrors = new InternalErrors(logger)
  return { lines, clock, internalErrors, log: new ErrorLog({ logger, clock, internalErrors, fields }) }
}

test('a line has the error, the request, the route and the trace', () => {
  const { lines, log } = logging()
  const error = new TypeError('boom', { cause: new RangeError('deep') })
  const req = { ...REQ, headers: { host: 'x', 'x-request-id': 'r-1' } }
  log.write(new Failure(error), { req, route: '/users/:id', trace: { trace_id: 't', span_id: 's' } })
  const [{ err, time, pid, hostname, ...line }] = lines
  assert.deepEqual(line, {
    level: 50,
    event: 'error',
    status: 500,
    route: '/users/:id',
    trace_id: 't',
    span_id: 's',
    req: { id: 'r-1', method: 'GET', url: '/users/7', headers: { host: 'x', 'x-request-id': 'r-1' } },
    msg: 'spillway: GET /users/:id failed with 500',
  })
  assert.deepEqual([err.type, err.message, err.causes], ['TypeError', 'boom', ['RangeError: deep']])
  assert.match(err.stack, /^TypeError: boom\n +at .*error-log\.test\.js/)
})

test('an error with a status below 500 is a warning', () => {
  const { lines, log } = logging()
  log.write(new Failure(Object.assign(new Error('x'), { status: 404 })), { req: REQ, route: '/' })
  assert.deepEqual([lines[0].level, lines[0].status], [40, 404])
})

test('an uncaught error has a status only if its request is answered', () => {
  const { lines, log } = logging()
  log.writeUncaught(new Failure(new Error('x')), { event: 'uncaughtException' })
  log.writeUncaught(new Failure(new Error('x')), {
    event: 'uncaughtException',
    req: REQ,
    method: 'GET',
    route: '/users/:id',
  })
  log.writeUncaught(new Failure(new Error('x')), {
    event: 'unhandledRejection',
    req: REQ,
    method: 'GET',
    route: '/a',
    status: 500,
  })
  assert.deepEqual(
    lines.map(({ level, event, status, route, req, msg }) => [level, event, status, route, req?.url, msg]),
    [
      [50, 'uncaughtException', undefined, undefined, undefined, 'spillway: uncaughtException'],
      [
        50,
        'uncaughtException',
        undefined,
        '/users/:id',
        '/users/7',
        'spillway: uncaughtException in GET /users/:id',
      ],
      [50, 'unhandledRejection', 500, '/a', '/users/7', 'spillway: unhandledRejection in GET /a'],
    ]
  )
  assert.equal('status' in lines[0], false)
})

test('a flood of one kind is ten lines, then one a second with the number unlogged, and hides no other kind', () => {
  const { lines, log, clock } = logging()
  const write = (type) => log.write(new Failure(Object.assign(new Error('x'), { name: type })), { req: REQ })
  for (let i = 0; i < 100; i++) write('Flood')
  assert.equal(lines.length, 10)
  write('Rare')
  assert.equal(lines.at(-1).err.type, 'Rare')
  clock.advance(999)
  write('Flood')
  assert.equal(lines.length, 11)
  clock.advance(1)
  write('Flood')
  write('Flood')
  assert.equal(lines.length, 12)
  assert.equal(lines.at(-1).unlogged, 91)
  clock.advance(3_600_000)
  for (let i = 0; i < 100; i++) write('Flood')
  assert.equal(lines.length, 22, 'an hour of silence is ten lines again, and no more')
})

test('kinds beyond the limit share one rate limit', () => {
  const { lines, log } = logging()
  for (let i = 0; i < 5000; i++)
    log.write(new Failure(Object.assign(new Error('x'), { name: `E${i}` })), { req: REQ })
  assert.equal(lines.length, 200 + 10)
})

test('an error thrown by the logger is counted and has no other effect', () => {
  const internalErrors = new InternalErrors({ error() {} })
  const logger = {
    warn() {},
    error() {
      throw new Error('disk full')
    },
  }
  const log = new ErrorLog({ logger, clock: new FakeClock(), internalErrors, fields })
  log.write(new Failure(new Error('x')), { req: REQ })
  assert.deepEqual(internalErrors.list(), [['logger', 1]])
})

test('pino serializers of the application apply to the line', () => {
  const { lines, log } = logging({ serializers: { ...pino.stdSerializers } })
  log.write(new Failure(new TypeError('boom')), { req: REQ, route: '/' })
  log.write(new Failure(null), { req: REQ, route: '/' })
  assert.deepEqual([lines[0].err.type, lines[0].err.message], ['TypeError', 'boom'])
  assert.deepEqual([lines[0].req.method, lines[0].req.url], ['GET', '/users/7'])
  assert.deepEqual([lines[1].err.type, lines[1].err.message], ['null', ''])
})

test('a request that cannot be described loses its line, and nothing else', () => {
  const { lines, log, internalErrors } = logging()
  const req = {
    ...REQ,
    get headers() {
      throw new Error('as a made-up request does')
    },
  }
  log.write(new Failure(new Error('boom')), { req, route: '/' })
  assert.equal(lines.filter(({ event }) => event === 'error').length, 0)
  assert.equal(new Map(internalErrors.list()).get('logger'), 1)
})

test('a promise of the logger that rejects is counted, and ends no process', async () => {
  const rejecting = () => Promise.reject(new Error('the collector is away'))
  const logger = /** @type {any} */ ({ warn: rejecting, error: rejecting })
  const internalErrors = new InternalErrors(logger)
  const log = new ErrorLog({ logger, clock: new FakeClock(), internalErrors, fields })
  const unhandled = []
  const onUnhandled = (error) => unhandled.push(error)
  process.on('unhandledRejection', onUnhandled)
  log.write(new Failure(new Error('boom')), { req: /** @type {any} */ (REQ), route: '/users/:id' })
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', onUnhandled)
  assert.deepEqual(unhandled, [])
  assert.deepEqual(internalErrors.list(), [['logger', 1]])
})
