'use strict'
// When work waits for connections, by a clock moved by hand: bounded in time, and in share of the work.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { AcceptDrain } = require('../../src/admission/accept-drain')

test('a turn that accepted a connection is followed by another before work starts, one that did not is not', () => {
  const drain = new AcceptDrain()
  drain.noteAccept(0)
  assert.equal(drain.isAccepting(0), true)
  assert.equal(drain.shouldTurn(0, 0), true)
  assert.equal(drain.shouldTurn(0.02, 0), false)
})

function drainFor(drain, fromMs, stepMs = 0.5) {
  let nowMs = fromMs
  for (drain.noteAccept(nowMs); drain.shouldTurn(nowMs, 0); drain.noteAccept(nowMs)) nowMs += stepMs
  return nowMs - fromMs
}

test('a drain lasts at most 20 ms, however many connections keep coming', () => {
  assert.equal(drainFor(new AcceptDrain(), 0), 20)
})

test('turns in which handlers burn do not end a drain before 100 ms: they were not lost to it', () => {
  assert.equal(drainFor(new AcceptDrain(), 0, 24), 120)
})

test('a turn that was not given to accepting is work, whoever did it', () => {
  const drain = new AcceptDrain()
  drainFor(drain, 0)
  for (let i = 0; i < 200; i++) drain.noteRequest()
  drain.noteTurn(2, 25)
  drain.noteAccept(30)
  drain.shouldTurn(30, 0)
  drain.noteTurn(2, 30)
  assert.equal(drainFor(drain, 30), 8)
})

test('drains together take at most four times the work', () => {
  const drain = new AcceptDrain()
  drainFor(drain, 0)
  for (let i = 0; i < 200; i++) drain.noteRequest()
  drain.noteTurn(2, 25)
  assert.equal(drainFor(drain, 30), 8)
})

test('silent connections are no evidence of load: they get half of that', () => {
  const drain = new AcceptDrain()
  drainFor(drain, 0)
  drain.noteTurn(2, 25)
  assert.equal(drainFor(drain, 30), 4)
})

test('where another process accepts, a quiet turn does not mean empty: it stays for three times what a hand-over takes', () => {
  const drain = new AcceptDrain()
  drain.noteAccept(0, true)
  assert.equal(drain.shouldTurn(0, 0), true)
  assert.equal(drain.isAwaitingPrimary, false)
  assert.equal(drain.shouldTurn(0.3, 0), true)
  assert.equal(drain.isAwaitingPrimary, true)
  assert.equal(drain.shouldTurn(0.4, 0), false)
  assert.equal(drain.isAwaitingPrimary, false)
})

test('what a hand-over takes is learnt from the shortest gaps, not from how seldom connections come', () => {
  const drain = new AcceptDrain()
  let nowMs = 0
  for (let i = 0; i < 2000; i++) {
    nowMs += i % 4 === 0 ? 0.1 : 0.44
    drain.noteAccept(nowMs, true)
  }
  drain.shouldTurn(nowMs, 0)
  assert.equal(drain.shouldTurn(nowMs + 0.3, 0), true)
  assert.equal(drain.shouldTurn(nowMs + 0.44 * 2, 0), false)
})

test('a TLS handshake is given the turns that work at it, and none in which it waits for the client', () => {
  const drain = new AcceptDrain()
  drain.noteAccept(0)
  drain.noteHandshake(0)
  assert.equal(drain.shouldTurn(0, 0.05), true)
  assert.equal(drain.shouldTurn(0.4, 0.4), true)
  assert.equal(drain.shouldTurn(0.41, 0.01), false)
  assert.equal(drain.shouldTurn(5, 0.4), true)
  drain.noteHandshakeEnd()
  assert.equal(drain.shouldTurn(5.4, 0.4), false)
})

test('requests wait a turn while a TLS handshake is in progress, until it ends or 20 ms have passed', () => {
  const drain = new AcceptDrain()
  drain.noteHandshake(10)
  assert.equal(drain.isAccepting(29), true)
  drain.noteHandshakeEnd()
  assert.equal(drain.isAccepting(29), false)
  drain.noteHandshake(30)
  assert.equal(drain.isAccepting(51), false)
})
