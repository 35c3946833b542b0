'use strict'
// What requests wait for that are in flight for long.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { waitingRequests } = require('../../src/features/doctor/waiting-requests')
const { IGNORE_LOG } = require('../../src/core/request/ignore')
const { RollingHistogram } = require('../../src/core/histogram/rolling')

const NOW_MS = 100_000

/** Requests in the order in which they came, the eldest first. */
function waiting(requests, { answered = 0, answeredMs = 20 } = {}) {
  const latency = new RollingHistogram(0)
  for (let i = 0; i < answered; i++) latency.record(answeredMs, NOW_MS, false)
  const list = requests.map(({ ageMs, ...request }) => ({
    startedMs: NOW_MS - ageMs,
    hasAnswer: false,
    isQueued: false,
    req: { complete: true, readableFlowing: null },
    res: { writableLength: 0 },
    ...request,
  }))
  return waitingRequests(
    /** @type {any} */ ({
      clock: { now: () => NOW_MS },
      recorder: {
        requests: Object.assign(list, { size: list.length }),
        routes: { series: [{ method: 'GET', route: '/orders', latency }] },
        describe: ({ startedMs, route = '/orders' }) => ({ method: 'GET', route, ageMs: NOW_MS - startedMs }),
      },
    })
  )
}

test('requests of 30 seconds and more without an answer are counted by route, with the p99 of the others', () => {
  const { unanswered } = waiting(
    [{ ageMs: 50_000 }, { ageMs: 40_000, route: '/other' }, { ageMs: 30_000 }, { ageMs: 29_999 }],
    { answered: 50 }
  )
  assert.deepEqual(
    unanswered.map(({ p99Ms, ...group }) => group),
    [
      { method: 'GET', route: '/orders', count: 2, oldestMs: 50_000, answered: 50 },
      { method: 'GET', route: '/other', count: 1, oldestMs: 40_000, answered: 0 },
    ]
  )
  assert.ok(Math.abs(unanswered[0].p99Ms - 20) < 0.5)
})

test('the oldest request without an answer is known from five seconds on', () => {
  const { oldest } = waiting([
    { ageMs: 50_000, hasAnswer: true },
    { ageMs: 50_000, isQueued: true },
    { ageMs: 5000 },
    { ageMs: 5000, route: '/other' },
  ])
  assert.deepEqual(oldest, { method: 'GET', route: '/orders', ageMs: 5000 })
  assert.equal(waiting([{ ageMs: 4999 }]).oldest, undefined)
})

test('a request that is queued or answering is not unanswered', () => {
  const { unanswered } = waiting([
    { ageMs: 50_000, isQueued: true },
    { ageMs: 50_000, hasAnswer: true },
  ])
  assert.deepEqual(unanswered, [])
})

test('a request that `ignore.log` leaves out waits on purpose', () => {
  const { oldest, unanswered } = waiting([{ ageMs: 50_000, ignores: IGNORE_LOG }])
  assert.deepEqual([oldest, unanswered], [undefined, []])
})

test('clients that read or send slowly are counted from five seconds on', () => {
  const unread = { hasAnswer: true, res: { writableLength: 1000 } }
  const sending = { req: { complete: false, readableFlowing: true } }
  const { clients, unanswered } = waiting([
    { ageMs: 40_000, ...sending },
    { ageMs: 9000, ...unread },
    { ageMs: 5000, ...unread },
    { ageMs: 4999, ...unread },
  ])
  assert.deepEqual(clients, { reading: 2, sending: 1, unsentBytes: 2000, oldestMs: 40_000, inFlight: 4 })
  assert.deepEqual(unanswered, [])
})

test('a handler that does not read the body is not a client that sends slowly', () => {
  const { clients, unanswered } = waiting([
    { ageMs: 40_000, req: { complete: false, readableFlowing: false } },
  ])
  assert.equal(clients.sending, 0)
  assert.equal(unanswered.length, 1)
})
