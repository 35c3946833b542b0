'use strict'
// What is turned away, by the route it would have gone to: exact while it is little, in all exact and by
// route a guess when it is much.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { METHODS } = require('../../src/core/request/methods')
const { COUNTERS, SHED_COLUMN } = require('../../src/core/request/route-series')
const { RouteTable } = require('../../src/core/request/route-table')
const { FakeClock } = require('../support/fake-clock.js')

function shedder() {
  const clock = new FakeClock()
  const table = new RouteTable({ max: 10, overflow: '(other)', unmatched: '(unmatched)' })
  const [users, orders] = ['/users/:id', '/orders'].map((route) => table.find(route, METHODS.indexOf('GET')))
  const recorder = { nowMs: clock.now }
  return {
    clock,
    shed: (url, req = {}) => table.shed.record({ recorder, req: { method: 'GET', url, ...req } }),
    counts: () =>
      [users, orders].map(({ row }) => table.tables.counters.values[row * COUNTERS + SHED_COLUMN]),
  }
}

test('a few rejections are counted one by one', () => {
  const { clock, shed, counts } = shedder()
  for (let i = 0; i < 30; i++) {
    clock.advance(10)
    shed(i % 3 === 0 ? '/orders' : `/users/${i}`)
  }
  assert.deepEqual(counts(), [20, 10])
})

test('of many rejections one stands for the others: the sum is exact, and the shares are close', () => {
  const { clock, shed, counts } = shedder()
  const total = 64_000
  for (let i = 0; i < total; i++) {
    if (i % 16 === 0) clock.advance(0.5)
    shed(i % 4 === 0 ? '/orders' : `/users/${i}`)
  }
  const [users, orders] = counts()
  assert.ok(total - users - orders >= 0 && total - users - orders < 32, `${users} and ${orders}`)
  // Of 4000 samples a quarter: 1000 +-27, and each weighs 16 +-9. Five times the deviation.
  assert.ok(Math.abs(orders - total / 4) < 2500, `${orders} of ${total / 4}`)
})

test('after a flood, rejections are counted one by one again', () => {
  const { clock, shed, counts } = shedder()
  for (let i = 0; i < 1000; i++) shed('/orders')
  clock.advance(200)
  // The one that is looked at next still stands for those before it.
  for (let i = 0; i < 31; i++) shed('/orders')
  const [, before] = counts()
  assert.equal(before > 1000 - 31, true)
  clock.advance(200)
  for (let i = 0; i < 31; i++) shed('/orders')
  // As may the last of these for up to thirty of the next.
  clock.advance(200)
  for (let i = 0; i < 40; i++, clock.advance(10)) shed('/users/1')
  assert.ok(counts()[0] >= 40, `${counts()[0]}`)
})

test('the original URL is matched, even after a router has changed it', () => {
  const { shed, counts } = shedder()
  shed('/7', { originalUrl: '/users/7' })
  assert.deepEqual(counts(), [1, 0])
})
