'use strict'
// Creates the parts that measure the runtime: event loop, collector, heap and memory. The turn clock and V8
// call them. Only `ExternalTrend` has a timer, for a second after a major collection.

const { ExternalTrend } = require('./external-trend')
const { GarbageCollection } = require('./garbage-collection')
const { HeapFilling } = require('./heap-filling')
const { HeapTrend } = require('./heap-trend')
const { LoopDelay } = require('./loop-delay')
const { Memory, heapLimitBytes, readExternalBytes } = require('./memory')
const { Utilization } = require('./utilization')

/**
 * @param {import('../clock').Clock} clock
 * @param {(filling: import('./heap-filling').Filling) => void} onFilling called if the process will soon end
 *   because its heap is full
 */
function createRuntime(clock, onFilling) {
  const heapFilling = new HeapFilling({ limitBytes: heapLimitBytes, onFilling })
  const heapTrend = new HeapTrend(clock.now())
  const externalTrend = new ExternalTrend(clock, readExternalBytes)
  return {
    externalTrend,
    heapTrend,
    loopDelay: new LoopDelay(clock.now()),
    utilization: new Utilization(clock),
    collections: new GarbageCollection({
      onMinor: (bytes) => heapTrend.onMinor(clock.now(), bytes),
      onMajor(bytes) {
        heapTrend.onMajor(clock.now(), bytes)
        heapFilling.onMajor(clock.now(), bytes)
        externalTrend.onMajor()
      },
      onExternal: (bytes) => externalTrend.onMinor(clock.now(), bytes),
    }),
    memory: new Memory(),
  }
}

module.exports = { createRuntime }
