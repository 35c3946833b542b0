'use strict'
// The cost of a request, from windows of 100 ms told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { RequestCost } = require('../../src/admission/request-cost')

function window(cost, fromMs, { busyMs, ended, rejected = 0, rejectMs = 0, inFlight = 1 }) {
  for (let i = 0; i < ended; i++) cost.noteEnd(20)
  for (let i = 0; i < rejected; i++) cost.noteReject(rejectMs)
  cost.noteTurn(busyMs, fromMs + 100, inFlight)
}

test('the cost is the busy time over the requests that ended', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 100, ended: 50 })
  assert.equal(cost.ms, 2)
})

test('what rejections took does not make answers look dearer: twice what we spend on them, for they are read too', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 100, ended: 50 })
  for (let i = 1; i < 50; i++)
    window(cost, i * 100, { busyMs: 100, ended: 40, rejected: 400, rejectMs: 0.025 })
  assert.ok(Math.abs(cost.ms - 2) < 1e-9, String(cost.ms))
})

test('requests that become dearer in the middle of an overload are known to be after a few hundred answers', () => {
  const cost = new RequestCost(0)
  for (let i = 0; i < 10; i++) window(cost, i * 100, { busyMs: 100, ended: 500 })
  for (let i = 10; i < 20; i++)
    window(cost, i * 100, { busyMs: 100, ended: 40, rejected: 400, rejectMs: 0.025 })
  assert.ok(cost.ms > 1.4 && cost.ms < 2, String(cost.ms))
})

test('what the loop does in a night without requests makes the next ones no dearer', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 100, ended: 50 })
  for (let i = 1; i < 10_000; i++) window(cost, i * 100, { busyMs: 5, ended: 0, inFlight: 0 })
  window(cost, 1_000_000, { busyMs: 20, ended: 10 })
  // 2, of which it did 5 % all night.
  assert.ok(cost.ms <= 2 && cost.ms > 1.9, String(cost.ms))
})

test('a stream in flight gathers no more than a second of what the loop does without requests', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 400, ended: 200 })
  for (let i = 1; i < 10_000; i++) window(cost, i * 100, { busyMs: 5, ended: 0 })
  window(cost, 1_000_000, { busyMs: 2, ended: 1 })
  assert.ok(cost.ms < 2.5, String(cost.ms))
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

test('one ahead makes wait for its cost, or where slots are short for the time to get one', () => {
  const cost = new RequestCost(0)
  window(cost, 0, { busyMs: 10, ended: 50 })
  assert.ok(Math.abs(cost.each(true, 100) - 0.2) < 1e-9)
  // Five hundred ended a second.
  assert.equal(cost.each(false, 1), 2)
})

test('a rate that is of a lull does not make waiting look longer than slots are held', () => {
  const cost = new RequestCost(0)
  for (let at = 0; at < 10_000; at += 1000) window(cost, at, { busyMs: 1, ended: 20 })
  assert.ok(cost.each(false, 10) <= 2.01, String(cost.each(false, 10)))
})
