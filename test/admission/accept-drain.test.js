'use strict'
// When work waits for connections, by a clock moved by hand: bounded in time, and in share of the work.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { AcceptDrain } = require('../../src/admission/accept-drain')

test('a turn that accepted a connection is followed by another before work starts, one that did not is not', () => {
  const drain = new AcceptDrain(false)
  drain.noteAccept(0)
  assert.equal(drain.isAccepting(0), true)
  assert.equal(drain.shouldTurn(0), true)
  assert.equal(drain.shouldTurn(0.02), false)
})

function drainFor(drain, fromMs, stepMs = 0.5) {
  let nowMs = fromMs
  for (drain.noteAccept(nowMs); drain.shouldTurn(nowMs); drain.noteAccept(nowMs)) nowMs += stepMs
  return nowMs - fromMs
}

test('a drain lasts at most 20 ms, however many connections keep coming', () => {
  assert.equal(drainFor(new AcceptDrain(false), 0), 20)
})

test('turns in which handlers burn do not end a drain before 100 ms: they were not lost to it', () => {
  assert.equal(drainFor(new AcceptDrain(false), 0, 24), 120)
})

test('a turn that was not given to accepting is work, whoever did it', () => {
  const drain = new AcceptDrain(false)
  drainFor(drain, 0)
  for (let i = 0; i < 200; i++) drain.noteRequest()
  drain.noteTurn(2, 25)
  drain.noteAccept(30)
  drain.shouldTurn(30)
  drain.noteTurn(2, 30)
  assert.equal(drainFor(drain, 30), 8)
})

test('drains together take at most four times the work', () => {
  const drain = new AcceptDrain(false)
  drainFor(drain, 0)
  for (let i = 0; i < 200; i++) drain.noteRequest()
  drain.noteWork(2, 25)
  assert.equal(drainFor(drain, 30), 8)
})

test('silent connections are no evidence of load: they get half of that', () => {
  const drain = new AcceptDrain(false)
  drainFor(drain, 0)
  drain.noteWork(2, 25)
  assert.equal(drainFor(drain, 30), 4)
})

test('where another process accepts, a quiet turn does not mean empty: it stays for four times the usual gap', () => {
  const drain = new AcceptDrain(true)
  drain.noteAccept(0)
  assert.equal(drain.shouldTurn(0), true)
  assert.equal(drain.shouldTurn(0.4), true)
  assert.equal(drain.shouldTurn(0.6), false)
})

test('a TLS handshake in progress is a connection that is still coming, until it ends or 20 ms have passed', () => {
  const drain = new AcceptDrain(false)
  drain.noteAccept(0)
  drain.noteHandshake(0)
  assert.equal(drain.shouldTurn(0), true)
  assert.equal(drain.shouldTurn(5), true)
  drain.noteHandshakeEnd()
  assert.equal(drain.shouldTurn(6), false)
  drain.noteHandshake(10)
  assert.equal(drain.isAccepting(29), true)
  assert.equal(drain.isAccepting(31), false)
})
