'use strict'
// Creates what measures the runtime: event loop, collector, heap and memory. None runs by itself: the turn clock and V8 call them.

const { GarbageCollection } = require('./garbage-collection')
const { HeapTrend } = require('./heap-trend')
const { LoopDelay } = require('./loop-delay')
const { Memory } = require('./memory')
const { Utilization } = require('./utilization')

/** @param {import('../clock').Clock} clock */
function createRuntime(clock) {
  const heapTrend = new HeapTrend(clock.now())
  return {
    heapTrend,
    loopDelay: new LoopDelay(clock.now()),
    utilization: new Utilization(clock),
    collections: new GarbageCollection({
      onMinor: (bytes) => heapTrend.onMinor(clock.now(), bytes),
      onMajor: (bytes) => heapTrend.onMajor(clock.now(), bytes),
    }),
    memory: new Memory(),
  }
}

module.exports = { createRuntime }
