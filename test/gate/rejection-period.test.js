'use strict'
// Overloads as a user is told of them: one event when one begins and one when it is over, with one log line
// each.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Cause } = require('../../src/core/gate/decision')
const { Spillway } = require('../../src/spillway')
const { DrivenAdmission } = require('./driven-admission')
const { REFUSE, holdingServer } = require('./holding-server')

const NO_FIGURES = new Cause()

/** Refuses `count`, one a step. */
function refuse(driven, count, stepMs) {
  for (let i = 0; i < count; i++) {
    if (i > 0) driven.clock.advance(stepMs)
    driven.clock.fire()
    driven.ask()
  }
}

function overloaded() {
  const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 1 })
  driven.ask()
  return driven
}

test('an overload lasts from its first rejection to its last, and ends after ten seconds without a rejection', () => {
  const driven = overloaded()
  refuse(driven, 5, 10)
  assert.deepEqual(driven.told, [['overload', { reason: 'concurrency', value: 1, bound: 1 }]])
  assert.equal(driven.admission.sample().isOverloaded, true)
  assert.equal(driven.admission.sample().overloadedBy, 'concurrency')
  driven.clock.advance(9999)
  driven.clock.fire()
  assert.equal(driven.told.length, 1)
  driven.clock.advance(1)
  driven.clock.fire()
  assert.deepEqual(driven.told[1], [
    'recovered',
    { reason: 'concurrency', reasons: { concurrency: 5 }, durationMs: 40, rejected: 5 },
  ])
  assert.equal(driven.admission.sample().isOverloaded, false)
  assert.equal(driven.admission.sample().overloadedBy, undefined)
})

test('the overloaded resource is the reason of the last rejection, not of the first', () => {
  const { admission, clock } = overloaded()
  for (const reason of ['concurrency', 'loop'])
    admission.rejectionPeriod.record(reason, clock.now(), NO_FIGURES)
  assert.equal(admission.sample().overloadedBy, 'loop')
})

test('the limit of a route does not say that the process is full; any other reason does for ten seconds', () => {
  const { admission, clock } = overloaded()
  const { rejectionPeriod } = admission
  const record = (reason) => rejectionPeriod.record(reason, clock.now(), NO_FIGURES)
  record('limit:report')
  assert.deepEqual([rejectionPeriod.isOn, rejectionPeriod.mayBeFull], [true, false])
  record('loop')
  for (const [ms, mayBeFull] of /** @type {const} */ ([
    [0, true],
    [9999, true],
    [1, false],
  ])) {
    clock.advance(ms)
    record('limit:report')
    assert.deepEqual([rejectionPeriod.isOn, rejectionPeriod.mayBeFull], [true, mayBeFull])
  }
})

test('when the overload ends, its reason is the most frequent one, and each reason has its count', () => {
  const { admission, clock, told } = overloaded()
  for (const reason of ['memory', 'loop', 'concurrency', 'loop', 'loop', 'concurrency']) {
    clock.advance(10)
    admission.rejectionPeriod.record(reason, clock.now(), NO_FIGURES)
  }
  clock.advance(10_000)
  clock.fire()
  assert.deepEqual(told, [
    ['overload', { reason: 'memory', value: null, bound: null }],
    [
      'recovered',
      { reason: 'loop', reasons: { loop: 3, concurrency: 2, memory: 1 }, durationMs: 50, rejected: 6 },
    ],
  ])
})

test('the next overload begins with counts of its own', () => {
  const { admission, clock, told } = overloaded()
  for (const reason of ['memory', 'loop']) {
    admission.rejectionPeriod.record(reason, clock.now(), NO_FIGURES)
    clock.advance(10_000)
    clock.fire()
  }
  assert.deepEqual(told.at(-1), [
    'recovered',
    { reason: 'loop', reasons: { loop: 1 }, durationMs: 0, rejected: 1 },
  ])
})

test('the number and the total length of overloads are counted, up to the last rejection', () => {
  const driven = overloaded()
  const counted = () => {
    const { overloads, overloadedMs } = driven.admission.sample()
    return { overloads, overloadedMs }
  }
  assert.deepEqual(counted(), { overloads: 0, overloadedMs: 0 })
  refuse(driven, 5, 10)
  assert.deepEqual(counted(), { overloads: 1, overloadedMs: 40 })
  driven.clock.advance(20_000)
  driven.clock.fire()
  assert.deepEqual(counted(), { overloads: 1, overloadedMs: 40 })
  driven.end(driven.ask())
  driven.ask()
  refuse(driven, 2, 7)
  assert.deepEqual(counted(), { overloads: 2, overloadedMs: 47 })
})

test('rejections less than ten seconds apart are one overload, others are separate ones', () => {
  const driven = overloaded()
  for (const waitMs of [0, 9000, 9000, 11_000, 50_000]) {
    driven.clock.advance(waitMs)
    driven.clock.fire()
    driven.end(driven.ask())
    driven.ask()
  }
  driven.clock.advance(10_000)
  driven.clock.fire()
  assert.deepEqual(
    driven.told.map(([event]) => event),
    ['overload', 'recovered', 'overload', 'recovered', 'overload', 'recovered']
  )
})

test('each overload is an event and a line of the log, and a listener that throws does no harm', async (t) => {
  const lines = []
  const events = []
  const logger = {
    warn: (fields, message) => lines.push([message, fields.event]),
    error: ({ place }) => lines.push(place),
  }
  const { hold, get, spillway } = await holdingServer(t, { shed: REFUSE, logger })
  spillway.on('overload', (details) => {
    events.push(details)
    throw new Error('of a listener')
  })
  const first = await hold()
  for (let i = 0; i < 3; i++) assert.equal((await get('/')).status, 503)
  first.release()
  await first.answer
  assert.deepEqual(events, [{ reason: 'concurrency', value: 1, bound: 1 }])
  assert.deepEqual(lines, [
    ['spillway: overload (concurrency: 1 of 1 in flight): requests are rejected', 'overload'],
    'on overload',
  ])
})

test('an async listener or logger that rejects does not end the process', async (t) => {
  const fail = async () => {
    throw new Error('of a listener')
  }
  const { hold, get, spillway } = await holdingServer(t, {
    shed: REFUSE,
    logger: { warn: fail, error: fail },
  })
  spillway.on('overload', fail)
  const first = await hold()
  assert.equal((await get('/')).status, 503)
  first.release()
  await first.answer
  const { 'on overload': ofListener, logger: ofLogger } = spillway.snapshot().internalErrors
  assert.deepEqual([ofListener, ofLogger], [1, 1])
})

test('a removed listener is not called', async (t) => {
  const { hold, get, spillway } = await holdingServer(t, { shed: REFUSE })
  const listener = () => assert.fail()
  spillway.on('overload', listener)
  spillway.off('overload', listener)
  const first = await hold()
  assert.equal((await get('/')).status, 503)
  first.release()
  await first.answer
  assert.deepEqual(spillway.snapshot().internalErrors, {})
  assert.ok(spillway instanceof Spillway)
})
