'use strict'
// The memory ramp by table.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { MemoryGuard } = require('../../src/admission/memory-guard')
const { PRIORITIES } = require('../../src/admission/priority')

const guardAt = (share) => {
  const guard = new MemoryGuard()
  guard.note(share * 1e9, 1e9)
  return guard
}

for (const [share, pressure] of [
  [0, 0],
  [0.85, 0],
  [0.875, 0.25],
  [0.9, 0.5],
  [0.95, 1],
  [1.2, 1],
]) {
  test(`${share} of the limit after a collection is a pressure of ${pressure}`, () => {
    assert.ok(Math.abs(guardAt(share).pressure - pressure) < 1e-9)
  })
}

test('before the first major collection nothing is known, and a later sample without one changes nothing', () => {
  const guard = new MemoryGuard()
  guard.note(undefined, 1e9)
  assert.equal(guard.pressure, 0)
  guard.note(1e9, 1e9)
  guard.note(undefined, 1e9)
  assert.equal(guard.pressure, 1)
})

test('a heap that falls lets all in again at once', () => {
  const guard = guardAt(1)
  guard.note(0.5e9, 1e9)
  assert.equal(guard.pressure, 0)
})

/** The random number below which a class is refused. */
const refusedBelow = (guard, priority) => {
  let count = 0
  for (let i = 0; i < 1000; i++) if (guard.rejects(priority, (i + 0.5) / 1000)) count++
  return count / 1000
}

for (const [share, shares] of [
  [0.8, [0, 0, 0, 0]],
  [0.9, [0, 0.25, 0.5, 0.75]],
  [1, [0, 0.5, 0.95, 0.95]],
]) {
  test(`at ${share} of the limit the classes are refused by ${shares.join(', ')}`, () => {
    const guard = guardAt(share)
    assert.deepEqual(
      PRIORITIES.slice(0, 4).map((_, priority) => refusedBelow(guard, priority)),
      shares
    )
  })
}
