'use strict'
// The burst rule by table: what is tolerated after how long a queue has stood.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { DelayGuard } = require('../../src/admission/delay-guard')

const guardFrom = (nowMs) => new DelayGuard({ maxDelayMs: 200, targetDelayMs: 40, intervalMs: 100 }, nowMs)

for (const [stoodMs, toleratedMs] of [
  [0, 200],
  [50, 200],
  [100, 200],
  [100.1, 40],
  [5000, 40],
]) {
  test(`a queue that has stood for ${stoodMs} ms may make wait for ${toleratedMs} ms`, () => {
    const guard = guardFrom(1000)
    assert.equal(guard.toleratedMs(1000 + stoodMs), toleratedMs)
  })
}

test('a queue that empties is a burst again, at once', () => {
  const guard = guardFrom(0)
  assert.equal(guard.toleratedMs(1000), 40)
  guard.noteEmpty(1000)
  assert.equal(guard.toleratedMs(1001), 200)
})
