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
 * Node reads this value from a file. Without a free file descriptor or /proc that fails. In that case this
 * returns the last value, or the largest that the process ever had.
 */
function rssBytes() {
  try {
    lastRssBytes = process.memoryUsage.rss()
  } catch {
    lastRssBytes ??= process.resourceUsage().maxRSS * 1024
  }
  return lastRssBytes
}

/** Only the figures that change from second to second. They cost a hundredth of `sample()`. */
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
 * limit includes the young generation, up to 192 MB on Node 24, which is empty after a major collection.
 * Without a flag for the old generation, this is a small share.
 * @param {number} heapLimitBytes
 */
function afterGcLimitBytes(heapLimitBytes) {
  return Math.min(oldBytes > 0 ? oldBytes : heapLimitBytes, heapLimitBytes, containerLimitBytes())
}

/** The limit of the heap after a major collection. */
const heapLimitBytes = () => afterGcLimitBytes(v8.getHeapStatistics().heap_size_limit)

/**
 * The heap, with the lower of V8's limit and the container's, and resident memory, with the container's
 * limit.
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

/** Only the figures that the gate needs. They cost a twentieth of `sample()`. @param {Runtime} runtime */
function memoryForGate({ collections }) {
  const { used_heap_size: heapUsedBytes, heap_size_limit: heapLimitBytes } = v8.getHeapStatistics()
  return {
    heapUsedBytes,
    rssBytes: rssBytes(),
    afterGcBytes: collections.heapAfterBytes,
    limitBytes: afterGcLimitBytes(heapLimitBytes),
  }
}

/**
 * Memory in use now, garbage included, with its limits. Checked before a profile, which itself needs memory.
 */
function memoryForProfile() {
  const {
    used_heap_size: heapUsedBytes,
    heap_size_limit: heapLimitBytes,
    external_memory: externalBytes,
  } = v8.getHeapStatistics()
  return {
    heapUsedBytes,
    externalBytes,
    heapLimitBytes: afterGcLimitBytes(heapLimitBytes),
    rssBytes: rssBytes(),
    rssLimitBytes: containerLimitBytes(),
  }
}

/** Memory outside the heap. A buffer is allocated first, so that V8 counts the dead ones no longer. */
function readExternalBytes() {
  new ArrayBuffer(1)
  return v8.getHeapStatistics().external_memory
}

exports.Memory = Memory
exports.heapLimitBytes = heapLimitBytes
exports.memoryForGate = memoryForGate
exports.memoryForProfile = memoryForProfile
exports.memoryForRecycling = memoryForRecycling
exports.memoryInUse = memoryInUse
exports.readExternalBytes = readExternalBytes
