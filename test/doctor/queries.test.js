'use strict'
// What the doctor says of a pool with `queries: true`: the kind of query that takes most of the time.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const manyCalls = require('../../src/features/doctor/problems/many-calls')
const poolExhausted = require('../../src/features/doctor/problems/pool-exhausted')
const slowDependency = require('../../src/features/doctor/problems/slow-dependency')
const { figuresWith, routeWith } = require('./figures')

const BY_ROUTE = { pool: 'shop', method: 'GET', route: '/orders' }

test('many-calls names the query in a loop, and not the one connection over which it is made', () => {
  const route = routeWith({ count: 100, meanMs: 1600 })
  const uses = { ...BY_ROUTE, awaited: 100, awaitedMs: 150_000, count: 100, totalMs: 150_000 }
  const queries = { awaited: 3400, awaitedMs: 136_000, count: 3400, totalMs: 136_000 }
  const query = { ...BY_ROUTE, query: 'find items', ...queries }
  // Each query may be a use of its own.
  for (const poolUses of [
    [uses, query],
    [{ ...BY_ROUTE, ...queries, awaitedMs: 140_000 }, query],
  ]) {
    const [{ advice, evidence, summary }] = manyCalls.find(figuresWith({ routes: [route], poolUses }))
    assert.equal(
      summary,
      "GET /orders makes the query find items 34 times, over the pool 'shop', for each request, one after another: they take 1.4 s of its 1.6 s."
    )
    assert.deepEqual(
      evidence.slice(0, 3).map(({ name, unit }) => [name, unit]),
      [
        ['queries for each request', ''],
        ['mean time of a query', 'ms'],
        ['at the same time', 'queries'],
      ]
    )
    assert.match(advice, /JOIN.*\$in/)
  }
})

test('slow-dependency names the query that takes half of the time', () => {
  const route = routeWith({ count: 100, meanMs: 3000, firstByteMs: 3000, usualMs: 900 })
  const summaryWith = (awaitedMs) => {
    const query = {
      ...BY_ROUTE,
      query: 'aggregate events',
      awaited: 100,
      awaitedMs,
      count: 100,
      totalMs: awaitedMs,
    }
    const [{ advice, summary }] = slowDependency.find(figuresWith({ routes: [route], poolUses: [query] }))
    return `${summary} ${advice}`
  }
  assert.match(
    summaryWith(150_000),
    /most of it for aggregate events\. .*Look at the plan of aggregate events/
  )
  assert.match(summaryWith(149_999), /Usually they wait 900 ms\. .*Look at what GET \/orders awaits/)
})

/** 100 uses a second of 50 ms, 5 at a time on average. */
const POOL = {
  name: 'shop',
  kind: 'mongodb',
  seconds: 60,
  max: 5,
  waiting: 3,
  asks: 6000,
  asksPerRequest: 1,
  meanWaitMs: 120,
  useMs: 300_000,
  meanUseMs: 50,
  waitingShare: 0.7,
  timeouts: 0,
  rejected: 0,
  held: { count: 5, longestMs: 40 },
  load: { count: 6000, elasticity: 0.1, correlation: 0.1 },
  holders: [],
}
const claimWith = (queries, changes = {}) =>
  poolExhausted.find(figuresWith({ pools: [{ ...POOL, ...changes, queries }] }))[0]
const kind = (collection, count, meanMs) => ({
  operation: 'find',
  collection,
  count,
  totalMs: count * meanMs,
})

test('pool-exhausted names the query that takes half of the time of all queries', () => {
  const half = claimWith([kind('orders', 3000, 60), kind('items', 3000, 30)])
  assert.match(
    half.summary,
    / The query find orders takes 67 % of the time of all queries, 60 ms on average\.$/
  )
  // It is not far slower than the others, so it is load.
  assert.match(
    half.advice,
    /^First make the query find orders cheaper, such as by an index\. By Little's law 8 connections .* This size is right as long as a use takes 50 ms\. Make /
  )
  assert.doesNotMatch(claimWith([]).advice, /query/)
  assert.doesNotMatch(
    claimWith([kind('orders', 2400, 50), kind('items', 2100, 50), kind('users', 1500, 50)]).summary,
    /query/
  )
  assert.doesNotMatch(claimWith([]).summary, /query/)
})

test('where one query is far slower than the others, the size is for the others', () => {
  const claim = claimWith([kind('orders', 320, 800), kind('items', 5680, 7)])
  assert.match(
    claim.advice,
    /^First make the query find orders cheaper, such as by an index: it takes 800 ms on average, and the other queries 7 ms\. By Little's law these need 2 connections of the 5\. A larger pool is not the remedy\.$/
  )
  assert.deepEqual(
    claim.evidence.filter(({ name }) => name.startsWith('needed')),
    [
      { name: "needed by Little's law for the present durations", value: 8, unit: 'connections' },
      { name: 'needed without find orders', value: 2, unit: 'connections' },
    ]
  )
  // All of the load but the scan is more than the pool serves.
  assert.match(
    claimWith([kind('orders', 200, 800), kind('items', 5800, 24)], { max: 2 }).advice,
    /By Little's law these need 4 connections\. Make the pool this large/
  )
})

test('a query is slow from five times the others, 50 ms, and half of the time of all uses on', () => {
  const isSlow = (queries, changes) => /the other queries/.test(claimWith(queries, changes).advice)
  const two = (meanMs, othersMs) => [
    kind('orders', 200_000 / meanMs, meanMs),
    kind('items', 99_000 / othersMs, othersMs),
  ]
  assert.ok(isSlow(two(100, 20)))
  assert.ok(!isSlow(two(100, 20.1)))
  assert.ok(isSlow(two(50, 1)))
  assert.ok(!isSlow(two(49.9, 1)))
  assert.ok(isSlow(two(100, 20), { useMs: 400_000 }))
  assert.ok(!isSlow(two(100, 20), { useMs: 400_001 }))
})

test('a slow query that is the only one gets no size, because nothing else shows what the size should be', () => {
  const adviceOf = (meanMs) => claimWith([kind('orders', 300_000 / meanMs, meanMs)]).advice
  assert.match(
    adviceOf(100),
    /^First make the query find orders cheaper, such as by an index: it takes 100 ms on average\. The size of the pool follows from that time, so choose the size afterwards\.$/
  )
  assert.match(adviceOf(99), /^First make the query .* By Little's law 8 connections/)
})

test('without figures by query the advice says that the size is for the durations of today', () => {
  assert.match(
    claimWith(undefined).advice,
    /8 connections .* This size is right as long as a use takes 50 ms\. If most of that time is one slow query, which `queries: true` shows, make the query quick first\. A larger pool is then not needed\./
  )
  // Other pools cannot be asked for their queries.
  assert.match(
    claimWith(undefined, { kind: 'tarn' }).advice,
    /If most of that time is one slow query, make the query quick first/
  )
})
