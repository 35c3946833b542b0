'use strict'
// When the loop has idled, and what a long turn is credited with.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Idling } = require('../../src/admission/idling')

/** A loop that is busy and idles for as long as it is told. */
function loopOf({ targetDelay = 40, maxDelay = 200 } = {}) {
  let nowMs = 1000
  let idleMs = 500
  let turn = { nowMs, idleMs }
  const idling = new Idling({ now: () => nowMs, idleMs: () => idleMs })
  idling.update({ targetDelay, maxDelay })
  return {
    idling,
    busy: (ms) => {
      nowMs += ms
    },
    idle: (ms) => {
      nowMs += ms
      idleMs += ms
    },
    endTurn: ({ isCrowded = false } = {}) => {
      const idledMs = idleMs - turn.idleMs
      const busyMs = nowMs - turn.nowMs - idledMs
      turn = { nowMs, idleMs }
      return idling.noteTurn(busyMs, nowMs, idleMs, isCrowded)
    },
    creditMs: () => idling.takeCreditMs(nowMs),
    hasIdled: () => idling.hasIdled(nowMs),
  }
}

for (const [blockMs, creditMs] of [
  [20, 0],
  [100, 100],
  [5000, 200],
]) {
  test(`a turn of ${blockMs} ms after a free loop is credited with ${creditMs}, once`, () => {
    const { idle, endTurn, busy, creditMs: take } = loopOf()
    idle(100)
    endTurn()
    busy(blockMs)
    assert.equal(take(), creditMs)
    assert.equal(take(), 0)
    endTurn()
    assert.equal(take(), 0)
  })
}

test('what the loop slept in a turn is not credited', () => {
  const { idle, endTurn, busy, creditMs } = loopOf()
  idle(100)
  endTurn()
  idle(3000)
  busy(10)
  assert.equal(creditMs(), 0)
  busy(50)
  assert.equal(creditMs(), 60)
})

test('where requests wait already, or the loop has not idled of late, a long turn is overload', () => {
  const crowded = loopOf()
  crowded.idle(100)
  crowded.endTurn({ isCrowded: true })
  crowded.busy(500)
  assert.equal(crowded.creditMs(), 0)

  const busy = loopOf()
  busy.idle(100)
  busy.endTurn()
  for (let i = 0; i < 3; i++) {
    busy.busy(30)
    busy.endTurn()
  }
  busy.busy(500)
  assert.equal(busy.creditMs(), 0)
})

test('a nap while jobs wait is no idling', () => {
  const { idling, idle, busy, endTurn, hasIdled } = loopOf()
  idle(10)
  assert.equal(endTurn(), 10)
  assert.equal(hasIdled(), true)
  busy(100)
  idling.noteNap()
  idle(10)
  assert.equal(endTurn(), 0)
  assert.equal(hasIdled(), false)
})

for (const [idleShare, hasSpareTime] of [
  [0.05, false],
  [0.2, true],
]) {
  test(`a loop that idles for ${idleShare} of its turns ${hasSpareTime ? 'has' : 'has no'} time to spare`, () => {
    const { idling, busy, idle, endTurn } = loopOf()
    idle(100)
    endTurn()
    assert.equal(idling.hasSpareTime, true)
    for (let turns = 0; turns < 100; turns++) {
      busy(4 * (1 - idleShare))
      idle(4 * idleShare)
      endTurn()
    }
    assert.equal(idling.hasSpareTime, hasSpareTime)
  })
}
