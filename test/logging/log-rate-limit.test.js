'use strict'
// How many lines of a kind a log takes.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LineBudget } = require('../../src/logging/log-rate-limit')

const spendAll = (budget, count, nowMs) => Array.from({ length: count }, () => budget.spend(nowMs))
const lines = (spent) => spent.filter((unlogged) => unlogged >= 0)

test('ten lines at once, then one a second that says how many went before it', () => {
  const budget = new LineBudget(0)
  assert.deepEqual(lines(spendAll(budget, 100, 0)), Array(10).fill(0))
  assert.deepEqual(spendAll(budget, 2, 999), [-1, -1])
  assert.deepEqual(spendAll(budget, 2, 1000), [92, -1])
  assert.deepEqual(spendAll(budget, 1, 2000), [1])
})

test('an hour of silence is ten lines again, and no more', () => {
  const budget = new LineBudget(0)
  spendAll(budget, 100, 0)
  assert.equal(lines(spendAll(budget, 100, 3_600_000)).length, 10)
})

test('a clock that stands still, or goes back, earns nothing', () => {
  const budget = new LineBudget(5000)
  assert.equal(lines(spendAll(budget, 20, 5000)).length, 10)
  assert.deepEqual(spendAll(budget, 2, 0), [-1, -1])
})
