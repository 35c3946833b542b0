'use strict'
// Each rejection says its number: what decided, and the bound that it exceeded.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { QUEUED, REASONS, REJECTED, figuresOf } = require('../../src/core/gate/decision')
const { causeText } = require('../../src/core/log/event-lines')
const { DrivenAdmission } = require('./driven-admission')
const { WORKS, capacityOf, load } = require('./simulated-load')

const MAX_DELAY_MS = 300
const TARGET_MS = 50
const GRACE_MS = 5
const HEAP = { afterGcBytes: 930e6, limitBytes: 1e9 }

const causesOf = (admission) =>
  admission.lastRejections.list().map(({ reason, value, bound }) => [reason, value, bound])

/** One in a hundred milliseconds is admitted, whatever is short. */
function rejectOne(driven) {
  driven.ask()
  assert.equal(driven.ask().decision, REJECTED)
  return causesOf(driven.admission)
}

test('threshold: the requests in flight, and maxConcurrent', () => {
  const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 3 })
  for (let i = 0; i < 3; i++) driven.ask()
  driven.ask()
  assert.deepEqual(causesOf(driven.admission), [['concurrency', 3, 3]])
})

test('a request that has waited too long for a slot: the requests in flight, and maxConcurrent', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 2, maxDelay: MAX_DELAY_MS })
  for (let i = 0; i < 2; i++) driven.ask()
  assert.equal(driven.ask().decision, QUEUED)
  for (let i = 0; i < 40; i++) driven.turn(1, 9)
  assert.deepEqual(causesOf(driven.admission), [['concurrency', 2, 2]])
})

test('a deadline that has passed: how long the request waited, and how long it had', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 1, deadlineMs: () => 25 })
  for (let i = 0; i < 2; i++) driven.ask()
  for (let i = 0; i < 4; i++) driven.turn(1, 9)
  assert.deepEqual(causesOf(driven.admission), [['deadline', 30, 25]])
})

test('a deadline that is over on arrival: the expected wait, and how long it had', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 1, deadlineMs: () => -3 })
  for (let i = 0; i < 2; i++) driven.ask()
  assert.deepEqual(causesOf(driven.admission), [['deadline', 0, -3]])
})

test('memory: the heap after the last major collection, and .85 of its limit', () => {
  const driven = new DrivenAdmission({ mode: 'threshold' })
  driven.memory = HEAP
  driven.turn(0, 1000)
  for (let i = 0; i < 50; i++) driven.ask()
  assert.deepEqual(causesOf(driven.admission)[0], ['memory', 930e6, 850e6])
})

test('shortage: what the function returned, and 0', () => {
  const driven = new DrivenAdmission({ mode: 'threshold', shortage: () => 1 })
  driven.turn(0, 1000)
  assert.deepEqual(rejectOne(driven), [['shortage', 1, 0]])
})

for (const [option, limit, reason, value, memory] of /** @type {const} */ ([
  ['maxHeapUsedBytes', 100, 'heap_used_bytes', 120, { heapUsedBytes: 120 }],
  ['maxRssBytes', 100, 'rss_bytes', 120, { rssBytes: 120 }],
  ['maxEventLoopDelay', 42, 'event_loop_delay', 60, {}],
  ['maxEventLoopUtilization', 0.5, 'event_loop_utilization', 0.98, {}],
])) {
  test(`${reason}: what was measured, and ${option}`, () => {
    const driven = new DrivenAdmission({ mode: 'threshold', [option]: limit, sampleInterval: 1000 })
    driven.memory = memory
    for (const [busyMs, idleMs] of [
      [60, 0],
      [60, 0],
      [860, 20],
    ])
      driven.turn(busyMs, idleMs)
    assert.deepEqual(rejectOne(driven), [[reason, value, limit]])
  })
}

test('a fixed limit that was exceeded shows what was measured last, until it is met again', () => {
  const driven = new DrivenAdmission({ mode: 'threshold', maxRssBytes: 100 })
  for (const rssBytes of [120, 110]) {
    driven.memory = { rssBytes }
    driven.turn(0, 1000)
  }
  assert.deepEqual(rejectOne(driven), [['rss_bytes', 110, 100]])
})

test('closed has no number', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 1 })
  for (let i = 0; i < 2; i++) driven.ask()
  driven.admission.close()
  assert.deepEqual(causesOf(driven.admission), [['closed', null, null]])
})

/** Two seconds at half the capacity, then three at a multiple of it. */
function overloaded(multiple, shed, before = (_world) => {}) {
  const perSecond = capacityOf('cpu')
  const open = [
    { route: 0, perSecond: perSecond / 2, toMs: 2000 },
    { route: 0, perSecond: perSecond * multiple, fromMs: 2000 },
  ]
  return load({ seconds: 5, routes: [{ steps: WORKS.cpu.steps }], open }, shed, before).admission
}

test('a full loop: the wait, and the wait that was tolerated then', () => {
  const causes = causesOf(overloaded(5, { maxDelay: MAX_DELAY_MS, targetDelay: TARGET_MS }))
  assert.equal(causes.length, 20)
  for (const [reason, value, bound] of causes) {
    assert.equal(reason, 'loop')
    assert.equal(bound, TARGET_MS)
    assert.ok(value > bound && value < MAX_DELAY_MS, `${value} of ${bound} ms`)
  }
})

test('in a burst the bound is maxDelay, in an overload the target', () => {
  const { limits } = new DrivenAdmission({ maxDelay: MAX_DELAY_MS, targetDelay: TARGET_MS }).admission
  const wait = { priority: 2, queuedMs: 0, queuedStallFreeMs: 500 }
  const causeIn = (isOverload) => [
    limits.delay.boundMs(wait.priority, isOverload),
    limits.delay.waitedMs(wait, isOverload, 1000),
  ]
  assert.deepEqual(causeIn(true), [TARGET_MS, 1000])
  assert.equal(causeIn(false)[0], MAX_DELAY_MS)
  assert.equal(limits.delay.isOverdue({ ...wait, queuedMs: 1000 - TARGET_MS - GRACE_MS }, true, 1000), false)
  assert.equal(limits.delay.isOverdue({ ...wait, queuedMs: 999 - TARGET_MS - GRACE_MS }, true, 1000), true)
})

test('a client that half-closes has a number too', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 1 })
  driven.ask()
  const socket = new EventEmitter()
  driven.ask({ socket })
  driven.clock.advance(7)
  socket.emit('end')
  assert.deepEqual(causesOf(driven.admission), [['concurrency', 1, 1]])
})

test('a client that half-closes in an overload can wait no longer', () => {
  const driven = new DrivenAdmission({})
  driven.admission.limits.isOverload = () => true
  driven.admission.limits.isLoopShort = () => true
  driven.admission.limits.hasFreeSlot = () => false
  const sockets = [new EventEmitter(), new EventEmitter()]
  for (const socket of sockets) assert.equal(driven.ask({ socket }).decision, QUEUED)
  driven.clock.advance(7)
  // One in a hundred milliseconds runs.
  for (const socket of sockets) socket.emit('end')
  assert.deepEqual(causesOf(driven.admission), [['loop', 7, 0]])
})

test('mode observe tells the modelled wait, and the wait that would be tolerated', () => {
  const causes = []
  const admission = overloaded(5, { mode: 'observe', targetDelay: TARGET_MS }, ({ admission }) => {
    const { countWouldReject } = admission.stats
    admission.stats.countWouldReject = function (reason, priority) {
      causes.push([reason, admission.cause.value, admission.cause.bound])
      countWouldReject.call(this, reason, priority)
    }
  })
  assert.deepEqual(causesOf(admission), [])
  assert.ok(causes.length > 100)
  assert.deepEqual(new Set(causes.map(([reason]) => reason)), new Set(['loop']))
  for (const [, value, bound] of causes)
    assert.ok(value > bound && bound >= TARGET_MS, `${value} of ${bound}`)
})

test('the snapshot keeps the last twenty, the newest last', () => {
  const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 1, classify: () => 'low' })
  assert.deepEqual(driven.admission.lastRejections.list(), [])
  driven.ask()
  for (let i = 0; i < 25; i++) {
    driven.clock.advance(1000)
    driven.ask()
  }
  const list = driven.admission.lastRejections.list()
  assert.equal(list.length, 20)
  assert.deepEqual(list.at(-1), {
    at: '2026-01-01T00:00:25.000Z',
    priority: 'low',
    reason: 'concurrency',
    value: 1,
    bound: 1,
  })
  assert.deepEqual(
    list.map(({ at }) => at),
    list.map(({ at }) => at).sort()
  )
  assert.equal(list[0].at, '2026-01-01T00:00:06.000Z')
})

test('a listener of the overload may cause the next rejection: each keeps its own number', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 1 })
  const { told } = driven
  driven.told = /** @type {any} */ ({
    push(event) {
      told.push(event)
      driven.admission.close()
    },
  })
  driven.ask()
  assert.equal(driven.ask().decision, QUEUED)
  driven.deadlineMs = () => -3
  const late = driven.ask()
  const { reason, value, bound } = late.ticket.rejection
  assert.deepEqual([reason, value, bound], ['deadline', 0, -3])
  assert.deepEqual(causesOf(driven.admission), [
    ['deadline', 0, -3],
    ['closed', null, null],
  ])
})

test('figures are shown to three decimals, and what is no number as null', () => {
  assert.deepEqual(figuresOf({ value: 61.23456, bound: 40 }), { value: 61.235, bound: 40 })
  assert.deepEqual(figuresOf({ value: Number.NaN, bound: undefined }), { value: null, bound: null })
  assert.deepEqual(figuresOf({ value: 1, bound: Number.NEGATIVE_INFINITY }), { value: 1, bound: null })
})

test('the text of each reason names its unit', () => {
  const measured = REASONS.filter((reason) => reason !== 'closed')
  const texts = [...measured, 'pool:orders'].map((reason) => causeText({ reason, value: 0.9, bound: 0.5 }))
  assert.deepEqual(texts, [
    'loop: wait 0.9 ms, allowed 0.5 ms',
    'concurrency: 0.9 of 0.5 in flight',
    'memory: 0 of 0 MB',
    'shortage: 0.9 of 1',
    'deadline: wait 0.9 ms, allowed 0.5 ms',
    'age: 0.9 ms, allowed 0.5 ms',
    'event_loop_delay: 0.9 of 0.5 ms',
    'event_loop_utilization: 0.9 of 0.5',
    'heap_used_bytes: 0 of 0 MB',
    'rss_bytes: 0 of 0 MB',
    'pool:orders: wait 0.9 ms, allowed 0.5 ms',
  ])
  assert.equal(causeText({ reason: 'closed', value: null, bound: null }), 'closed')
  assert.equal(causeText({ reason: 'of a later version', value: 3, bound: 2 }), 'of a later version: 3 of 2')
  assert.equal(causeText({ reason: 'memory', value: 930e6, bound: 850e6 }), 'memory: 930 of 850 MB')
})
