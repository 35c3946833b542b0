'use strict'
// Which host a route calls while it holds a connection of a short pool.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const slowDependency = require('../../src/features/doctor/problems/slow-dependency')
const { figuresWith, routeWith } = require('./figures')

const ORDERS = { method: 'POST', route: '/orders' }
const COUNT = 300
const HELD_MS = 900
const WAIT_MS = 1600
const sumsOf = (ms) => ({
  count: COUNT,
  totalMs: COUNT * ms,
  awaited: COUNT,
  awaitedMs: COUNT * ms,
})
/** Five connections. A request waits 1.6 s for one, and holds it for 900 ms. */
const POOL = {
  name: 'orders',
  kind: 'tarn',
  seconds: 60,
  max: 5,
  waiting: 10,
  asks: COUNT,
  asksPerRequest: 1,
  meanWaitMs: WAIT_MS,
  useMs: COUNT * HELD_MS,
  meanUseMs: HELD_MS,
  waitingShare: 1,
  timeouts: 0,
  rejected: 0,
  held: { count: 5, longestMs: HELD_MS },
  load: { count: COUNT, elasticity: 0.1, correlation: 0.1 },
  holders: [{ ...ORDERS, heldMs: COUNT * HELD_MS }],
}
const callsOf = (ms, changes = {}) => ({ ...ORDERS, host: 'fraud', ...sumsOf(ms), ...changes })

/** @param {any} changes */
function findingOf({
  outgoing = [callsOf(882)],
  firstByteMs = WAIT_MS + HELD_MS,
  pool = {},
  meanMs = firstByteMs,
} = {}) {
  const route = routeWith({ ...ORDERS, count: COUNT, meanMs, firstByteMs, usualMs: 66 })
  const poolUses = [{ ...ORDERS, pool: 'orders', query: undefined, ...sumsOf(HELD_MS), usualMs: 56 }]
  const [claim] = slowDependency.find(
    figuresWith({ routes: [route], pools: [{ ...POOL, ...pool }], outgoing, poolUses })
  )
  return claim
}
const CALLS = /of that time it calls/

test('the host that a route calls while it holds a connection is named with its share of the held time', () => {
  const { advice, evidence, summary } = findingOf()
  assert.match(
    summary,
    /^Requests of POST \/orders wait 2\.5 s on average\. Usually they wait 66 ms\. POST \/orders uses a connection for 900 ms, and usually for 56 ms: 98 % of that time it calls fraud \(882 ms a call\)\. So all connections of the pool 'orders' are in use/
  )
  assert.match(
    advice,
    /^Look at fraud: its own latency, and the network to it\. Hold no connection during the call\. Give the call a timeout/
  )
  assert.deepEqual(
    evidence.find(({ name }) => name === 'calls to fraud'),
    { name: 'calls to fraud', value: 882, unit: 'ms on average' }
  )
})

test('a host is named from half of the held time on', () => {
  assert.match(findingOf({ outgoing: [callsOf(450)] }).summary, /: 50 % of that time it calls fraud/)
  assert.doesNotMatch(findingOf({ outgoing: [callsOf(449)] }).summary, CALLS)
})

test('calls that fit into the rest of the time of the route are not taken for calls during the hold', () => {
  // 432 of the 882 ms may have passed without a connection.
  assert.match(findingOf({ firstByteMs: 2932 }).summary, /: 50 % of that time it calls fraud/)
  assert.doesNotMatch(findingOf({ firstByteMs: 2933 }).summary, CALLS)
})

test('clients that gave up while they waited for a connection do not count as time without one', () => {
  assert.match(findingOf({ meanMs: 4000 }).summary, /: 98 % of that time it calls fraud/)
  // Their calls, which are the slow ones, were not awaited.
  const outgoing = [callsOf(882, { awaited: 100, awaitedMs: 100 * 15 })]
  assert.match(findingOf({ outgoing }).summary, /: 98 % of that time it calls fraud/)
})

test('calls at the same time count once', () => {
  const outgoing = [callsOf(882, { count: 2 * COUNT, awaited: 2 * COUNT, awaitedMs: COUNT * 440 })]
  assert.doesNotMatch(findingOf({ outgoing }).summary, CALLS)
})

test('calls of another route, or of an unknown one, are not taken for calls during the hold', () => {
  for (const of of [{ route: '/other' }, { method: 'GET' }, { method: null, route: null }])
    assert.doesNotMatch(findingOf({ outgoing: [callsOf(882, of)] }).summary, CALLS)
})

test('`queries: true` is advised only for pools that take it, and only without it', () => {
  const isAdvised = (pool) => findingOf({ outgoing: [], pool }).advice.includes('`queries: true`')
  assert.ok(['mongodb', 'mysql2', 'pg'].every((kind) => isAdvised({ kind })))
  assert.ok(!isAdvised({ kind: 'tarn' }))
  assert.ok(!isAdvised({ kind: undefined }))
  assert.ok(!isAdvised({ kind: 'pg', queries: [] }))
})
