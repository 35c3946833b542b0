'use strict'
// Counts by reason and class, listed without those that are 0.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Stats } = require('../../src/core/gate/stats')
const { PRIORITIES, REASONS } = require('../../src/core/gate/decision')
const { ADVISED_BOUNDS, countOf, sumOf } = require('../../src/core/histogram/buckets')

test('nothing is listed where nothing was counted', () => {
  const stats = new Stats()
  assert.deepEqual([stats.list(stats.shed), stats.list(stats.wouldShed)], [[], []])
})

test('each reason and class has a count of its own', () => {
  const stats = new Stats()
  const expected = []
  for (const reason of REASONS) {
    for (const [priority, name] of PRIORITIES.entries()) {
      const count = expected.length + 1
      for (let i = 0; i < count; i++) stats.countRejected(reason, priority)
      expected.push({ reason, priority: name, count })
    }
  }
  assert.deepEqual(stats.list(stats.shed), expected)
  assert.deepEqual(stats.list(stats.wouldShed), [])
})

test('what would have been shed is counted apart', () => {
  const stats = new Stats()
  stats.countWouldReject('loop', 3)
  assert.deepEqual(stats.list(stats.wouldShed), [{ reason: 'loop', priority: 'low', count: 1 }])
  assert.deepEqual(stats.list(stats.shed), [])
})

test('a pool has a reason of its own, and pools past the twentieth share one', () => {
  const stats = new Stats()
  for (let i = 0; i < 25; i++) stats.countRejected(`pool:p${i}`, 2)
  stats.countRejected('pool:p0', 2)
  const listed = stats.list(stats.shed)
  assert.equal(listed.length, 21)
  assert.deepEqual(listed[0], { reason: 'pool:p0', priority: 'normal', count: 2 })
  assert.deepEqual(listed[20], { reason: 'pool:(other)', priority: 'normal', count: 5 })
})

test('a limit of one route, an age or a deadline does not say that the process is full', () => {
  const stats = new Stats()
  for (const reason of [...REASONS, 'limit:report', 'limit:export', 'pool:orders'])
    for (const priority of [0, 2]) stats.countRejected(reason, priority)
  stats.countWouldReject('limit:other', 2)
  stats.countRejected('loop', 1)
  assert.equal(stats.rejectedByProcess, 2 * (REASONS.length - 3) + 2 + 1)
})

test('how long requests were queued is recorded in seconds', () => {
  const stats = new Stats()
  for (const waitMs of [0, 20, 20]) stats.onWait(waitMs)
  const copy = stats.queueDelays.copy()
  stats.onWait(1000)
  assert.deepEqual([countOf(copy, 0, ADVISED_BOUNDS), sumOf(copy, 0, ADVISED_BOUNDS)], [3, 0.04])
})
