'use strict'
// The cause of a stall, from figures.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { causeOf } = require('../../src/features/stalls/stall-sites')

const seen = { delayMs: 2, place: {} }
const turn = (given) => ({ durationMs: 200, collectedMs: 0, waitedMs: 0, thresholdMs: 100, seen, ...given })

const CASES = [
  ['javascript', 'JavaScript that answers the debugger at once', {}],
  ['native', 'a call that answers when it is over', { seen: { delayMs: 110, place: {} } }],
  ['garbage-collection', 'a collection of half of the turn', { collectedMs: 100 }],
  ['javascript', 'a collection of less than half of the turn', { collectedMs: 99 }],
  ['host', 'a short turn that waited for a CPU', { waitedMs: 150 }],
  ['javascript', 'a stall that a busy host makes longer', { durationMs: 2000, waitedMs: 1850 }],
  [
    'javascript',
    'JavaScript on a busy host, which answers late',
    { durationMs: 2000, waitedMs: 1850, seen: { delayMs: 90, place: {} } },
  ],
  ['unknown', 'a stall that nobody watched', { seen: undefined }],
  ['unknown', 'a stack without a frame of anybody else', { seen: { delayMs: 2, place: undefined } }],
]

for (const [cause, what, given] of CASES) {
  test(`${cause}: ${what}`, () => assert.equal(causeOf(turn(given)), cause))
}
