'use strict'
// What rejects a request whatever the queue: memory by its ramp, shortage, and fixed limits. By a random
// number given.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ResourceLimits } = require('../../src/core/gate/limits/resource-limits')
const { Cause, PRIORITIES } = require('../../src/core/gate/decision')
const { FakeClock } = require('../support/fake-clock')

const INTERVAL_MS = 1000

function driven({ options, shortage = 0 } = {}) {
  const clock = new FakeClock()
  const given = { memory: {}, random: 0.5, sampled: 0 }
  const hooks = { shortage }
  const resources = new ResourceLimits({
    cause: new Cause(),
    clock,
    hooks,
    random: () => given.random,
    sampleMemory() {
      given.sampled++
      return given.memory
    },
  })
  resources.update({ sampleInterval: INTERVAL_MS, ...options })
  const turn = (busyMs, idledMs = 0) => {
    clock.idle(idledMs)
    clock.advance(busyMs)
    resources.onTurn(busyMs, clock.now(), clock.idleMs())
  }
  const sample = (memory) => {
    given.memory = memory
    turn(0, INTERVAL_MS)
  }
  return { given, hooks, resources, sample, turn }
}

/** The reason that the admission gets: it asks only while a resource is short. */
const reasonFor = (resources, priority) => (resources.isShort ? resources.reasonFor(priority) : undefined)

const heapAt = (share) => ({ afterGcBytes: share * 1e9, limitBytes: 1e9 })

for (const [share, pressure] of [
  [0, 0],
  [0.85, 0],
  [0.875, 0.25],
  [0.9, 0.5],
  [0.95, 1],
  [1.2, 1],
]) {
  test(`${share} of the limit after a collection in use after a major collection is a memory pressure of ${pressure}`, () => {
    const { resources, sample } = driven()
    sample(heapAt(share))
    assert.ok(Math.abs(resources.memoryPressure - pressure) < 1e-9)
  })
}

test('before the first major collection there is no pressure, and a sample without a collection changes nothing', () => {
  const { resources, sample } = driven()
  sample({ limitBytes: 1e9 })
  assert.equal(resources.memoryPressure, 0)
  sample(heapAt(1))
  sample({ limitBytes: 1e9 })
  assert.equal(resources.memoryPressure, 1)
})

test('when the heap falls, all requests are admitted at once', () => {
  const { resources, sample } = driven()
  sample(heapAt(1))
  sample(heapAt(0.5))
  assert.equal(resources.memoryPressure, 0)
})

/** The share of random numbers by which a class is rejected for that reason. */
function rejectedShare({ given, resources }, priority, reason) {
  let count = 0
  for (let i = 0; i < 1000; i++) {
    given.random = (i + 0.5) / 1000
    if (reasonFor(resources, priority) === reason) count++
  }
  return count / 1000
}

const CLASSES = PRIORITIES.slice(0, 4).map((_, priority) => priority)

for (const [share, shares] of [
  [0.8, [0, 0, 0, 0]],
  [0.9, [0, 0.25, 0.5, 0.75]],
  [1, [0, 0.5, 1, 1]],
]) {
  test(`at ${share} of the limit the classes are rejected by ${shares.join(', ')}`, () => {
    const all = driven()
    all.sample(heapAt(share))
    assert.deepEqual(
      CLASSES.map((priority) => rejectedShare(all, priority, 'memory')),
      shares
    )
  })
}

for (const [shortage, shares] of /** @type {const} */ ([
  [0.4, [0, 0.2, 0.4, 0.6]],
  [1, [0, 0.5, 1, 1]],
])) {
  test(`at a shortage of ${shortage} the classes are rejected by ${shares.join(', ')}`, () => {
    const all = driven({ shortage })
    const found = CLASSES.map((priority) => rejectedShare(all, priority, 'shortage'))
    assert.deepEqual(found, [...shares])
  })
}

test('memory is sampled once an interval, and not by each turn or request', () => {
  const { given, resources, turn } = driven()
  for (let i = 0; i < 1000; i++) {
    turn(1, 9)
    reasonFor(resources, 2)
  }
  assert.equal(given.sampled, 10)
})

test('a fixed limit rejects every class, critical too, until it is left', () => {
  const { resources, sample } = driven({ options: { maxRssBytes: 100 } })
  sample({ rssBytes: 101 })
  assert.deepEqual(new Set(CLASSES.map((priority) => reasonFor(resources, priority))), new Set(['rss_bytes']))
  sample({ rssBytes: 100 })
  assert.equal(reasonFor(resources, 2), undefined)
})

test('an exceeded limit stays exceeded when other options are updated, and not when the limit is', () => {
  const options = { maxRssBytes: 100 }
  const { resources, sample } = driven({ options })
  sample({ rssBytes: 101 })
  resources.update({ sampleInterval: 500, ...options })
  assert.equal(reasonFor(resources, 2), 'rss_bytes')
  resources.update({ sampleInterval: 500, maxRssBytes: 1000 })
  assert.equal(reasonFor(resources, 2), undefined)
})
