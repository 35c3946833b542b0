'use strict'
// How many requests are expected to ask a pool.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Coming, RouteUses } = require('../../src/pools/route-uses')

function build() {
  const uses = new RouteUses('other')
  const route = uses.findOrAdd('GET', '/db')
  const comeAt = (nowMs) => new Coming({}, route, nowMs)
  return { comeAt, uses }
}

test('a request that runs is expected for 100 ms, one that the gate has queued for as long as it is queued', () => {
  const { comeAt, uses } = build()
  comeAt(0)
  const queued = comeAt(0)
  queued.queue()
  assert.deepEqual([uses.comingWithin(0, 99), uses.queued], [1, 1])
  assert.deepEqual([uses.comingWithin(0, 10_000), uses.queued], [0, 1])
  queued.leave()
  assert.equal(uses.queued, 0)
})

test('a request that has asked, or was rejected, is not expected any more', () => {
  const { comeAt, uses } = build()
  const first = comeAt(0)
  const second = comeAt(0)
  first.arrive(5)
  assert.equal(uses.comingWithin(0, 5), 1)
  second.leave()
  assert.equal(uses.comingWithin(0, 5), 0)
})
