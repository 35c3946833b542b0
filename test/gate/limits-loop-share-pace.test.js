'use strict'
// How close behind each other requests may start, while the loop is full or was a moment ago.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Pace } = require('../../src/core/gate/limits/loop-share')

/** A pace that is kept from 0 on, with requests that wait so long for others. */
function kept(waitMs = 100) {
  const pace = new Pace()
  pace.onTurn(0, true, waitMs)
  return pace
}

function startAll(pace, costMs, nowMs) {
  let count = 0
  for (; count < 1000 && pace.allows(nowMs); count++) pace.onAdmit(costMs, nowMs)
  return count
}

test('without a full loop there is no pace', () => {
  const pace = new Pace()
  pace.onTurn(0, false, 100)
  assert.equal(startAll(pace, 5, 0), 1000)
})

test('nothing starts while the debt is over 20 ms', () => {
  assert.equal(startAll(kept(), 5, 0), 5)
})

test('the debt is paid off 1.1 times as fast as time goes by', () => {
  const pace = kept()
  startAll(pace, 5, 0)
  // A debt of 25 ms, 5 of them too many.
  assert.equal(pace.allows(4.5), false)
  assert.equal(pace.allows(4.6), true)
})

test('unused time is not credited: the debt is never below 0', () => {
  const pace = kept(10_000)
  pace.onTurn(900, true, 10_000)
  assert.equal(startAll(pace, 5, 900), 5)
})

test('a cost that is far too high runs up a debt of 100 ms at most, and that of the request itself', () => {
  const pace = kept(10_000)
  for (let i = 0; i < 10; i++) pace.onAdmit(1000, 0)
  pace.onAdmit(1, 0)
  assert.equal(pace.allows((101 - 20) / 1.1 - 0.1), false)
  assert.equal(pace.allows((101 - 20) / 1.1 + 0.1), true)
})

for (const [waitMs, keptMs] of [
  [40, 80],
  [100, 200],
  [10_000, 500],
]) {
  test(`where requests wait ${waitMs} ms for others, the pace applies for ${keptMs} ms after the loop was full`, () => {
    const pace = kept(waitMs)
    const isKept = (nowMs) => {
      pace.onTurn(nowMs, false, waitMs)
      pace.onAdmit(50, nowMs)
      return !pace.allows(nowMs)
    }
    assert.deepEqual([isKept(keptMs - 1), isKept(keptMs)], [true, false])
  })
}
