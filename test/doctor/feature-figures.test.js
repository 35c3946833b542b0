'use strict'
// What the doctor reads of pools and of events of sockets between two readings.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const {
  eventsBetween,
  poolsOf,
  previousRelease,
  wastedBetween,
} = require('../../src/features/doctor/feature-figures')

const TIMED = { isTimed: true, max: 5 }
const EARLIER = { asks: 10, uses: 10, waitMs: 100, useMs: 200, contendedMs: 50, timeouts: 1 }
const LATER = { asks: 30, uses: 20, waitMs: 700, useMs: 600, contendedMs: 1050, timeouts: 3 }

/** A minute may begin before the pool was given. @param {any} [given] */
function read({ earlier = EARLIER, later = LATER, state = TIMED, afterMs = 4000 } = {}) {
  const deps = { startedFeatures: { pools: { samples: { stateOf: () => state } } } }
  const pools = earlier && new Map([['orders', earlier]])
  return poolsOf(/** @type {any} */ (deps), [
    { atMs: 1000, pools, shed: { 'pool:orders': 2 } },
    { atMs: 1000 + afterMs, pools: new Map([['orders', later]]), shed: { 'pool:orders': 9 } },
  ])
}

test('the figures of a pool are means and shares of the time between', () => {
  assert.deepEqual(read(), [
    {
      name: 'orders',
      seconds: 4,
      ...TIMED,
      asks: 20,
      meanWaitMs: 30,
      useMs: 400,
      meanUseMs: 40,
      waitingShare: 0.25,
      timeouts: 2,
      rejected: 7,
      busiest: undefined,
      queries: undefined,
    },
  ])
})

test('the busiest span of a pool is the one that needs most connections by Little, rejected callers included', () => {
  const readingAt = (atMs, asks, uses, useMs, rejected = 0) => ({
    atMs,
    pools: new Map([['orders', { ...EARLIER, asks, uses, useMs }]]),
    shed: { 'pool:orders': rejected },
  })
  const busiestOf = (...readings) => {
    const state = { ...TIMED, asksPerRequest: 2 }
    const deps = { startedFeatures: { pools: { samples: { stateOf: () => state } } } }
    return poolsOf(/** @type {any} */ (deps), /** @type {any} */ (readings))[0].busiest
  }
  const start = readingAt(0, 0, 0, 0)
  const calm = readingAt(10_000, 200, 200, 8000)
  // 20 a second of 40 ms.
  assert.equal(busiestOf(start, calm), 0.8)
  // 20 a second of 800 ms, although only 50 of the uses have ended.
  const faulty = readingAt(20_000, 400, 250, 48_000)
  assert.equal(busiestOf(start, calm, faulty), 16)
  // Of 20 rejected requests, each would have asked twice.
  assert.equal(busiestOf(start, calm, readingAt(20_000, 400, 250, 48_000, 20)), 19.2)
  // A short span does not count.
  assert.equal(busiestOf(start, calm, readingAt(14_999, 400, 250, 48_000)), 0.8)
  // It is not known how long a use takes.
  assert.equal(busiestOf(start, calm, readingAt(20_000, 400, 200, 8000)), undefined)
  assert.equal(busiestOf(start, calm, readingAt(20_000, 200, 200, 8000)), 0.8)
})

test('the queries of a pool are those between, the costliest first, also of a kind that is new', () => {
  const [find, count, idle] = [{}, {}, {}]
  const sums = (operation, counted, totalMs) => ({ operation, collection: 'orders', count: counted, totalMs })
  const earlier = [
    [find, sums('find', 10, 100)],
    [idle, sums('insert', 3, 30)],
  ]
  const later = [...earlier, [find, sums('find', 30, 500)], [count, sums('count', 2, 900)]]
  const queriesOf = (before) =>
    read({ earlier: { ...EARLIER, queries: before }, later: { ...LATER, queries: new Map(later) } })[0]
      .queries
  assert.deepEqual(queriesOf(new Map(earlier)), [sums('count', 2, 900), sums('find', 20, 400)])
  // Without an earlier reading they are those since the start.
  assert.deepEqual(queriesOf(undefined)[1], sums('find', 30, 500))
})

test('the time in which somebody waited is never more than all of it', () => {
  assert.equal(read({ afterMs: 900 })[0].waitingShare, 1)
})

test('a pool without an earlier reading is read from its start, and one whose uses are not seen is not read', () => {
  assert.equal(read({ earlier: /** @type {any} */ (null) })[0].asks, 30)
  assert.deepEqual(read({ state: { isTimed: false, max: 5 } }), [])
})

test('an event has the messages between, also where it is new; an event without one is left out', () => {
  const before = new Map([
    ['chat', { count: 10, errors: 1 }],
    ['calm', { count: 5, errors: 0 }],
  ])
  const now = new Map([...before, ['chat', { count: 30, errors: 4 }], ['typing', { count: 2, errors: 0 }]])
  assert.deepEqual(
    eventsBetween(before, now).map(({ route, count, errors }) => [route, count, errors]),
    [
      ['chat', 20, 3],
      ['typing', 2, 0],
    ]
  )
})

test('work for requests that nobody waits for excludes waits for a CPU, and never exceeds the time that the loop ran', () => {
  const wasted = (loopMs) => [{ method: 'GET', route: '/a', requests: 9, loopMs, poolMs: 0 }]
  const between = (scheduler, loopMs = 15_000) =>
    wastedBetween({ atMs: 0, wasted: wasted(1000) }, { atMs: 60_000, wasted: wasted(loopMs) }, scheduler)?.[0]
  assert.equal(between(undefined)?.loopMs, 14_000)
  const starved = { runShare: 0.04, waitShare: 0.76, foreignShare: 0.76 }
  assert.equal(Math.round(Number(between(starved)?.loopMs)), 700)
  assert.equal(between(starved)?.loopShare.toFixed(4), '0.0117')
  // The loop ran for 2.4 s.
  assert.equal(between({ ...starved, waitShare: 0.04 }, 31_000)?.loopMs, 2400)
})

test('a route has its figures in the previous release, whose name is what differs from this one', () => {
  const route = { method: 'GET', route: '/orders', count: 100, errorRatio: 0.01 }
  const of = (version, routes = [route]) => {
    const previous = { version, revision: '0123456789abcdef', routes }
    const releases = { current: { version: '2.4.0' }, previous }
    return previousRelease(/** @type {any} */ ({ startedFeatures: { releases } }))('GET', '/orders')
  }
  assert.deepEqual(of('2.3.0'), { release: '2.3.0', count: 100, errorRatio: 0.01 })
  assert.equal(of('2.4.0')?.release, '0123456789ab')
  assert.equal(of('2.3.0', [{ ...route, method: 'POST' }]), undefined)
  assert.equal(previousRelease({ startedFeatures: {} })('GET', '/orders'), undefined)
})
