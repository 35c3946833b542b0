'use strict'
// The burst rule by table: what is tolerated after how long a queue has stood.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { DelayGuard } = require('../../src/admission/delay-guard')

function guardFrom(nowMs) {
  const guard = new DelayGuard(nowMs)
  guard.update({ maxDelay: 200, targetDelay: 40, interval: 100 })
  return guard
}

/** Time goes by, in turns of so long at most, of a loop that never idles. */
function pass(guard, fromMs, forMs, turnMs = 10) {
  for (let nowMs = fromMs + turnMs; nowMs < fromMs + forMs; nowMs += turnMs) guard.noteTurn(nowMs, 0)
  guard.noteTurn(fromMs + forMs, 0)
}

for (const [stoodMs, toleratedMs] of [
  [0, 200],
  [50, 200],
  [100, 200],
  [100.1, 40],
  [5000, 40],
]) {
  test(`a queue that has stood for ${stoodMs} ms may make wait for ${toleratedMs} ms`, () => {
    const guard = guardFrom(1000)
    pass(guard, 1000, stoodMs)
    assert.equal(guard.toleratedMs(1000 + stoodMs), toleratedMs)
  })
}

test('a queue that empties is a burst again, at once', () => {
  const guard = guardFrom(0)
  pass(guard, 0, 1000)
  assert.equal(guard.toleratedMs(1000), 40)
  guard.noteEmpty(1000)
  assert.equal(guard.toleratedMs(1001), 200)
})

test('a queue that empties because all in it were too old is a burst once, and then not until the loop has idled', () => {
  const guard = guardFrom(0)
  const expireAt = (nowMs, idledMs) => {
    pass(guard, nowMs - 150, 150)
    guard.noteTurn(nowMs, idledMs)
    guard.noteExpired(nowMs)
    guard.noteEmpty(nowMs)
    return guard.toleratedMs(nowMs)
  }
  assert.equal(expireAt(150, 0), 200)
  assert.equal(expireAt(300, 0), 40)
  assert.equal(expireAt(450, 0), 40)
  assert.equal(expireAt(600, 451), 200)
  assert.equal(expireAt(750, 451), 40)
  // The loop has idled after it.
  guard.noteTurn(760, 755)
  guard.noteEmpty(760)
  assert.equal(guard.toleratedMs(760), 200)
})

for (const [afterMs, toleratedMs] of [
  [200, 200],
  [201, 40],
]) {
  test(`a queue emptied by its being too old ${afterMs} ms after the loop idled, of an interval of 100, may make wait for ${toleratedMs} ms`, () => {
    const guard = guardFrom(0)
    for (let nowMs = 50; nowMs < afterMs; nowMs += 50) guard.noteTurn(nowMs, 0)
    guard.noteTurn(afterMs, 0)
    guard.noteExpired(afterMs)
    guard.noteEmpty(afterMs)
    assert.equal(guard.toleratedMs(afterMs), toleratedMs)
  })
}

test('where the loop never idles, an empty queue is a burst again when none has been too old for an interval', () => {
  const guard = guardFrom(0)
  for (const nowMs of [150, 300]) {
    pass(guard, nowMs - 150, 150)
    guard.noteTurn(nowMs, 0)
    guard.noteExpired(nowMs)
    guard.noteEmpty(nowMs)
  }
  pass(guard, 300, 100)
  guard.noteEmpty(399)
  assert.equal(guard.toleratedMs(399), 40)
  guard.noteEmpty(400)
  assert.equal(guard.toleratedMs(400), 200)
})

for (const when of ['while it lasts', 'when it is over']) {
  test(`one turn of a second makes no queue of an interval of 200 ms one that stands, ${when}`, () => {
    const guard = guardFrom(0)
    guard.update({ maxDelay: 200, targetDelay: 40, interval: 200 })
    if (when === 'when it is over') guard.noteTurn(1000)
    assert.equal(guard.toleratedMs(1000), 200)
  })
}

test('turns of a second one after the other do', () => {
  const guard = guardFrom(0)
  pass(guard, 0, 2000, 1000)
  assert.equal(guard.toleratedMs(2000), 40)
})

for (const [heldMs, waitedMs] of [
  [0, 100],
  [5, 105],
  [10, 110],
  [1000, 110],
]) {
  test(`who was held by the kernel for ${heldMs} ms has waited for ${waitedMs} after another 100`, () => {
    const guard = guardFrom(0)
    const sinceMs = guard.waitsSince(0, heldMs)
    pass(guard, 0, 100)
    assert.equal(guard.patienceAt(100) - sinceMs, waitedMs)
  })
}

test('a queue that stands is let wait no longer than a burst, whatever the options say', () => {
  const guard = new DelayGuard(0)
  guard.update({ maxDelay: 20, targetDelay: 40, interval: 100 })
  pass(guard, 0, 1000)
  assert.equal(guard.toleratedMs(1000), 20)
})
