'use strict'
// The cost of a request, from windows of 100 ms told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { RequestCost } = require('../../src/admission/request-cost')

function window(cost, fromMs, { busyMs, ended, rejected = 0 }) {
  for (let i = 0; i < ended; i++) cost.noteEnd()
  for (let i = 0; i < rejected; i++) cost.noteReject()
  cost.noteTurn(busyMs, fromMs + 100)
}

test('the cost is the busy time over the requests that ended', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 100, ended: 50 })
  assert.equal(cost.ms, 2)
  assert.equal(cost.rate, 500)
})

test('a window in which rejections were much of the work does not make answers look dearer', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 100, ended: 50 })
  for (let i = 1; i < 50; i++) window(cost, i * 100, { busyMs: 100, ended: 40, rejected: 400 })
  assert.equal(cost.ms, 2)
})

test('a window of fewer than three requests says nothing', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 100, ended: 2 })
  assert.equal(cost.ms, 0)
})

test('what a run took until it returned is known before any window is over', () => {
  const cost = new RequestCost(0)
  cost.noteRun(3)
  assert.equal(cost.ms, 3)
})

test('one ahead makes wait for its cost, or where slots are short for the time between two ends', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 10, ended: 50 })
  assert.equal(cost.each(true), 0.2)
  assert.equal(cost.each(false), 2)
})
