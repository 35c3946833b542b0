'use strict'
// Milliseconds as a line shows them.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { rounded, withRounded } = require('../src/core/durations')

for (const [ms, shown] of [
  [0, 0],
  [0.41234, 0.412],
  [5.3, 5.3],
  [51.44889599999999, 51.4],
  [99.96, 100],
  [250.4, 250],
  [12_345.6789, 12_346],
]) {
  test(`${ms} is shown as ${shown}`, () => assert.equal(rounded(ms), shown))
}

test('only what is named in milliseconds is rounded', () => {
  assert.deepEqual(withRounded({ durationMs: 1.23456, firstByteMs: null, ratio: 1.23456, reason: 'loop' }), {
    durationMs: 1.2,
    firstByteMs: null,
    ratio: 1.23456,
    reason: 'loop',
  })
})
