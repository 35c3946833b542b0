'use strict'
// Collections are forced in a process of their own, and counted there by an observer of the test's too.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { runNode } = require('../support/run-node')

const TIMEOUT_MS = 30_000

// One turn in which there are many collections: their entries come in one list. What was counted is compared at one
// moment, with what is still buffered.
const COLLECT = `
  const { PerformanceObserver, constants } = require('node:perf_hooks')
  const { createSpillway } = require('./src/index.js')
  const seen = { minor: 0, major: 0, incremental: 0, weakcb: 0 }
  const names = { 1: 'minor', 2: 'minor', 4: 'major', 8: 'incremental', 16: 'weakcb' }
  const take = (entries) => entries.forEach(({ detail }) => seen[names[detail.kind]]++)
  const observer = new PerformanceObserver((list) => take(list.getEntries()))
  observer.observe({ entryTypes: ['gc'] })
  const spillway = createSpillway({ logger: false })
  const before = spillway.snapshot().signals
  for (let i = 0; i < 30; i++) gc({ type: 'minor' })
  for (let i = 0; i < 3; i++) gc()
  let turns = 5
  const report = () => {
    if (turns-- > 0) return setImmediate(report)
    const after = spillway.snapshot().signals
    take(observer.takeRecords())
    console.log(JSON.stringify({ seen, before, after }))
  }
  report()`

test('every collection of a burst is counted, by its kind', { timeout: TIMEOUT_MS }, async (t) => {
  const { output } = await runNode(COLLECT, { args: ['--expose-gc'], t })
  const { seen, before, after } = output
  const counts = Object.fromEntries(
    Object.entries(after.collections).map(([kind, { count }]) => [kind, count])
  )
  assert.deepEqual(counts, seen)
  assert.ok(counts.minor >= 30 && counts.major >= 3, JSON.stringify(counts))
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
      console.log(JSON.stringify(both.map((one) => one.snapshot().signals.collections.major.count)))
    })))`,
    { args: ['--expose-gc'], t }
  )
  assert.equal(output[0], output[1])
  assert.ok(output[0] >= 10, String(output))
})
