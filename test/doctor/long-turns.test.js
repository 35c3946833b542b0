'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LONG_TURN_MS, LongTurns, VERY_LONG_TURN_MS } = require('../../src/features/doctor/doctor')

test('long and very long turns are summed, with the requests that ended in them', () => {
  const turns = new LongTurns()
  turns.onTurn(LONG_TURN_MS - 1, 10)
  turns.onTurn(LONG_TURN_MS, 13)
  turns.onTurn(1, 20)
  turns.onTurn(VERY_LONG_TURN_MS - 1, 20)
  turns.onTurn(VERY_LONG_TURN_MS, 21)
  assert.deepEqual(turns.sample(), {
    long: { count: 3, ms: 119, requests: 4 },
    veryLong: { count: 1, ms: 50, requests: 1 },
  })
})
