'use strict'
// Calls of a slow route that fail at once: the route waits between its calls.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const slowDependency = require('../../src/features/doctor/problems/slow-dependency')
const { UsualErrors } = require('../../src/features/doctor/usual-errors')
const { figuresWith, routeWith } = require('./figures')

const CARTS = { method: 'GET', route: '/carts/:id' }
const COUNT = 600
/** Two calls for each request, 9 ms each. */
const CALLS = {
  ...CARTS,
  host: 'pricing',
  count: 2 * COUNT,
  totalMs: 2 * COUNT * 9,
  awaited: 2 * COUNT,
  awaitedMs: 2 * COUNT * 9,
  usualMs: 8,
  errors: 480,
  failedStatus: 503,
  usualErrors: 0.001,
}

/** @param {any} [changes] */
function claimOf({ calls = {}, others = [], meanMs = 125, ...figures } = {}) {
  const slow = { firstByteMs: 125, meanMs, usualMs: 14 }
  const route = routeWith({ ...CARTS, count: COUNT, ...slow })
  const outgoing = [{ ...CALLS, ...calls }, ...others]
  return slowDependency.find(figuresWith({ routes: [route], outgoing, ...figures }))[0]
}
/** @param {any} [changes] */
const isNamed = (changes) => claimOf(changes).summary.includes('fail')

test('calls that fail at once are named with their share, and no timeout is advised', () => {
  const { advice, evidence, severity, summary } = claimOf()
  assert.equal(severity, 'high')
  assert.match(
    summary,
    /^Requests of GET \/carts\/:id wait 125 ms on average\. Usually they wait 14 ms\. 40 % of its calls to pricing fail, the last with 503\. Usually 0\.1 % fail\. A call takes 9 ms: the rest of the wait is outside of these calls, such as in a retry with back-off\. The event loop/
  )
  assert.equal(
    advice,
    'Look at why calls to pricing fail. A timeout does not help, because these calls are short. Let GET /carts/:id retry fewer times, with a shorter back-off, and not at all while most calls fail (a circuit breaker). Where possible, answer from a cache, or without the result of the call.'
  )
  assert.deepEqual(evidence.slice(-4), [
    { name: 'failed calls to pricing', value: 0.4, unit: 'share of the calls' },
    { name: 'usually failed', value: 0.001, unit: 'share of the calls' },
    { name: 'calls to pricing', value: 9, unit: 'ms on average' },
    { name: 'calls for each request', value: 2, unit: '' },
  ])
})

test('a call without an answer has no status to name', () => {
  assert.match(claimOf({ calls: { failedStatus: 0 } }).summary, /calls to pricing fail\. Usually/)
  // The answer was cut off.
  assert.match(claimOf({ calls: { failedStatus: 200 } }).summary, /calls to pricing fail\. Usually/)
})

test('failed calls are named from a tenth on, from five on, and from three times the usual share on', () => {
  assert.ok(isNamed({ calls: { errors: 120 } }))
  assert.ok(!isNamed({ calls: { errors: 119 } }))
  const few = (errors) => ({ count: 40, totalMs: 40 * 9, errors })
  assert.ok(isNamed({ calls: few(5) }))
  assert.ok(!isNamed({ calls: few(4) }))
  assert.ok(isNamed({ calls: { usualErrors: 0.13 } }))
  assert.ok(!isNamed({ calls: { usualErrors: 0.134 } }))
  assert.ok(!isNamed({ calls: { usualErrors: undefined } }))
  assert.ok(!isNamed({ calls: { errors: undefined } }))
})

test('failed calls that are slow themselves are not named as short', () => {
  // Three times as long as usual.
  assert.ok(isNamed({ calls: { usualMs: 3.01 } }))
  assert.ok(!isNamed({ calls: { usualMs: 3 } }))
  assert.ok(!isNamed({ calls: { usualMs: undefined } }))
  // Half of the time until the answer begins. Sending it takes as long.
  const sent = { count: 6000, errors: 3000 }
  assert.ok(isNamed({ meanMs: 250, calls: { ...sent, totalMs: 600 * 62.5 - 1 } }))
  assert.ok(!isNamed({ meanMs: 250, calls: { ...sent, totalMs: 600 * 62.5 } }))
  // Half of the time of the route.
  const half = 600 * 62.5
  assert.ok(isNamed({ calls: { count: 6000, errors: 3000, totalMs: half - 1 } }))
  const { summary } = claimOf({ calls: { count: 6000, errors: 3000, totalMs: half } })
  assert.doesNotMatch(summary, /fail/)
  assert.match(summary, /most of it for pricing/)
})

test('failed calls of another route, or of an unknown one, are not named', () => {
  for (const of of [{ route: '/other' }, { method: 'POST' }, { method: null, route: null }])
    assert.ok(!isNamed({ calls: of }))
})

test('the host with the most failed calls is named', () => {
  const others = [{ ...CALLS, host: 'profile', errors: 481 }]
  assert.match(claimOf({ others }).summary, /of its calls to profile fail/)
})

test('failed calls are not named where another host, a query or a pool takes most of the time', () => {
  const totalMs = COUNT * 100
  const sums = { ...CARTS, count: COUNT, totalMs, awaited: COUNT, awaitedMs: totalMs, usualMs: 5 }
  const { advice, summary } = claimOf({ others: [{ ...sums, host: 'stock' }] })
  assert.match(summary, /most of it for stock/)
  assert.doesNotMatch(summary + advice, /fail/)
  assert.ok(!isNamed({ poolUses: [{ ...sums, pool: 'shop', query: 'find carts' }] }))
  assert.ok(!isNamed({ poolUses: [{ ...sums, pool: 'shop', query: undefined }] }))
})

test('a route with failed calls that is as quick as usual is not found', () => {
  const route = routeWith({ ...CARTS, count: COUNT })
  assert.deepEqual(slowDependency.find(figuresWith({ routes: [route], outgoing: [CALLS] })), [])
})

function usualAfter(looks) {
  const usual = new UsualErrors()
  const key = {}
  for (const [count, errors, times = 1] of looks)
    for (let i = 0; i < times; i++) usual.onLook(key, count, errors)
  return usual.of(key)
}

test('the usual share of failed calls is the mean of the looks, and a fault of 20 minutes does not become usual', () => {
  assert.equal(usualAfter([]), undefined)
  assert.equal(usualAfter([[4, 4]]), undefined)
  assert.equal(usualAfter([[5, 1]]), 0.2)
  // 0 and 9 % are 4.5 %.
  assert.equal(
    usualAfter([
      [100, 0],
      [100, 9],
    ]),
    0.045
  )
  const fault = usualAfter([
    [100, 0, 60],
    [100, 50, 120],
  ])
  assert.ok(Number(fault) < 0.5 / 3, `${fault}`)
  // Not far above the usual share.
  const grown = usualAfter([
    [100, 10],
    [100, 29, 1000],
  ])
  assert.ok(Number(grown) > 0.28, `${grown}`)
})
