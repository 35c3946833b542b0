'use strict'
// The thresholds and the sample of a loop's turns, by table. modes.test.js tests what they reject.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Thresholds, TurnSample } = require('../../src/core/gate/limits/resource-limits')

test('at the limit itself nothing is rejected', () => {
  const thresholds = new Thresholds({ maxRssBytes: 100 })
  const reasons = [100, 100.1, 200, 100].map((rssBytes) => {
    thresholds.record({ rssBytes })
    return thresholds.reason
  })
  assert.deepEqual(reasons, [undefined, 'rss_bytes', 'rss_bytes', undefined])
})

test('of several exceeded limits the first one is the reason, until it is met again', () => {
  const thresholds = new Thresholds({ maxRssBytes: 100, maxHeapUsedBytes: 100, maxEventLoopDelay: 100 })
  const reasons = [
    { rssBytes: 101, heapUsedBytes: 0, eventLoopDelay: 0 },
    { rssBytes: 101, heapUsedBytes: 101, eventLoopDelay: 0 },
    { rssBytes: 0, heapUsedBytes: 101, eventLoopDelay: 0 },
    { rssBytes: 0, heapUsedBytes: 0, eventLoopDelay: 0 },
  ].map((sample) => {
    thresholds.record(sample)
    return thresholds.reason
  })
  assert.deepEqual(reasons, ['rss_bytes', 'rss_bytes', 'heap_used_bytes', undefined])
})

for (const [limits, isEmpty] of [
  [{}, true],
  [{ maxRssBytes: 0 }, true],
  [{ maxRssBytes: 1 }, false],
]) {
  test(`${JSON.stringify(limits)} ${isEmpty ? 'sets no limit' : 'sets one'}`, () => {
    assert.equal(new Thresholds(limits).matches({}), isEmpty)
  })
}

test('a missing sample changes nothing', () => {
  const thresholds = new Thresholds({ maxRssBytes: 100 })
  thresholds.record({})
  assert.equal(thresholds.reason, undefined)
  thresholds.record({ rssBytes: 101 })
  thresholds.record({})
  assert.equal(thresholds.reason, 'rss_bytes')
})

for (const [turns, secondMs] of [
  [[], 0],
  [[500], 0],
  [[1, 500, 3], 3],
  [[500, 1, 400], 400],
  [[400, 500], 400],
  [[7, 7], 7],
]) {
  test(`of turns of ${turns.join(', ') || 'none'} ms the second-longest took ${secondMs}`, () => {
    const sample = new TurnSample(0, 0)
    for (const busyMs of turns) sample.onTurn(busyMs)
    assert.equal(sample.take(1000, 0).eventLoopDelay, secondMs)
    assert.equal(sample.take(2000, 0).eventLoopDelay, 0)
  })
}

test('utilisation is that of the interval, and not since the start', () => {
  const sample = new TurnSample(5000, 4000)
  assert.equal(sample.isDue(5999, 1000), false)
  assert.equal(sample.isDue(6000, 1000), true)
  assert.equal(sample.take(6000, 4900).eventLoopUtilization.toFixed(6), '0.100000')
  assert.equal(sample.take(7000, 4900).eventLoopUtilization, 1)
  assert.equal(sample.take(7000, 4900).eventLoopUtilization, 0)
})

test('thresholds are those of other options too if these set the same limits', () => {
  const thresholds = new Thresholds({ maxEventLoopDelay: 42, maxRssBytes: 0 })
  assert.equal(thresholds.matches({ maxEventLoopDelay: 42, retryAfter: 7 }), true)
  assert.equal(thresholds.matches({ maxEventLoopDelay: 43 }), false)
  assert.equal(thresholds.matches({ maxEventLoopUtilization: 42 }), false)
})
