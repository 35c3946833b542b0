'use strict'
// The time in listeners, by which the gate knows what another connection will bring. Socket.IO would need a
// loop that blocks.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { SocketMessage } = require('../../src/features/sockets/socket-message')

/** A `Sockets` whose clock moves as the test says. */
function clockedSockets() {
  const sockets = {
    ms: 0,
    handledMs: 0,
    running: undefined,
    ended: [],
    nowMs: () => sockets.ms,
    context: { runAs: (_reference, callback) => callback() },
    onHandled: (ms) => {
      sockets.handledMs += ms
    },
    onThrow() {},
    events: { onEnd: (_row, outcome, durationMs) => sockets.ended.push([outcome, durationMs]) },
  }
  return sockets
}

const messageOf = (sockets, name) =>
  new SocketMessage(sockets, {
    row: { reference: { name } },
    startedMs: sockets.ms,
    isOfNewcomer: false,
    next: undefined,
  })

test('the time in listeners adds up, and a listener within another counts once', () => {
  const sockets = clockedSockets()
  const outer = messageOf(sockets, 'outer')
  outer.run(() => {
    sockets.ms += 3
    messageOf(sockets, 'inner').run(() => (sockets.ms += 4))
    assert.deepEqual(sockets.running, { name: 'outer' })
  })
  assert.equal(sockets.handledMs, 7)
  assert.deepEqual(
    sockets.ended.map(([, durationMs]) => durationMs),
    [4, 7]
  )
})

test('the time of a listener that throws counts too', () => {
  const sockets = clockedSockets()
  const message = messageOf(sockets, 'fails')
  assert.throws(() =>
    message.run(() => {
      sockets.ms += 5
      throw new Error('no')
    })
  )
  assert.deepEqual([sockets.handledMs, sockets.running], [5, undefined])
})
