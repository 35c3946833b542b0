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
  assert.match(summaryWith(149_999), /900 ms usually\. .*Look at what GET \/orders awaits/)
})

test('pool-exhausted names the query that takes half of the time of all queries', () => {
  const pool = {
    name: 'shop',
    seconds: 60,
    max: 5,
    waiting: 3,
    asks: 6000,
    asksPerRequest: 1,
    meanWaitMs: 120,
    meanUseMs: 50,
    waitingShare: 0.7,
    timeouts: 0,
    rejected: 0,
    held: { count: 5, longestMs: 40 },
    load: { count: 6000, elasticity: 0.1, correlation: 0.1 },
    holders: [],
  }
  const claimWith = (queries) => poolExhausted.find(figuresWith({ pools: [{ ...pool, queries }] }))[0]
  const summaryWith = (queries) => claimWith(queries).summary
  const kind = (collection, meanMs) => ({
    operation: 'find',
    collection,
    lastMinute: { count: 100, errors: 0, meanMs, maxMs: 500 },
  })
  assert.match(
    summaryWith([kind('orders', 90), kind('items', 10)]),
    / The query find orders takes 90 % of the time of all queries, 90 ms on average\.$/
  )
  assert.match(
    claimWith([kind('orders', 90), kind('items', 10)]).advice,
    /^First make the query find orders cheaper, such as by an index\. By Little's law /
  )
  assert.doesNotMatch(claimWith([]).advice, /query/)
  assert.doesNotMatch(summaryWith([kind('orders', 40), kind('items', 35), kind('users', 30)]), /query/)
  assert.doesNotMatch(summaryWith([]), /query/)
})
