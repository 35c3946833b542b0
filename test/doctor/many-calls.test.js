'use strict'
// A route that makes many calls for each request, on both sides of each threshold.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const rule = require('../../src/features/doctor/problems/many-calls')
const { figuresWith, routeWith } = require('./figures')

/** 100 requests of 1.6 s with 34 calls of 40 ms each, one after another. */
function claimsOf({ of = {}, calls = {}, pool = undefined, ...changes } = {}) {
  const route = routeWith({ count: 100, meanMs: 1600, ...of })
  const made = { awaited: 3400, awaitedMs: 136_000, count: 3400, totalMs: 136_000, ...calls }
  const each = { method: 'GET', route: '/orders', ...made }
  const sums =
    pool === undefined ? { outgoing: [{ host: 'db', ...each }] } : { poolUses: [{ pool, ...each }] }
  return rule.find(figuresWith({ routes: [route], ...sums, ...changes }))
}
const isFound = (given) => claimsOf(given).length === 1

test('the sentence has the calls of a request, to whom, and how much of its duration they take', () => {
  const [{ advice, route, severity, summary }] = claimsOf()
  assert.equal(
    summary,
    'GET /orders makes 34 calls to db for each request, one after another: they take 1.4 s of its 1.6 s.'
  )
  assert.deepEqual([severity, route], ['medium', 'GET /orders'])
  assert.match(advice, /list of their ids.*Promise\.all/)
})

test('uses of a pool are judged as calls are, and the advice is about queries', () => {
  const [{ advice, summary }] = claimsOf({ pool: 'main' })
  assert.match(summary, /^GET \/orders uses the pool 'main' 34 times for each request, one after another:/)
  assert.match(advice, /JOIN/)
})

test('calls at the same time are not said to be made one after another', () => {
  const [{ advice, summary }] = claimsOf({ calls: { totalMs: 800_000 } })
  assert.match(summary, /about 6 at a time: they take 1.4 s of its 1.6 s/)
  assert.doesNotMatch(advice, /Promise\.all/)
})

test('a route is not claimed whose calls are few, or a small part of its duration, or whose requests are quick or rare', () => {
  assert.ok(isFound({ calls: { awaited: 1000 } }))
  assert.ok(!isFound({ calls: { awaited: 999 } }))
  assert.ok(isFound({ calls: { awaitedMs: 80_000 } }))
  assert.ok(!isFound({ calls: { awaitedMs: 79_999 } }))
  assert.ok(isFound({ of: { meanMs: 200 } }))
  assert.ok(!isFound({ of: { meanMs: 199 } }))
  assert.ok(isFound({ of: { count: 10 } }))
  assert.ok(!isFound({ of: { count: 9 } }))
})

test('a route that takes half a second is a finding of medium severity, a quicker one is low', () => {
  assert.equal(claimsOf({ of: { meanMs: 500 } })[0].severity, 'medium')
  assert.equal(claimsOf({ of: { meanMs: 499 } })[0].severity, 'low')
})

test('nothing is claimed where the loop is busy, or for calls of another route or of none', () => {
  assert.ok(isFound({ loop: { utilization: 0.69 } }))
  assert.ok(!isFound({ loop: { utilization: 0.7 } }))
  assert.ok(!isFound({ calls: { route: '/items' } }))
  assert.ok(!isFound({ calls: { method: 'POST' } }))
  assert.ok(!isFound({ calls: { method: null, route: null } }))
  assert.ok(!isFound({ outgoing: undefined }))
})

test('requests under way have made calls as well: no part is larger than the whole', () => {
  const [{ summary }] = claimsOf({ calls: { awaitedMs: 200_000 } })
  assert.match(summary, /they take 1.6 s of its 1.6 s/)
})

test('a route that is slow for its many calls is not a slow dependency, unless a call has become slower', () => {
  const { find } = require('../../src/features/doctor/problems/slow-dependency')
  const found = (awaited, usualMs) => {
    const route = routeWith({ count: 100, meanMs: 3000, firstByteMs: 3000, usualMs: 900 })
    const sums = { awaited, awaitedMs: 280_000, count: 2800, totalMs: 280_000, usualMs }
    const outgoing = [{ host: 'db', method: 'GET', route: '/orders', ...sums }]
    return find(figuresWith({ routes: [route], outgoing })).length === 1
  }
  assert.ok(!found(2800, undefined))
  assert.ok(!found(2800, 34))
  assert.ok(found(2800, 33))
  assert.ok(found(900, 100))
})
