'use strict'
// What a connection that opens will take of the loop, by what newcomers have taken: sessions of all lengths,
// in a time that the test moves.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ConnectionLoad } = require('../../src/features/sockets/connection-load')
const { Newcomers } = require('../../src/features/sockets/newcomers')

const TURN_MS = 10
const EVERY_MS = 50

/**
 * Twenty sessions a second. Each lives so long, and from a certain age on takes a share of the loop.
 *
 * @returns what ten more show to take
 */
function shownByTen({ livesMs, takes, fromMs = 0, seconds = 30 }) {
  let nowMs = 0
  let handledMs = 0
  const newcomers = new Newcomers({ now: () => nowMs })
  let open = []
  const source = () => ({
    open: open.length,
    found: 0,
    newcomers: newcomers.count(),
    handledMs,
    newcomersHandledMs: newcomers.handledMs,
  })
  const load = new ConnectionLoad(source, nowMs)
  for (; nowMs < seconds * 1000; nowMs += TURN_MS) {
    const isOver = ({ openedMs }) => nowMs - openedMs >= livesMs
    for (const { newcomer } of open.filter(isOver)) newcomers.remove(newcomer)
    open = open.filter((each) => !isOver(each))
    if (nowMs % EVERY_MS === 0) open.push({ openedMs: nowMs, newcomer: newcomers.add() })
    for (const { openedMs, newcomer } of open) {
      if (takes === 0 || nowMs - openedMs < fromMs) continue
      const tookMs = takes * TURN_MS
      handledMs += tookMs
      if (newcomers.receive(newcomer, nowMs)) newcomers.handledMs += tookMs
    }
    load.onTurn(nowMs)
  }
  const recent = load.shown(0)
  return load.shown(10) - recent
}

for (const [what, session] of /** @type {const} */ ([
  ['end after half a second', { livesMs: 500, takes: 0.01 }],
  ['end after a second and a half', { livesMs: 1500, takes: 0.01 }],
  ['stay', { livesMs: Number.POSITIVE_INFINITY, takes: 0.01 }],
  [
    'stay, and send nothing in the first second',
    { livesMs: Number.POSITIVE_INFINITY, takes: 0.01, fromMs: 1000 },
  ],
  ['end after three seconds, and send nothing in the first', { livesMs: 3000, takes: 0.01, fromMs: 1000 }],
]))
  test(`ten more of sessions that ${what} show to take as much as ten`, () => {
    const shown = shownByTen(session)
    assert.ok(shown > 0.08 && shown < 0.11, `${shown} in place of 0.1`)
  })

test('one message of a second shows little about silent newcomers', () => {
  let nowMs = 0
  const newcomers = new Newcomers({ now: () => nowMs })
  const source = () => ({
    open: 10,
    found: 0,
    newcomers: newcomers.count(),
    handledMs: newcomers.handledMs,
    newcomersHandledMs: newcomers.handledMs,
  })
  const load = new ConnectionLoad(source, nowMs)
  const turn = (ms, tookMs) => {
    nowMs += ms
    newcomers.handledMs += tookMs
    load.onTurn(nowMs)
  }
  for (let i = 0; i < 10; i++) newcomers.add()
  for (let i = 0; i < 200; i++) turn(TURN_MS, 0)
  turn(1000, 1000)
  assert.ok(load.shown(1) < 0.01, `${load.shown(1)}`)
})

test('silent sessions show to take nothing', () => {
  assert.equal(shownByTen({ livesMs: 3000, takes: 0 }), 0)
})
