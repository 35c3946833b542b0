'use strict'
// When work waits for connections, by a clock moved by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { AcceptBurst } = require('../../src/core/gate/measurements/accept-burst')

test('a burst begins with the second turn in a row that accepted a connection, and ends with one that did not', () => {
  const burst = new AcceptBurst()
  assert.equal(burst.mayBeAccepting, false)
  burst.onAccept()
  assert.deepEqual([burst.mayBeAccepting, burst.isAccepting(0)], [true, true])
  assert.equal(burst.onTurn(0, 0), false)
  burst.onAccept()
  assert.equal(burst.onTurn(0.02, 0), true)
  assert.equal(burst.onTurn(0.04, 0), false)
  assert.equal(burst.mayBeAccepting, false)
})

test('the end of a handshake that was dropped hides no other handshake', () => {
  const burst = new AcceptBurst()
  burst.onHandshakeEnd()
  burst.onHandshake(0)
  assert.equal(burst.isAccepting(0), true)
  burst.onHandshakeEnd()
  assert.equal(burst.isAccepting(0), false)
})

test('connections that come one by one delay no work', () => {
  const burst = new AcceptBurst()
  for (let turn = 0; turn < 100; turn += 2) {
    burst.onAccept()
    assert.equal(burst.onTurn(turn, 0), false)
    assert.equal(burst.onTurn(turn + 1, 0), false)
  }
})

function burstFor(burst, fromMs, stepMs = 0.5) {
  burst.onAccept()
  burst.onTurn(fromMs, 0)
  let nowMs = fromMs
  let turnedMs = fromMs
  burst.onAccept()
  while (burst.onTurn(nowMs, nowMs - turnedMs)) {
    turnedMs = nowMs
    nowMs += stepMs
    burst.onAccept()
  }
  return nowMs - fromMs
}

test('a burst lasts at most 150 ms, however many connections keep coming', () => {
  assert.equal(burstFor(new AcceptBurst(), 0), 150)
})

test('bursts together take at most four times the work between them', () => {
  const burst = new AcceptBurst()
  const endMs = burstFor(burst, 0)
  burst.onTurn(endMs + 2, 2)
  assert.equal(burstFor(burst, endMs + 2), 8)
})

test('unspent time is kept for the next bursts, up to 150 ms', () => {
  const burst = new AcceptBurst()
  let nowMs = burstFor(burst, 0)
  for (let i = 0; i < 100; i++) burst.onTurn((nowMs += 10), 10)
  assert.equal(burstFor(burst, nowMs), 150)
})

test('an hour of sleep with nothing queued takes next to nothing from the time of the next burst', () => {
  const burst = new AcceptBurst()
  for (const nowMs of [0, 0.1, 3_600_000, 3_600_001, 3_600_002]) {
    burst.onAccept()
    burst.onTurn(nowMs, 0.1)
  }
  assert.ok(burstFor(burst, 3_600_003) > 140)
})

test('the turn after a burst starts work, whatever it accepts, and then another burst may begin', () => {
  const burst = new AcceptBurst()
  const endMs = burstFor(burst, 0)
  const turns = []
  for (let i = 1; i <= 3; i++) {
    burst.onAccept()
    turns.push(burst.onTurn(endMs + i, 1))
  }
  assert.deepEqual(turns, [false, true, true])
})

test('work also starts after a burst that no connection follows', () => {
  const burst = new AcceptBurst()
  const turns = [true, true, false, true, true].map((isAccepting, i) => {
    if (isAccepting) burst.onAccept()
    return burst.onTurn(i, 0)
  })
  assert.deepEqual(turns, [false, true, false, false, true])
})

/** The primary has connections waiting: each of four turns until 0 ms ran a request and then found one. */
function behind() {
  const burst = new AcceptBurst()
  for (const nowMs of [-6, -4, -2, 0]) {
    burst.onAccept(true)
    burst.onTurn(nowMs, 2, true)
  }
  return burst
}

/** Turns of a worker: each ran a request or did not, found a connection or did not, and slept for so long. */
function turnsOf(burst) {
  let nowMs = 0
  return (hasRun, isFound, sleptMs = 0) => {
    nowMs += 2 + sleptMs
    if (isFound) burst.onAccept(true)
    burst.onTurn(nowMs, 2, hasRun)
    return burst.isPrimaryBehind
  }
}

test('the primary has connections waiting once four turns in a row ran a request and then found one', () => {
  const turn = turnsOf(new AcceptBurst())
  assert.deepEqual([turn(true, true), turn(true, true), turn(true, true)], [false, false, false])
  assert.deepEqual([turn(false, false), turn(true, true), turn(true, false)], [false, true, false])
  assert.equal(turn(true, true), false)
})

test('a connection that the loop slept for was not waiting in the primary', () => {
  const turn = turnsOf(new AcceptBurst())
  for (let i = 0; i < 10; i++) assert.equal(turn(true, true, 1), false)
})

for (const [found, isBehind] of [
  [3, false],
  [4, true],
]) {
  test(`the primary ${isBehind ? 'may have' : 'has no'} connections waiting after a burst that found ${found}`, () => {
    const burst = behind()
    let nowMs = 0
    // The first was found after the last of the four turns.
    for (let i = 1; i < found; i++) {
      nowMs += 0.1
      burst.onAccept(true)
      assert.equal(burst.onTurn(nowMs, 0), true)
    }
    assert.equal(burst.onTurn(nowMs + 1, 0), false)
    assert.equal(burst.isPrimaryBehind, isBehind)
  })
}

test('while the primary has no connections waiting, no work waits for it', () => {
  const burst = new AcceptBurst()
  for (let nowMs = 0; nowMs < 100; nowMs++) {
    burst.onAccept(true)
    assert.equal(burst.onTurn(nowMs, 0.02, false), false)
  }
  assert.equal(burst.isAwaitingPrimary, false)
})

test('connections that the process accepts itself say nothing about a primary', () => {
  const burst = new AcceptBurst()
  for (let nowMs = 0; nowMs < 20; nowMs++) {
    burst.onAccept()
    burst.onTurn(nowMs, 1, true)
  }
  assert.equal(burst.isPrimaryBehind, false)
})

test('if the primary accepts, a burst outlasts quiet turns until the loop has slept for as long as a hand-over takes', () => {
  const burst = behind()
  assert.equal(burst.isAwaitingPrimary, false)
  assert.equal(burst.onTurn(0.3, 0), true)
  assert.equal(burst.isAwaitingPrimary, true)
  assert.equal(burst.onTurn(0.5, 0), false)
  assert.equal(burst.isAwaitingPrimary, false)
})

test('the time in which handlers go on is no waiting for the primary', () => {
  const burst = behind()
  assert.equal(burst.onTurn(3, 3), true)
  burst.onAccept(true)
  assert.equal(burst.onTurn(6, 3), true)
})

test('a connection that the loop slept for longer than a hand-over takes ends the burst: work starts in the next turn', () => {
  const burst = behind()
  assert.equal(burst.onTurn(0.01, 0), true)
  burst.onAccept(true)
  assert.equal(burst.onTurn(0.51, 0), false)
  burst.onAccept(true)
  assert.equal(burst.onTurn(0.53, 0), false)
  burst.onAccept(true)
  // The loop worked meanwhile, so this connection may have waited.
  assert.equal(burst.onTurn(5.6, 5), true)
})

test('the turns that do arithmetic of a TLS handshake belong to a burst, the turns that wait for the client do not', () => {
  const burst = new AcceptBurst()
  burst.onAccept()
  burst.onHandshake(0)
  assert.equal(burst.onTurn(0, 0.05), false)
  assert.equal(burst.onTurn(0.4, 0.4), true)
  assert.equal(burst.onTurn(0.41, 0.01), false)
  assert.equal(burst.onTurn(0.42, 0.01), false)
  assert.equal(burst.onTurn(5, 0.4), true)
  burst.onHandshakeEnd()
  assert.equal(burst.onTurn(5.4, 0.4), false)
})

test('requests are put off while a TLS handshake is in progress, until it ends or 20 ms have passed', () => {
  const burst = new AcceptBurst()
  burst.onHandshake(10)
  burst.onTurn(11, 0)
  assert.deepEqual([burst.mayBeAccepting, burst.isAccepting(29)], [true, true])
  burst.onHandshakeEnd()
  assert.equal(burst.isAccepting(29), false)
  burst.onHandshake(30)
  assert.equal(burst.isAccepting(51), false)
})
