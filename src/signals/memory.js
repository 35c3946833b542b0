'use strict'
// Heap by space against V8's limit, and resident memory against the limit of the container. Read when asked, never
// on a timer: getHeapStatistics costs 0.35 µs and rss 7 µs, once a scrape.

const os = require('node:os')
const v8 = require('node:v8')
const { resourceLimits } = require('node:worker_threads')

class Memory {
  sample() {
    const heap = v8.getHeapStatistics()
    return {
      heapUsedBytes: heap.used_heap_size,
      heapTotalBytes: heap.total_heap_size,
      heapLimitBytes: heap.heap_size_limit,
      afterGcLimitBytes: afterGcLimitBytes(heap.heap_size_limit),
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

const OLD_SPACE = /^--max[-_]old[-_]space[-_]size=(\d+)$/

/** What a process was started with to bound its old generation, the last word of each counts; in a worker it is known. */
function oldGenerationBytes() {
  const words = [...(process.env.NODE_OPTIONS ?? '').split(/\s+/), ...process.execArgv]
  const flags = words.map((word) => Number(OLD_SPACE.exec(word)?.[1] ?? 0))
  return (
    (resourceLimits.maxOldGenerationSizeMb ?? flags.findLast((megabytes) => megabytes > 0) ?? 0) * 2 ** 20
  )
}

const oldBytes = oldGenerationBytes()

/**
 * What the heap may come to after a major collection: the old generation's share of V8's limit. The young one's is 48 MB on
 * Node 20 and 192 on 24, and empty by then: of 256 MB given no more than 0.83 and 0.57 of that limit were ever in use. Without a
 * bound given, V8 makes it a small share.
 */
function afterGcLimitBytes(heapLimitBytes) {
  return Math.min(oldBytes > 0 ? oldBytes : heapLimitBytes, heapLimitBytes, containerLimitBytes())
}

/** The heap against V8's limit, or the container's if that is less; and all memory against the container's. */
function memoryForRecycling({ collections }) {
  return {
    heap: {
      usedBytes: collections.heapAfterBytes,
      limitBytes: afterGcLimitBytes(v8.getHeapStatistics().heap_size_limit),
    },
    rss: { usedBytes: rssBytes(), limitBytes: containerLimitBytes() },
  }
}

/** The few figures the gate goes by, at a twentieth of what all of them cost. */
function memoryForGate({ collections }) {
  const { used_heap_size: heapUsedBytes, heap_size_limit: heapLimitBytes } = v8.getHeapStatistics()
  return {
    heapUsedBytes,
    rssBytes: rssBytes(),
    afterGcBytes: collections.heapAfterBytes,
    limitBytes: afterGcLimitBytes(heapLimitBytes),
  }
}

module.exports = { Memory, memoryForGate, memoryForRecycling }
