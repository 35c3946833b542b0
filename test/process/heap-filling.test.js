'use strict'
// Heaps after major collections, in MB of a limit of 200 MB.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { HeapFilling } = require('../../src/core/process/heap-filling')

const MB = 1e6

/** What is told of a heap that is collected every `everySeconds`. */
function toldOf(heapAt, { seconds = 60, everySeconds = 2 } = {}) {
  const told = []
  let atSeconds = 0
  const onFilling = (filling) => told.push({ atSeconds, ...filling })
  const filling = new HeapFilling({ limitBytes: () => 200 * MB, onFilling })
  for (; atSeconds < seconds; atSeconds += everySeconds)
    filling.onMajor(atSeconds * 1000, heapAt(atSeconds) * MB)
  return told
}

test('a leak of 200 MB in half a minute is told once, long before the heap is full', () => {
  const told = toldOf((s) => 10 + 6 * s, { seconds: 32 })
  assert.deepEqual(told, [
    { atSeconds: 16, usedBytes: 106 * MB, limitBytes: 200 * MB, bytesPerSecond: 6 * MB, secondsToLimit: 16 },
  ])
})

test('so it is if V8 collects many times a second, and if it collects seldom', () => {
  for (const everySeconds of [0.1, 5]) {
    const [{ atSeconds, secondsToLimit }] = toldOf((s) => 10 + 6 * s, { seconds: 32, everySeconds })
    assert.ok(atSeconds <= 20, `every ${everySeconds} s: ${atSeconds}`)
    assert.ok(secondsToLimit >= 10, `every ${everySeconds} s: ${secondsToLimit}`)
  }
})

for (const [title, heapAt] of [
  ['a heap that stands at 90 %', () => 180],
  ['a leak that still has half a minute and more', (s) => 90 + s],
  ['a table of 140 MB that is loaded in four seconds', (s) => 20 + Math.min(s, 4) * 35],
  ['a cache that fills more and more slowly', (s) => 20 + 110 * (1 - Math.exp(-s / 15))],
  ['a saw-tooth that falls every six seconds', (s) => 80 + (s % 6) * 15],
  ['a leak that has only filled a third', (s) => 10 + Math.min(s, 10) * 6],
]) {
  test(`${title} is not told`, () => assert.deepEqual(toldOf(heapAt), []))
}

test('it is told again if half of the heap has become free meanwhile', () => {
  const told = toldOf((s) => 10 + 6 * (s % 30), { seconds: 60 })
  assert.deepEqual(
    told.map(({ atSeconds }) => atSeconds),
    [16, 46]
  )
})
