'use strict'
// The commands that the text of a finding ends with.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { DEFAULT_URL } = require('../../src/cli/address')
const { nextOfFinding } = require('../../src/cli/next-steps')

test('an effect of a starved or throttled host has no next command', () => {
  const nextOf = (effectOf) => nextOfFinding({ problem: 'cpu-saturated', effectOf }, DEFAULT_URL)
  assert.deepEqual(nextOf(null), ['npx spillway profile'])
  assert.deepEqual(nextOf('overloaded'), ['npx spillway profile'])
  assert.deepEqual(nextOf('host-starved'), [])
  assert.deepEqual(nextOf('cpu-throttled'), [])
})
