'use strict'
// What fails inside, or in a callback of the user's, is counted, logged once a place, and takes nothing else
// with it.

const assert = require('node:assert/strict')
const { ServerResponse } = require('node:http')
const { test } = require('node:test')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { settle } = require('../support/drive')
const { HOSTILE_THENABLES } = require('../support/hostile-thenables')
const { readableSpillway } = require('../support/measured')
const { serve } = require('../support/serve')

function listeningLogger() {
  const lines = []
  return { lines, warn: () => {}, error: (fields, message) => lines.push({ fields, message }) }
}

test('repeated errors in one place are logged once and counted each time', () => {
  const logger = listeningLogger()
  const internalErrors = new InternalErrors(logger)
  const errors = [new Error('first'), new Error('second'), new Error('third')]
  for (const error of errors) internalErrors.report('here', error)
  internalErrors.report('there', errors[2])
  assert.deepEqual(internalErrors.list(), [
    ['here', 3],
    ['there', 1],
  ])
  assert.deepEqual(
    logger.lines.map(({ fields: { err, place } }) => [err.message, place]),
    [
      ['first', 'here'],
      ['third', 'there'],
    ]
  )
  assert.equal(
    logger.lines[0].message,
    'spillway: caught an error in `here`. Further errors there are counted, not logged.'
  )
})

test('a logger that throws does not fail the caller', () => {
  const internalErrors = new InternalErrors({
    error() {
      throw new Error('disk full')
    },
  })
  internalErrors.report('here', new Error('no'))
  internalErrors.report('here', new Error('no'))
  assert.deepEqual(internalErrors.list(), [['here', 2]])
})

for (const [what, make] of Object.entries(HOSTILE_THENABLES)) {
  test(`${what} is counted once, and nothing is thrown`, async () => {
    const internalErrors = new InternalErrors(listeningLogger())
    assert.equal(internalErrors.catchRejection('here', make()), true)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(internalErrors.list(), [['here', 1]])
  })
}

/** Three requests through a spillway with the given options, whose answers are all to come through. */
async function measureThree(t, options, answer = (_req, res) => res.end('ok')) {
  const logger = listeningLogger()
  const { spillway, measured } = readableSpillway(t, { logger, ...options })
  const { get } = await serve(t, spillway.wrap(answer))
  for (let i = 0; i < 3; i++) assert.equal((await get('/a')).body, 'ok')
  return { logger, spillway, measured }
}

test('a routes.label that throws is logged once, and the template stands', async (t) => {
  const label = () => {
    throw new Error('no label')
  }
  const { logger, spillway, measured } = await measureThree(t, { routes: { label } })
  await settle(measured, 3)
  assert.deepEqual(
    spillway.snapshot().routes.map(({ route, sinceStart }) => [route, sinceStart.count]),
    [['(unmatched)', 3]]
  )
  assert.deepEqual(spillway.snapshot().internalErrors, { 'routes.label': 3 })
  assert.equal(logger.lines.length, 1)
  assert.equal(logger.lines[0].fields.err.message, 'no label')
})

for (const [title, returned] of [
  ['nothing', undefined],
  ['an empty string', ''],
  ['no string', 7],
  ['a promise', Promise.resolve('/x')],
]) {
  test(`a routes.label that returns ${title} leaves the template`, async (t) => {
    const { spillway, measured } = await measureThree(t, { routes: { label: () => returned } })
    await settle(measured, 3)
    assert.equal(spillway.snapshot().routes[0].route, '(unmatched)')
    assert.deepEqual(spillway.snapshot().internalErrors, {})
  })
}

test('a response whose getters throw leaves no request in flight', (t) => {
  const logger = listeningLogger()
  const { spillway } = readableSpillway(t, { logger })
  const listener = spillway.wrap((_req, res) => {
    Object.defineProperty(res, 'socket', {
      get() {
        throw new Error('ask no more')
      },
    })
  })
  const req = /** @type {any} */ ({ method: 'GET', url: '/a', socket: {} })
  const res = new ServerResponse(req)
  listener(req, res)
  assert.equal(spillway.snapshot().requests.inFlight, 1)
  res.emit('close')
  assert.equal(spillway.snapshot().requests.inFlight, 0)
  assert.deepEqual(spillway.snapshot().internalErrors, { recording: 1 })
  assert.equal(logger.lines.length, 1)
})
