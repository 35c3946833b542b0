'use strict'
// Reads the heap by space and its limit, and resident memory and the limit of the container. Runs only when a
// value is requested, never on a timer.

const os = require('node:os')
const v8 = require('node:v8')
const { resourceLimits } = require('node:worker_threads')

/** @import { GarbageCollection } from './garbage-collection' */

/** @typedef {{ collections: Pick<GarbageCollection, 'heapAfterBytes'> }} Runtime */

class Memory {
  sample() {
    const heap = v8.getHeapStatistics()
    return {
      heapUsedBytes: heap.used_heap_size,
      heapTotalBytes: heap.total_heap_size,
      heapLimitBytes: afterGcLimitBytes(heap.heap_size_limit),
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

/** @type {number | undefined} */
let lastRssBytes

/**
 * Node reads this from a file, which fails without a free file descriptor or without /proc. Then return the
 * last value, or the largest the process ever had.
 */
function rssBytes() {
  try {
    lastRssBytes = process.memoryUsage.rss()
  } catch {
    lastRssBytes ??= process.resourceUsage().maxRSS * 1024
  }
  return lastRssBytes
}

/** Figures that change from second to second, at a hundredth of the cost of all. */
const memoryInUse = () => ({ heapUsedBytes: v8.getHeapStatistics().used_heap_size, rssBytes: rssBytes() })

/**
 * The cgroup's limit. Without a limit Node returns 0, undefined or about 2^64; then it is the machine's
 * memory.
 */
function containerLimitBytes() {
  const constrained = process.constrainedMemory?.() ?? 0
  const total = os.totalmem()
  return constrained > 0 && constrained < total ? constrained : total
}

const OLD_SPACE = /^--max[-_]old[-_]space[-_]size=(\d+)$/

/**
 * The bound of the old generation, from the last flag that sets it; a worker thread has it in its resource
 * limits.
 */
function oldGenerationBytes() {
  const words = [...(process.env.NODE_OPTIONS ?? '').split(/\s+/), ...process.execArgv]
  const flags = words.map((word) => Number(OLD_SPACE.exec(word)?.[1] ?? 0))
  return (
    (resourceLimits.maxOldGenerationSizeMb ?? flags.findLast((megabytes) => megabytes > 0) ?? 0) * 2 ** 20
  )
}

const oldBytes = oldGenerationBytes()

/**
 * The limit of the heap after a major collection, used by the gate, the doctor and every display. V8's heap
 * limit contains the young generation, which is empty then: up to 192 MB on Node 24. Without a flag for the
 * old generation, that is a small share.
 * @param {number} heapLimitBytes
 */
function afterGcLimitBytes(heapLimitBytes) {
  return Math.min(oldBytes > 0 ? oldBytes : heapLimitBytes, heapLimitBytes, containerLimitBytes())
}

/** The limit of the heap after a major collection. */
const heapLimitBytes = () => afterGcLimitBytes(v8.getHeapStatistics().heap_size_limit)

/**
 * The heap with V8's limit, or the container's if that is lower, and all memory with the container's limit.
 *
 * @param {Runtime} runtime
 */
function memoryForRecycling({ collections }) {
  return {
    heap: {
      usedBytes: collections.heapAfterBytes,
      limitBytes: heapLimitBytes(),
    },
    rss: { usedBytes: rssBytes(), limitBytes: containerLimitBytes() },
  }
}

/** The figures that the gate needs, at a twentieth of the cost of all. @param {Runtime} runtime */
function memoryForGate({ collections }) {
  const { used_heap_size: heapUsedBytes, heap_size_limit: heapLimitBytes } = v8.getHeapStatistics()
  return {
    heapUsedBytes,
    rssBytes: rssBytes(),
    afterGcBytes: collections.heapAfterBytes,
    limitBytes: afterGcLimitBytes(heapLimitBytes),
  }
}

/** What is in use now, garbage included, with its limits: before a profile, which needs memory of its own. */
function memoryForProfile() {
  const { used_heap_size: heapUsedBytes, heap_size_limit: heapLimitBytes } = v8.getHeapStatistics()
  return {
    heapUsedBytes,
    heapLimitBytes: afterGcLimitBytes(heapLimitBytes),
    rssBytes: rssBytes(),
    rssLimitBytes: containerLimitBytes(),
  }
}

exports.Memory = Memory
exports.heapLimitBytes = heapLimitBytes
exports.memoryForGate = memoryForGate
exports.memoryForProfile = memoryForProfile
exports.memoryForRecycling = memoryForRecycling
exports.memoryInUse = memoryInUse
