'use strict'
// What becomes of an event: its line, its listeners, and what a listener throws.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Events } = require('../src/core/events')
const { EVENT_LINES } = require('../src/core/log/event-lines')
const { InternalErrors } = require('../src/core/errors/internal-errors')

function setUp() {
  const lines = []
  const write = (fields) => lines.push(fields.event ?? fields.place)
  const logger = { info: write, warn: write, error: write }
  const internalErrors = new InternalErrors(logger)
  return {
    events: new Events({ draining: EVENT_LINES.draining }, { internalErrors, logger }),
    internalErrors,
    lines,
  }
}

test('a listener that throws or rejects is reported, and the listeners after it are called', async () => {
  const { events, internalErrors, lines } = setUp()
  const seen = []
  events.on('draining', () => {
    throw new Error('thrown')
  })
  events.on('draining', async () => {
    throw new Error('rejected')
  })
  events.on('draining', (details) => seen.push(details))
  events.emit('draining', { reason: 'drain' })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(seen, [{ reason: 'drain' }])
  assert.deepEqual(internalErrors.list(), [['on draining', 2]])
  assert.deepEqual(lines, ['draining', 'on draining'])
})

test('a listener is called as often as it was added, and is removed once at a time', () => {
  const { events } = setUp()
  let calls = 0
  const listener = () => {
    calls++
    events.off('draining', listener)
  }
  for (let i = 0; i < 2; i++) events.on('draining', listener)
  events.emitWithoutLine('draining', {})
  assert.equal(calls, 2)
  events.emitWithoutLine('draining', {})
  assert.equal(calls, 2)
})

test('an unknown event, and a listener that is no function, throw at once', () => {
  const { events } = setUp()
  assert.throws(() => events.on('drain', () => {}), { code: 'ERR_SPILLWAY_UNKNOWN_EVENT' })
  assert.throws(() => events.on('draining', /** @type {any} */ (null)), { code: 'ERR_SPILLWAY_MISUSE' })
})

for (const [event, details, sentence] of [
  [
    'overload',
    { reason: 'loop', value: 46.5, bound: 40 },
    'overload (loop: wait 46.5 ms, allowed 40 ms): requests are rejected',
  ],
  ['recovered', { reason: 'loop', rejected: 12 }, 'recovered from overload (loop): 12 rejected'],
  [
    'degraded',
    { reason: 'heap', usedBytes: 900_400_000, levelBytes: 850e6 },
    'degraded: heap of 900 MB, above its level of 850 MB',
  ],
  ['draining', { reason: 'SIGTERM' }, 'draining (SIGTERM)'],
]) {
  test(`the line of '${event}' says why: a terminal shows no more than it`, () => {
    const messages = []
    const write = (_fields, message) => messages.push(message)
    const logger = { info: write, warn: write, error: write }
    new Events(EVENT_LINES, { internalErrors: new InternalErrors(logger), logger }).emit(event, details)
    assert.deepEqual(messages, [`spillway: ${sentence}`])
  })
}
