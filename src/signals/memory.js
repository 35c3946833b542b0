'use strict'
// Heap by space against V8's limit, and resident memory against the limit of the container. Read when asked, never
// on a timer: getHeapStatistics costs 0.35 µs and rss 7 µs, once a scrape.

const os = require('node:os')
const v8 = require('node:v8')

class Memory {
  sample() {
    const heap = v8.getHeapStatistics()
    return {
      heapUsedBytes: heap.used_heap_size,
      heapTotalBytes: heap.total_heap_size,
      heapLimitBytes: heap.heap_size_limit,
      externalBytes: heap.external_memory,
      rssBytes: rssBytes(),
      limitBytes: containerLimitBytes(),
      spaces: v8.getHeapSpaceStatistics().map((space) => ({
        name: space.space_name,
        usedBytes: space.space_used_size,
        sizeBytes: space.space_size,
        availableBytes: space.space_available_size,
        physicalBytes: space.physical_space_size,
      })),
    }
  }
}

let lastRssBytes

/**
 * Node reads it from a file, which it cannot where the process has no descriptor left, or no /proc: then it is what it was when
 * last read, or the most it has ever been.
 */
function rssBytes() {
  try {
    lastRssBytes = process.memoryUsage.rss()
  } catch {
    lastRssBytes ??= process.resourceUsage().maxRSS * 1024
  }
  return lastRssBytes
}

/** The cgroup's limit. Without one Node answers 0, undefined or about 2^64, and the machine's memory is the limit. */
function containerLimitBytes() {
  const constrained = process.constrainedMemory?.() ?? 0
  const total = os.totalmem()
  return constrained > 0 && constrained < total ? constrained : total
}

/** The heap against V8's limit, or the container's if that is less; and all memory against the container's. */
function memoryForRecycling({ collections }) {
  const limitBytes = containerLimitBytes()
  return {
    heap: {
      usedBytes: collections.heapAfterBytes,
      limitBytes: Math.min(v8.getHeapStatistics().heap_size_limit, limitBytes),
    },
    rss: { usedBytes: rssBytes(), limitBytes },
  }
}

/** The few figures the gate goes by, at a twentieth of what all of them cost. */
function memoryForGate({ collections }) {
  const { used_heap_size: heapUsedBytes, heap_size_limit: heapLimitBytes } = v8.getHeapStatistics()
  return {
    heapUsedBytes,
    rssBytes: rssBytes(),
    afterGcBytes: collections.heapAfterBytes,
    limitBytes: Math.min(heapLimitBytes, containerLimitBytes()),
  }
}

module.exports = { Memory, memoryForGate, memoryForRecycling }
