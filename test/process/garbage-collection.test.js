'use strict'
// Collections are forced in a process of their own, and counted there by an observer of the test's too.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { runNode } = require('../support/run-node')

const TIMEOUT_MS = 30_000

// One turn in which there are many collections: their entries come in one list. Read when that list is there
// but not yet delivered, and again when it has been: nothing may be missing then, nothing be counted twice.
const COLLECT = `
  const { PerformanceObserver } = require('node:perf_hooks')
  const { createSpillway } = require('./src/index.js')
  const seen = { minor: 0, major: 0, incremental: 0, weakcb: 0 }
  const names = { 1: 'minor', 2: 'minor', 4: 'major', 8: 'incremental', 16: 'weakcb' }
  const take = (entries) => entries.forEach(({ detail }) => seen[names[detail.kind]]++)
  const observer = new PerformanceObserver((list) => take(list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  const spillway = createSpillway({ logger: false })
  const readings = []
  const read = () => {
    const { collections, heap } = spillway.snapshot().runtime
    take(observer.takeRecords())
    readings.push({ seen: { ...seen }, collections, heap })
  }
  read()
  for (let i = 0; i < 30; i++) gc({ type: 'minor' })
  for (let i = 0; i < 3; i++) gc()
  setImmediate(read)
  let turns = 5
  const report = () => {
    if (turns-- > 0) return setImmediate(report)
    read()
    console.log(JSON.stringify(readings))
  }
  report()`

test('every collection of a burst is counted once, by its kind', { timeout: TIMEOUT_MS }, async (t) => {
  const { output } = await runNode(COLLECT, { args: ['--expose-gc'], t })
  const [before, buffered, after] = output
  for (const { seen, collections } of [buffered, after]) {
    const counts = Object.fromEntries(Object.entries(collections).map(([kind, { count }]) => [kind, count]))
    assert.deepEqual(counts, seen)
    assert.ok(counts.minor >= 30 && counts.major >= 3, JSON.stringify(counts))
  }
  assert.equal(before.heap.afterGcBytes, null)
  assert.ok(after.heap.afterGcBytes > 1_000_000 && after.heap.afterGcBytes <= after.heap.totalBytes)
  assert.ok(after.collections.major.totalMs > 0)
})

test('two instances in one process count the same collections', { timeout: TIMEOUT_MS }, async (t) => {
  const { output } = await runNode(
    `const { createSpillway } = require('./src/index.js')
    const both = [createSpillway({ logger: false }), createSpillway({ logger: false })]
    for (let i = 0; i < 10; i++) gc()
    setImmediate(() => setImmediate(() => setImmediate(() => {
      console.log(JSON.stringify(both.map((one) => one.snapshot().runtime.collections.major.count)))
    })))`,
    { args: ['--expose-gc'], t }
  )
  assert.equal(output[0], output[1])
  assert.ok(output[0] >= 10, String(output))
})
