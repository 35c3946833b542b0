'use strict'
// Memory made up, a turn a second of simulated time.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Recycle } = require('../../src/core/lifecycle/recycle')

const MB = 1e6
const LIMITS = { heap: 200 * MB, rss: 1000 * MB }
const OPTIONS = { recycleAt: 0.5, recycleAfter: 10_000, minUptime: 60_000 }

/**
 * Runs it over heap and resident memory in MB, by the second; `random` 0 is no jitter.
 *
 * @returns {{ dueAt: number | undefined, due: any, raised: any[], looks: number }}
 */
function run({ heap = () => undefined, rss = () => 0, options = {}, random = 0, seconds = 600 }) {
  const seen = { dueAt: undefined, due: undefined, raised: [], looks: 0 }
  let second = 0
  const recycle = new Recycle({
    nowMs: 0,
    options: { ...OPTIONS, ...options },
    random: () => random,
    sample: () => {
      seen.looks++
      const bytes = heap(second)
      return {
        heap: { usedBytes: bytes === undefined ? undefined : bytes * MB, limitBytes: LIMITS.heap },
        rss: { usedBytes: rss(second) * MB, limitBytes: LIMITS.rss },
      }
    },
    onDue: (details) => {
      assert.equal(seen.due, undefined, 'once')
      seen.due = details
      seen.dueAt = second
    },
    onRaised: (details) => seen.raised.push(details),
  })
  for (; second < seconds; second++)
    for (let turn = 0; turn < 3; turn++) recycle.onInterval(second * 1000 + turn)
  return seen
}

/** From that second on; never twice the same, as no two collections leave the same. */
const above =
  (from, level, below = 50) =>
  (s) =>
    (s >= from ? level : below) + s / 1000

for (const [title, given, reason, dueAt] of [
  ['the heap, for as long as it has to be', { heap: above(100, 101) }, 'heap', 110],
  ['resident memory', { rss: above(100, 501) }, 'rss', 110],
  ['the first of both', { heap: above(105, 101), rss: above(100, 501) }, 'rss', 110],
  [
    'bytes are bytes, of the heap too',
    { heap: above(100, 81), options: { recycleAt: 80 * MB } },
    'heap',
    110,
  ],
  [
    'a limit in bytes, by resident memory first',
    { rss: above(100, 81), options: { recycleAt: 80 * MB } },
    'rss',
    110,
  ],
  ['at once, if so asked', { rss: above(100, 501), options: { recycleAfter: 0 } }, 'rss', 101],
  ['twice as long, at the other end of chance', { heap: above(100, 101), random: 1 }, 'heap', 120],
  ['a tenth earlier, at the other end of chance', { heap: above(100, 91), random: 1 }, 'heap', 120],
  ['after the least uptime', { heap: above(61, 101) }, 'heap', 71],
]) {
  test(`due: ${title}`, () => {
    const { due, dueAt: at } = run(given)
    assert.equal(due?.reason, reason)
    assert.equal(at, dueAt)
  })
}

for (const [title, given] of [
  ['it is off', { heap: above(100, 190), options: { recycleAt: undefined } }],
  ['0 is off', { heap: above(100, 190), options: { recycleAt: 0 } }],
  ['it is below', { heap: above(100, 99), rss: above(100, 499) }],
  ['a peak passes', { heap: (s) => (s % 60 > 51 ? 150 : 50) + s / 1000 }],
  ['the heap has not been collected yet', { heap: () => undefined }],
  ['no second collection has said so', { heap: (s) => (s > 100 ? 150 : 50) }],
  ['a tenth less is no reason without chance', { heap: above(100, 91) }],
]) {
  test(`not due: ${title}`, () => assert.equal(run(given).due, undefined))
}

test('without recycleAt memory is not sampled', () => {
  assert.equal(run({ options: { recycleAt: undefined } }).looks, 0)
})

test('memory is sampled once a second', () => {
  assert.equal(run({ seconds: 160 }).looks, 100)
})

test('a process above its level at the first look has the level raised and reported, and is not recycled', () => {
  const { due, raised } = run({ heap: above(5, 120), seconds: 3600 })
  assert.equal(due, undefined)
  assert.equal(raised.length, 1)
  const [{ reason, levelBytes, raisedToBytes }] = raised
  assert.deepEqual([reason, levelBytes, Math.round(raisedToBytes / MB)], ['heap', 100 * MB, 140])
})

test('a heap first known after minUptime, by its first major collection, has its level raised and reported too', () => {
  const { due, raised } = run({ heap: (s) => (s < 90 ? undefined : 120 + s / 1000), seconds: 3600 })
  assert.equal(due, undefined)
  assert.deepEqual(
    raised.map(({ reason }) => reason),
    ['heap']
  )
})

test('a process that grows past a raised level is recycled', () => {
  const { due, dueAt } = run({ heap: (s) => 120 + Math.max(0, s - 100) / 10, seconds: 3600 })
  assert.equal(due.reason, 'heap')
  assert.ok(dueAt > 300 && dueAt < 320, String(dueAt))
})

test('a raised level stays below the limit, and within half as much again', () => {
  assert.ok(run({ heap: above(5, 190) }).raised[0].raisedToBytes < LIMITS.heap)
  const [{ raisedToBytes }] = run({ rss: above(5, 51), options: { recycleAt: 50 * MB } }).raised
  assert.ok(raisedToBytes < 80 * MB, String(raisedToBytes))
})

test('the details have the memory used and the level', () => {
  const { due } = run({ heap: above(100, 101), random: 1 })
  assert.equal(due.levelBytes, 90 * MB)
  assert.ok(due.usedBytes > 100 * MB)
})
