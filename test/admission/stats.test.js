'use strict'
// Counts by reason and class, listed without those that are 0.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Stats, listCounts } = require('../../src/admission/stats')
const { PRIORITIES, REASONS } = require('../../src/admission/verdict')
const { ADVISED_BOUNDS, countOf, sumOf } = require('../../src/histograms/buckets')

test('nothing is listed where nothing was counted', () => {
  const { shed, wouldShed } = new Stats()
  assert.deepEqual([listCounts(shed), listCounts(wouldShed)], [[], []])
})

test('each reason and class has a count of its own', () => {
  const stats = new Stats()
  const expected = []
  for (const reason of REASONS) {
    for (const [priority, name] of PRIORITIES.entries()) {
      const count = expected.length + 1
      for (let i = 0; i < count; i++) stats.onReject(reason, priority)
      expected.push({ reason, priority: name, count })
    }
  }
  assert.deepEqual(listCounts(stats.shed), expected)
  assert.deepEqual(listCounts(stats.wouldShed), [])
})

test('what would have been shed is counted apart', () => {
  const stats = new Stats()
  stats.onWouldReject('loop', 3)
  assert.deepEqual(listCounts(stats.wouldShed), [{ reason: 'loop', priority: 'low', count: 1 }])
  assert.deepEqual(listCounts(stats.shed), [])
})

test('how long requests were queued is recorded in seconds', () => {
  const stats = new Stats()
  for (const waitMs of [0, 20, 20]) stats.onWait(waitMs)
  const copy = stats.queueDelays.copy()
  stats.onWait(1000)
  assert.deepEqual([countOf(copy, 0, ADVISED_BOUNDS), sumOf(copy, 0, ADVISED_BOUNDS)], [3, 0.04])
})
