'use strict'
// How many connections have opened lately and show what they do, in a time that the test moves.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Newcomers } = require('../../src/features/sockets/newcomers')

function driven(startMs = 0) {
  const clock = { nowMs: startMs, now: () => clock.nowMs }
  const newcomers = new Newcomers(clock)
  const receive = (newcomer) => newcomers.receive(newcomer, clock.nowMs)
  return { newcomers, receive, pass: (ms) => void (clock.nowMs += ms) }
}

test('a newcomer counts from its first message on, one that is silent after a second, and none after five', () => {
  const { newcomers, receive, pass } = driven()
  const loud = newcomers.add()
  newcomers.add()
  assert.equal(newcomers.count(), 0)
  assert.ok(receive(loud))
  assert.ok(receive(loud))
  assert.equal(newcomers.count(), 1)
  pass(1000)
  assert.equal(newcomers.count(), 2)
  pass(3999)
  assert.equal(newcomers.count(), 2)
  assert.ok(receive(loud))
  pass(1)
  assert.equal(newcomers.count(), 0)
  assert.ok(!receive(loud))
})

test('one that closes counts no longer, whether it has sent a message or not', () => {
  const { newcomers, receive, pass } = driven()
  const [loud, silent, other] = [newcomers.add(), newcomers.add(), newcomers.add()]
  receive(loud)
  receive(other)
  newcomers.remove(loud)
  assert.equal(newcomers.count(), 1)
  newcomers.remove(silent)
  pass(1000)
  assert.equal(newcomers.count(), 1)
  pass(60_000)
  newcomers.remove(other)
  assert.equal(newcomers.count(), 0)
})

test('one that has closed is forgotten: neither a second close nor a message changes anything', () => {
  const { newcomers, receive } = driven()
  const [gone, other] = [newcomers.add(), newcomers.add()]
  receive(other)
  newcomers.remove(gone)
  newcomers.remove(gone)
  assert.ok(!receive(gone))
  assert.equal(newcomers.count(), 1)
})

test('a connection that was open before is no newcomer', () => {
  const { newcomers, receive } = driven()
  assert.ok(!receive(undefined))
  newcomers.remove(undefined)
  assert.equal(newcomers.count(), 0)
})

test('nothing is left of newcomers after a pause of any length, wherever the clock began', () => {
  for (const startMs of [0, 250, 4999, 1e9 + 0.25])
    for (const pauseMs of [5000, 5001, 9999, 50_000, 1e8]) {
      const { newcomers, receive, pass } = driven(startMs)
      for (let i = 0; i < 30; i++) {
        const newcomer = newcomers.add()
        if (i % 2 === 0) receive(newcomer)
        if (i % 3 === 0) newcomers.remove(newcomer)
        pass(100)
      }
      assert.ok(newcomers.count() > 0)
      pass(pauseMs)
      assert.equal(newcomers.count(), 0, `from ${startMs}, after ${pauseMs}`)
    }
})
