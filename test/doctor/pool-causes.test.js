'use strict'
// A short pool and a slow dependency: which of them causes the other.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { diagnose } = require('../../src/features/doctor/diagnosis')
const { figuresWith, routeWith } = require('./figures')

const AT = '2026-11-25T14:00:00.000Z'
const ORDERS = { method: 'GET', route: '/orders' }
const ITEMS = { method: 'GET', route: '/items' }

/** Ten connections: 320 scans of 1.6 s in a minute, which take most of them, and 5680 reads of 4 ms. */
const POOL = {
  name: 'shop',
  kind: 'mongodb',
  seconds: 60,
  max: 10,
  waiting: 30,
  asks: 6000,
  asksPerRequest: 1,
  meanWaitMs: 900,
  useMs: 535_000,
  meanUseMs: 89,
  waitingShare: 0.9,
  timeouts: 0,
  rejected: 0,
  held: { count: 10, longestMs: 1500 },
  load: { count: 6000, elasticity: 0.1, correlation: 0.1 },
  holders: [{ ...ORDERS, heldMs: 500_000 }],
}
const QUERIES = [
  { operation: 'find', collection: 'orders', count: 320, totalMs: 512_000 },
  { operation: 'find', collection: 'items', count: 5680, totalMs: 22_720 },
]
const useOf = (route, query, count, totalMs, usualMs) => ({
  pool: 'shop',
  ...route,
  query,
  count,
  totalMs,
  awaited: count,
  awaitedMs: totalMs,
  usualMs,
})
const USES = [
  useOf(ORDERS, undefined, 320, 512_000, 1600),
  useOf(ORDERS, 'find orders', 320, 512_000, 1600),
  useOf(ITEMS, undefined, 5680, 22_720, 4),
]
const routeOf = (route, count, ms, usualMs) =>
  routeWith({ ...route, count, meanMs: ms, firstByteMs: ms, usualMs, timeShare: 0.5 })
const SLOW = routeOf(ORDERS, 320, 2600, 2500)
const WAITING = routeOf(ITEMS, 5680, 905, 5)

/** @param {any} [changes] */
const figuresOf = ({ pool = {}, ...changes } = {}) =>
  figuresWith({
    requests: { count: 6000 },
    routes: [WAITING, SLOW],
    pools: [{ ...POOL, queries: QUERIES, ...pool }],
    poolUses: USES,
    ...changes,
  })
/** @param {any} [changes] */
const findingsOf = (changes) => diagnose(figuresOf(changes), AT).findings
/** @param {any} [changes] */
const causes = (changes) =>
  findingsOf(changes).map(({ problem, route, effectOf }) => [problem, route, effectOf])

test('a pool that is short because of a slow query is an effect of it, whichever route waits longest', () => {
  const expected = [
    ['slow-dependency', 'GET /orders', null],
    ['pool-exhausted', 'GET /orders', 'slow-dependency'],
  ]
  assert.deepEqual(causes(), expected)
  assert.deepEqual(causes({ routes: [SLOW, WAITING] }), expected)
  assert.deepEqual(causes({ routes: [SLOW] }), expected)
  const [{ summary, advice, severity }] = findingsOf()
  assert.match(
    summary,
    /^Requests of GET \/orders wait 2\.6 s on average, most of it for find orders\. The query find orders takes 1\.6 s\. So all connections of the pool 'shop' are in use, and requests wait for one\./
  )
  assert.match(advice, /^Look at the plan of find orders, over the pool 'shop': a missing index/)
  // As severe as its effect.
  assert.equal(severity, 'high')
})

test('the slow query is named where most of the time of its own requests is the wait for a connection', () => {
  const [{ advice, problem }] = findingsOf({ routes: [routeOf(ORDERS, 320, 9000, 2500)] })
  assert.equal(problem, 'slow-dependency')
  assert.match(advice, /^Look at the plan of find orders, over the pool 'shop'/)
})

test('a call whose route is not known does not hide the slow query', () => {
  const outgoing = [
    { method: null, route: null, host: 'mail', count: 500, totalMs: 1e6, awaited: 0, awaitedMs: 0 },
  ]
  const [{ advice, summary }] = findingsOf({ outgoing })
  assert.match(advice, /^Look at the plan of find orders/)
  assert.doesNotMatch(summary, /mail/)
})

test('without figures by query, uses that take three times as long as usual, or two seconds, are the cause', () => {
  const causesOf = (meanMs, usualMs) =>
    causes({
      pool: { queries: undefined, useMs: 320 * meanMs + 22_720 },
      poolUses: [useOf(ORDERS, undefined, 320, 320 * meanMs, usualMs), USES[2]],
    }).map(([problem, , effectOf]) => [problem, effectOf])
  const isEffect = [
    ['slow-dependency', null],
    ['pool-exhausted', 'slow-dependency'],
  ]
  assert.deepEqual(causesOf(300, 100), isEffect)
  assert.deepEqual(causesOf(2000, 2000), isEffect)
  // Its own wait for a connection is less than half of its time, so it is slow by itself.
  for (const [meanMs, usualMs] of [
    [300, 101],
    [300, undefined],
    [1999, 1999],
  ])
    assert.equal(causesOf(meanMs, usualMs).find(([problem]) => problem === 'pool-exhausted')?.[1], null)
  const [{ summary, advice }] = findingsOf({
    pool: { queries: undefined },
    poolUses: [useOf(ORDERS, undefined, 320, 512_000, 400), USES[2]],
  })
  assert.match(
    summary,
    / GET \/orders uses a connection for 1\.6 s, and usually for 400 ms\. So all connections of the pool 'shop' are in use/
  )
  assert.match(advice, /^Look at what GET \/orders does with a connection of the pool 'shop'/)
})

test('a pool that is short because of slow uses gets no size', () => {
  const shortOf = (changes) => findingsOf(changes).find(({ problem }) => problem === 'pool-exhausted')
  const isSize = ({ name }) => name.startsWith('needed')
  const withQueries = shortOf()
  assert.equal(
    withQueries?.advice,
    'First make the query find orders cheaper, such as by an index: it takes 1.6 s on average, and the other queries 4 ms. A larger pool is not the remedy.'
  )
  assert.ok(!withQueries?.evidence.some(isSize))
  const uses = {
    pool: { queries: undefined },
    poolUses: [useOf(ORDERS, undefined, 320, 512_000, 400), USES[2]],
  }
  const without = shortOf(uses)
  assert.equal(
    without?.advice,
    'The pool is short because its connections are held for long. A larger pool is not the remedy. Hold a connection as briefly as possible: not while GET /orders awaits anything else.'
  )
  assert.ok(!without?.evidence.some(isSize))
  // While the uses become slow, they take longer the more connections are in use.
  const load = { elasticity: 0.6, correlation: 0.7, count: 6000 }
  assert.equal(shortOf({ ...uses, pool: { ...uses.pool, load } })?.advice, without?.advice)
  // Usually they take as long: the pool is too small.
  const cause = shortOf({ ...uses, poolUses: [useOf(ORDERS, undefined, 320, 512_000, 1600), USES[2]] })
  assert.match(cause?.advice ?? '', /^By Little's law 13 connections would be enough/)
  assert.ok(cause?.evidence.some(isSize))
})

test('a pool whose connections are not given back is not an effect of slow uses', () => {
  const effectOf = (longestMs) =>
    causes({ pool: { held: { count: 10, longestMs } } }).find(
      ([problem]) => problem === 'pool-exhausted'
    )?.[2]
  assert.equal(effectOf(9999), 'slow-dependency')
  assert.equal(effectOf(10_000), null)
})

test('uses that take 10 ms more than usual may be the cause, and not less', () => {
  const effectOf = (meanMs) =>
    causes({
      pool: { queries: undefined, useMs: 320 * meanMs },
      poolUses: [useOf(ORDERS, undefined, 320, 320 * meanMs, 3)],
    }).find(([problem]) => problem === 'pool-exhausted')?.[2]
  assert.equal(effectOf(13), 'slow-dependency')
  assert.equal(effectOf(12.9), null)
})

test('slow uses that hold the connections for less than half of the time are not why the pool is short', () => {
  const causesOf = (useMs) => causes({ pool: { useMs, queries: undefined }, poolUses: LONGER })
  const LONGER = [useOf(ORDERS, undefined, 320, 512_000, 400), USES[2]]
  assert.deepEqual(causesOf(1_024_000)[1], ['pool-exhausted', 'GET /orders', 'slow-dependency'])
  const findings = causesOf(1_024_001)
  assert.equal(findings.find(([problem]) => problem === 'pool-exhausted')?.[2], null)
})

test('routes that are slow only because they wait for a connection are an effect of the short pool', () => {
  const quick = {
    pool: { queries: [QUERIES[1]], useMs: 22_720, meanUseMs: 4, holders: [{ ...ITEMS, heldMs: 22_720 }] },
    poolUses: [USES[2]],
  }
  assert.deepEqual(causes({ ...quick, routes: [WAITING] }), [
    ['pool-exhausted', 'GET /items', null],
    ['slow-dependency', 'GET /items', 'pool-exhausted'],
  ])
  // Another route holds the connections for longest.
  const other = { ...quick, pool: { ...quick.pool, holders: [{ ...ORDERS, heldMs: 22_720 }] } }
  assert.deepEqual(causes({ ...other, routes: [WAITING] }), [
    ['pool-exhausted', 'GET /orders', null],
    ['slow-dependency', 'GET /items', 'pool-exhausted'],
  ])
  const [, { summary, advice }] = findingsOf({ ...other, routes: [WAITING], outgoing: [] })
  assert.match(
    summary,
    /^Requests of GET \/items wait 905 ms on average, most of it for a connection of the pool 'shop'\. Usually they wait 5 ms\./
  )
  assert.match(
    advice,
    /^The services that these routes call are not slow: the routes wait for a connection\. Look at the pool 'shop'/
  )
})

/** GET /orders uses a connection for `meanMs`, and waits 900 ms for it as GET /items does. */
const mixed = (meanMs, usualMs, changes = {}) => {
  const findings = findingsOf({
    routes: [routeOf(ORDERS, 320, 1000, 60), WAITING],
    pool: { queries: undefined, useMs: 320 * meanMs + 22_720 },
    poolUses: [useOf(ORDERS, undefined, 320, 320 * meanMs, usualMs), USES[2]],
    outgoing: [],
    ...changes,
  })
  const { advice, summary } = findings.find(({ problem }) => problem === 'slow-dependency')
  return { advice, routes: summary.slice(0, summary.indexOf(' wait ')) }
}
const BOTH = /^Requests of GET \/orders and 1 other route$/
const NOT_SLOW = /^The services that these routes call are not slow/

test('a route whose uses take longer than usual is not among those whose services are not slow', () => {
  assert.match(mixed(80, 55).routes, BOTH)
  assert.match(mixed(80, 55).advice, /^The services .* and at what holds its connections\.$/)
  const holder = mixed(150, 55)
  assert.equal(holder.routes, 'Requests of GET /items')
  assert.equal(
    holder.advice,
    "The services that these routes call are not slow: the routes wait for a connection. Look at the pool 'shop', and at GET /orders: it holds a connection for 150 ms, and usually for 55 ms."
  )
  // 1.5 times as long as usual, and 10 ms more.
  assert.match(mixed(149, 100).routes, BOTH)
  assert.doesNotMatch(mixed(150, 100).routes, BOTH)
  assert.match(mixed(15.9, 6).routes, BOTH)
  assert.doesNotMatch(mixed(16, 6).routes, BOTH)
  // The other route holds the connections for most of the time.
  assert.match(mixed(50, 20).advice, /and at what holds its connections\.$/)
})

test('a route with a slow call, or without a usual duration, is not among those whose services are not slow', () => {
  const call = (totalMs, usualMs) => ({ ...ORDERS, host: 'mail', count: 320, totalMs, usualMs })
  assert.match(mixed(80, 55, { outgoing: [call(320 * 29, 20)] }).routes, BOTH)
  assert.doesNotMatch(mixed(80, 55, { outgoing: [call(320 * 30, 20)] }).routes, BOTH)
  assert.doesNotMatch(mixed(80, 55, { outgoing: [call(320 * 29, undefined)] }).routes, BOTH)
  assert.doesNotMatch(mixed(80, undefined).routes, BOTH)
})

test('if no route is known to have quick services, the advice does not say so', () => {
  const { advice, routes } = mixed(80, 55, { outgoing: undefined })
  assert.match(routes, BOTH)
  assert.doesNotMatch(advice, NOT_SLOW)
  assert.match(advice, /^Most of the wait is for a connection\. Look at the pool 'shop'/)
})

test('a route waits for the pool if that takes half of the time until its answer begins', () => {
  const effectOf = (meanWaitMs, poolUses = [USES[2]]) =>
    causes({
      routes: [WAITING],
      pool: { queries: undefined, meanWaitMs, holders: [{ ...ORDERS, heldMs: 22_720 }] },
      poolUses,
    }).find(([problem]) => problem === 'slow-dependency')?.[2]
  assert.equal(effectOf(452.5), 'pool-exhausted')
  assert.equal(effectOf(452.4), null)
  assert.equal(effectOf(900, []), null)
  assert.equal(effectOf(900, [useOf(ORDERS, undefined, 5680, 22_720, 4)]), null)
  // One request in two uses the pool.
  assert.equal(effectOf(900, [useOf(ITEMS, undefined, 2840, 22_720, 4)]), null)
})

test('another slow dependency is no effect of the pool for which other routes wait', () => {
  const REPORTS = { method: 'GET', route: '/reports' }
  const outgoing = [
    { ...REPORTS, host: 'reports', count: 600, totalMs: 1_700_000, awaited: 600, awaitedMs: 1_700_000 },
  ]
  const findings = findingsOf({
    routes: [WAITING, routeOf(REPORTS, 600, 3000, 200)],
    outgoing,
    pool: { queries: undefined, holders: [{ ...ORDERS, heldMs: 22_720 }] },
    poolUses: [USES[2]],
  })
  assert.deepEqual(
    findings.map(({ problem, route, effectOf }) => [problem, route, effectOf]),
    [
      ['pool-exhausted', 'GET /orders', null],
      ['slow-dependency', 'GET /reports', null],
    ]
  )
  assert.match(findings[1].summary, /^Requests of GET \/reports wait 3 s .* most of it for reports\./)
})

test('findings that explain each other in a circle are all shown', () => {
  const rules = [
    { problem: 'pool-exhausted', causedBy: 'slow-dependency' },
    { problem: 'slow-dependency', causedBy: 'orphaned-requests' },
    { problem: 'orphaned-requests', causedBy: 'pool-exhausted' },
  ].map(({ problem, causedBy }) => ({
    problem,
    find: () => [
      { causedBy, severity: 'medium', share: 1, route: null, summary: '', evidence: [], advice: '' },
    ],
  }))
  const { findings } = diagnose(figuresWith(), AT, /** @type {any} */ (rules))
  assert.deepEqual(
    findings.map(({ problem, effectOf }) => [problem, effectOf]),
    [
      ['pool-exhausted', null],
      ['slow-dependency', 'orphaned-requests'],
      ['orphaned-requests', 'pool-exhausted'],
    ]
  )
})
