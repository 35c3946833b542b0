'use strict'
// The longest turn of the loop since a moment, against a plain search through all of them.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { LongestTurns } = require('../../src/core/process/longest-turns')

test('it is the same as a search through all turns of a millisecond or more', () => {
  const turn = fc.integer({ min: 0, max: 50 })
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 100 }), fc.nat(3000), (turns, sinceMs) => {
      const longest = new LongestTurns()
      let nowMs = 0
      const ended = turns.map((busyMs) => {
        nowMs += busyMs + 10
        longest.record(busyMs, nowMs)
        return { busyMs, endMs: nowMs }
      })
      const expected = Math.max(
        0,
        ...ended.filter(({ endMs }) => endMs >= sinceMs).map(({ busyMs }) => busyMs)
      )
      assert.equal(longest.since(sinceMs), expected)
    })
  )
})

test('turns that keep getting shorter take bounded memory: the oldest are forgotten', () => {
  const longest = new LongestTurns()
  for (let i = 0; i < 1000; i++) longest.record(2000 - i, i)
  assert.equal(longest.since(0), 2000 - (1000 - 128))
  assert.equal(longest.since(999), 1001)
})
