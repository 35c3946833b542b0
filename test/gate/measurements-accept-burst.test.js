'use strict'
// When work waits for connections, by a clock moved by hand: bounded in time, and in share of the work.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { AcceptBurst } = require('../../src/core/gate/measurements/accept-burst')

test('a burst begins with the second turn in a row that accepted a connection, and ends with one that did not', () => {
  const burst = new AcceptBurst()
  assert.equal(burst.mayBeAccepting, false)
  burst.onAccept(0)
  assert.deepEqual([burst.mayBeAccepting, burst.isAccepting(0)], [true, true])
  assert.equal(burst.shouldTurnAgain(0, 0), false)
  burst.onAccept(0.02)
  assert.equal(burst.shouldTurnAgain(0.02, 0), true)
  assert.equal(burst.shouldTurnAgain(0.04, 0), false)
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
    burst.onAccept(turn)
    assert.equal(burst.shouldTurnAgain(turn, 0), false)
    assert.equal(burst.shouldTurnAgain(turn + 1, 0), false)
  }
})

function burstFor(burst, fromMs, stepMs = 0.5) {
  burst.onAccept(fromMs)
  burst.shouldTurnAgain(fromMs, 0)
  let nowMs = fromMs
  for (burst.onAccept(nowMs); burst.shouldTurnAgain(nowMs, 0); burst.onAccept(nowMs)) nowMs += stepMs
  return nowMs - fromMs
}

test('a burst lasts at most 20 ms, however many connections keep coming', () => {
  assert.equal(burstFor(new AcceptBurst(), 0), 20)
})

test('turns in which handlers burn do not end a burst before 100 ms: that time was not spent on accepting', () => {
  assert.equal(burstFor(new AcceptBurst(), 0, 24), 120)
})

test('a turn outside a burst counts as work, whatever code ran in it', () => {
  const burst = new AcceptBurst()
  burstFor(burst, 0)
  burst.onTurn(2, 25, 200)
  for (let i = 0; i < 2; i++) {
    burst.onAccept(30)
    burst.shouldTurnAgain(30, 0)
  }
  burst.onTurn(2, 30, 0)
  assert.equal(burstFor(burst, 30), 8)
})

test('bursts together take at most four times the work', () => {
  const burst = new AcceptBurst()
  burstFor(burst, 0)
  burst.onTurn(2, 25, 200)
  assert.equal(burstFor(burst, 30), 8)
})

test('silent connections are no evidence of load: they get half of that time', () => {
  const burst = new AcceptBurst()
  burstFor(burst, 0)
  burst.onTurn(2, 25, 0)
  assert.equal(burstFor(burst, 30), 4)
})

/** The primary has connections waiting: behind each of four turns that ran a request there was one. */
function behind() {
  const burst = new AcceptBurst()
  for (let i = 4; i > 0; i--) {
    burst.onAccept(-2 * i, true)
    burst.shouldTurnAgain(-2 * i, 2, true)
  }
  return burst
}

test('the primary has connections waiting once four turns in a row ran a request and then found one', () => {
  const burst = new AcceptBurst()
  let nowMs = 0
  /** A turn that runs a request, or only accepts. */
  const turn = (hasRun, isFound) => {
    nowMs += 2
    if (isFound) burst.onAccept(nowMs, true)
    burst.shouldTurnAgain(nowMs, 2, hasRun)
    return burst.isPrimaryBehind
  }
  assert.deepEqual([turn(true, true), turn(true, true), turn(true, true)], [false, false, false])
  assert.deepEqual([turn(false, false), turn(true, true), turn(false, false)], [false, true, true])
  assert.deepEqual([turn(true, false), turn(true, true)], [false, false])
})

test('while the primary has no connections waiting, no work waits for it', () => {
  const burst = new AcceptBurst()
  for (let nowMs = 0; nowMs < 100; nowMs++) {
    burst.onAccept(nowMs, true)
    assert.equal(burst.shouldTurnAgain(nowMs, 0.02, false), false)
  }
  assert.equal(burst.isAwaitingPrimary, false)
})

test('connections that the process accepts itself say nothing about a primary', () => {
  const burst = new AcceptBurst()
  for (let nowMs = 0; nowMs < 20; nowMs++) {
    burst.onAccept(nowMs)
    burst.shouldTurnAgain(nowMs, 1, true)
  }
  assert.equal(burst.isPrimaryBehind, false)
})

test('if the primary accepts, a burst outlasts quiet turns for three times what a hand-over takes', () => {
  const burst = behind()
  burst.onAccept(0, true)
  assert.equal(burst.shouldTurnAgain(0, 0), true)
  assert.equal(burst.isAwaitingPrimary, false)
  assert.equal(burst.shouldTurnAgain(0.3, 0), true)
  assert.equal(burst.isAwaitingPrimary, true)
  assert.equal(burst.shouldTurnAgain(0.4, 0), false)
  assert.equal(burst.isAwaitingPrimary, false)
})

test('a connection that the loop waited for longer than a hand-over takes ends the burst: work starts in the next turn', () => {
  const burst = behind()
  burst.onAccept(0, true)
  burst.shouldTurnAgain(0, 0)
  assert.equal(burst.shouldTurnAgain(0.01, 0), true)
  burst.onAccept(0.5, true)
  assert.equal(burst.shouldTurnAgain(0.5, 0), false)
  burst.onAccept(0.52, true)
  assert.equal(burst.shouldTurnAgain(0.52, 0), false)
  burst.onAccept(5.6, true)
  // The loop worked meanwhile, so this connection may have waited.
  assert.equal(burst.shouldTurnAgain(5.6, 0), true)
})

test('the duration of a hand-over is estimated from the shortest gaps, and not from rare connections', () => {
  const burst = behind()
  let nowMs = 0
  for (let i = 0; i < 2000; i++) {
    nowMs += i % 4 === 0 ? 0.1 : 0.44
    burst.onAccept(nowMs, true)
  }
  burst.shouldTurnAgain(nowMs, 0)
  assert.equal(burst.shouldTurnAgain(nowMs + 0.3, 0), true)
  assert.equal(burst.shouldTurnAgain(nowMs + 0.44 * 2, 0), false)
})

test('the turns that do arithmetic of a TLS handshake belong to a burst, the turns that wait for the client do not', () => {
  const burst = new AcceptBurst()
  burst.onAccept(0)
  burst.onHandshake(0)
  assert.equal(burst.shouldTurnAgain(0, 0.05), false)
  assert.equal(burst.shouldTurnAgain(0.4, 0.4), true)
  assert.equal(burst.shouldTurnAgain(0.41, 0.01), false)
  assert.equal(burst.shouldTurnAgain(5, 0.4), true)
  burst.onHandshakeEnd()
  assert.equal(burst.shouldTurnAgain(5.4, 0.4), false)
})

test('requests are put off while a TLS handshake is in progress, until it ends or 20 ms have passed', () => {
  const burst = new AcceptBurst()
  burst.onHandshake(10)
  burst.shouldTurnAgain(11, 0)
  assert.deepEqual([burst.mayBeAccepting, burst.isAccepting(29)], [true, true])
  burst.onHandshakeEnd()
  assert.equal(burst.isAccepting(29), false)
  burst.onHandshake(30)
  assert.equal(burst.isAccepting(51), false)
})

test('unspent time is kept for the next bursts, up to a second', () => {
  const burst = new AcceptBurst()
  for (let atMs = 0; atMs < 1000; atMs += 10) burst.onTurn(10, atMs, 10)
  let spentMs = 0
  for (let fromMs = 1000; ; fromMs += 30) {
    const lastedMs = burstFor(burst, fromMs)
    if (lastedMs === 0) break
    spentMs += lastedMs
  }
  assert.equal(spentMs, 1000)
})

test('connections and requests are compared within a second', () => {
  const burst = new AcceptBurst()
  burst.onTurn(0, 0, 200)
  burstFor(burst, 0)
  // The requests of more than a second ago say nothing of the sockets that came since.
  burst.onTurn(0, 1500, 0)
  burst.onTurn(2, 1500, 0)
  burst.onAccept(1501)
  burst.onTurn(2, 1501, 0)
  // Twice the first 2 ms' worth of four, and twice the second.
  assert.equal(burstFor(burst, 1502), 12)
})
