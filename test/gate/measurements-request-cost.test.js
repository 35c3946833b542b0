'use strict'
// What a request and a rejection cost, from loop turns told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { RequestCost } = require('../../src/core/gate/measurements/request-cost')

function driven() {
  const cost = new RequestCost(0)
  let nowMs = 0
  /** A loop turn in which so many requests end and so many are rejected, after it idled. */
  const turn = ({ busyMs, ended = 0, rejected = 0, rejectMs = 0, idledMs = 0 }) => {
    nowMs += busyMs + idledMs
    for (let i = 0; i < rejected; i++) cost.onRejectionSent(rejectMs)
    cost.onTurn(busyMs, nowMs, ended)
  }
  return { cost, turn }
}

const isNear = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-9, `${value}, not ${expected}`)

test('the cost is the busy time over the requests that ended', () => {
  const { cost, turn } = driven()
  turn({ busyMs: 20, ended: 10 })
  assert.deepEqual([cost.ms, cost.meanMs], [2, 2])
})

test('a window ends after ten requests, however many loop turns they take', () => {
  const { cost, turn } = driven()
  for (let i = 0; i < 9; i++) turn({ busyMs: 3, ended: 1 })
  assert.equal(cost.ms, 0)
  turn({ busyMs: 3, ended: 1 })
  isNear(cost.ms, 3)
})

for (const [what, strange] of [
  ['a stall', { busyMs: 5000, ended: 10 }],
  ['a lull', { busyMs: 0.01, ended: 10 }],
]) {
  test(`${what} does not change the cost: the median counts`, () => {
    const { cost, turn } = driven()
    for (let i = 0; i < 20; i++) turn({ busyMs: 20, ended: 10 })
    for (let i = 0; i < 4; i++) turn(strange)
    isNear(cost.ms, 2)
  })
}

test('a rising cost is measured after half of the last 400 requests', () => {
  const { cost, turn } = driven()
  for (let i = 0; i < 40; i++) turn({ busyMs: 2, ended: 10 })
  for (let i = 0; i < 20; i++) turn({ busyMs: 20, ended: 10 })
  isNear(cost.ms, 0.2)
  turn({ busyMs: 20, ended: 10 })
  isNear(cost.ms, 2)
})

test('a long turn counts by the requests that ended in it, and never as the majority', () => {
  const { cost, turn } = driven()
  for (let i = 0; i < 40; i++) turn({ busyMs: 25.6, ended: 128 })
  turn({ busyMs: 512, ended: 256 })
  isNear(cost.ms, 0.2)
  turn({ busyMs: 512, ended: 256 })
  isNear(cost.ms, 2)
})

test('rare expensive requests count on average, and not in the median', () => {
  const { cost, turn } = driven()
  for (let i = 0; i < 40; i++) turn({ busyMs: i % 10 === 9 ? 110 : 10, ended: 10 })
  isNear(cost.ms, 1)
  assert.ok(cost.meanMs > 1.7 && cost.meanMs < 2.3, String(cost.meanMs))
})

test('what an application does for itself before its first requests is not their cost', () => {
  const { cost, turn } = driven()
  turn({ busyMs: 5000, ended: 0 })
  turn({ busyMs: 3000, ended: 10 })
  for (let i = 0; i < 10; i++) turn({ busyMs: 20, ended: 10 })
  isNear(cost.ms, 2)
  isNear(cost.meanMs, 2)
})

test('one rejection in which the heap was collected changes the cost of a rejection by less than a fifth', () => {
  const { cost, turn } = driven()
  turn({ busyMs: 10, ended: 10, rejected: 200, rejectMs: 0.01 })
  const beforeMs = cost.rejectionMs
  turn({ busyMs: 700, ended: 1, rejected: 1, rejectMs: 700 })
  assert.ok(cost.rejectionMs < beforeMs * 1.2, `${beforeMs} and ${cost.rejectionMs}`)
})

test('the cost of rejections, with their reading, is subtracted', () => {
  const { cost, turn } = driven()
  for (let i = 0; i < 10; i++) turn({ busyMs: 20 + 400 * 0.05, ended: 10, rejected: 400, rejectMs: 0.025 })
  isNear(cost.ms, 2)
})

test('rejections that take longer than the loop was busy do not make the cost negative', () => {
  const { cost, turn } = driven()
  turn({ busyMs: 1, ended: 10, rejected: 100, rejectMs: 1 })
  assert.equal(cost.ms, 0)
})

test('the cost is known after 200 requests, or after three seconds of work', () => {
  const many = driven()
  for (let i = 0; i < 199; i++) many.turn({ busyMs: 2, ended: 1 })
  assert.equal(many.cost.isKnown, false)
  many.turn({ busyMs: 2, ended: 1 })
  assert.equal(many.cost.isKnown, true)
  const long = driven()
  for (let i = 0; i < 14; i++) long.turn({ busyMs: 2000, ended: 1, rejected: 900, rejectMs: 1 })
  assert.equal(long.cost.isKnown, false)
  long.turn({ busyMs: 2000, ended: 1, rejected: 900, rejectMs: 1 })
  assert.equal(long.cost.isKnown, true)
})

test('before the first window ends, the cost is the time until handlers first return', () => {
  const { cost, turn } = driven()
  cost.onRun(3)
  assert.deepEqual([cost.ms, cost.meanMs], [3, 3])
  cost.onRun(4)
  isNear(cost.ms, 3.02)
  turn({ busyMs: 20, ended: 10 })
  assert.equal(cost.ms, 2)
})

test('a rejection costs twice what sending it takes, smoothed over the last fifty', () => {
  const { cost } = driven()
  assert.equal(cost.rejectionMs, 0.03)
  cost.onRejectionSent(0.04)
  isNear(cost.rejectionMs, 0.03 + 0.02 * (0.08 - 0.03))
  for (let i = 0; i < 500; i++) cost.onRejectionSent(0.04)
  assert.ok(Math.abs(cost.rejectionMs - 0.08) < 1e-4)
})

test('the share that rejections take of the loop follows within a second, and is 0.9 at most', () => {
  const { cost, turn } = driven()
  for (let i = 0; i < 9; i++) turn({ busyMs: 10, rejected: 50, rejectMs: 0.025 })
  assert.equal(cost.rejectedShare, 0)
  turn({ busyMs: 10, rejected: 50, rejectMs: 0.025 })
  isNear(cost.rejectedShare, 0.3 * 0.25)
  for (let i = 0; i < 200; i++) turn({ busyMs: 10, rejected: 50, rejectMs: 0.025 })
  assert.ok(Math.abs(cost.rejectedShare - 0.25) < 0.01)
  for (let i = 0; i < 200; i++) turn({ busyMs: 10, rejected: 500, rejectMs: 0.025 })
  assert.ok(cost.rejectedShare > 0.89 && cost.rejectedShare <= 0.9)
  for (let i = 0; i < 200; i++) turn({ busyMs: 10 })
  assert.ok(cost.rejectedShare < 0.01)
})
