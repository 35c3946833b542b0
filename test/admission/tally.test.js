'use strict'
// Counts by reason and class, listed without those that are 0.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { PRIORITIES } = require('../../src/admission/priority')
const { REASONS, Tally, listCounts } = require('../../src/admission/tally')

test('nothing is listed where nothing was counted', () => {
  const { shed, wouldShed } = new Tally()
  assert.deepEqual([listCounts(shed), listCounts(wouldShed)], [[], []])
})

test('each reason and class has a count of its own', () => {
  const tally = new Tally()
  const expected = []
  for (const reason of REASONS) {
    for (const [priority, name] of PRIORITIES.entries()) {
      const count = expected.length + 1
      for (let i = 0; i < count; i++) tally.noteShed(reason, priority)
      expected.push({ reason, priority: name, count })
    }
  }
  assert.deepEqual(listCounts(tally.shed), expected)
  assert.deepEqual(listCounts(tally.wouldShed), [])
})

test('what would have been shed is counted apart', () => {
  const tally = new Tally()
  tally.noteWouldShed('delay', 3)
  assert.deepEqual(listCounts(tally.wouldShed), [{ reason: 'delay', priority: 'low', count: 1 }])
  assert.deepEqual(listCounts(tally.shed), [])
})
