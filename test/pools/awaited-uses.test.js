'use strict'
// How long requests had a connection of a pool, and how many of their uses ended before they did.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { PoolSamples } = require('../../src/features/pools/pool-samples')
const { RouteUses } = require('../../src/features/pools/route-uses')
const { addVisit } = require('../../src/features/pools/visits')

/** Each use as its length and when it ended. */
function totalsAfter(uses) {
  const routes = new RouteUses('other')
  const record = /** @type {any} */ ({ name: 'main', routes })
  const visit = addVisit({ method: 'GET', route: '/orders' }, record)
  for (const [ms, atMs] of uses) visit.onUse(ms, atMs)
  routes.findOrAdd('GET', '/orders').onUses(visit, 1000)
  const samples = new PoolSamples(new Map([['main', record]]), /** @type {any} */ ({ now: () => 1000 }))
  const [{ pool, count, totalMs, awaited, awaitedMs }] = [...samples.totals().values()]
  return [pool, count, totalMs, awaited, awaitedMs]
}

test('uses one after another take the sum of their times', () => {
  assert.deepEqual(
    totalsAfter([
      [40, 140],
      [60, 210],
    ]),
    ['main', 2, 100, 2, 100]
  )
})

test('uses at the same time take the time of the longest', () => {
  assert.deepEqual(
    totalsAfter([
      [40, 140],
      [50, 150],
      [50, 150],
    ]),
    ['main', 3, 140, 3, 50]
  )
})
