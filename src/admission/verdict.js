'use strict'
// The vocabulary of admission: the decisions, the classes, and every reason to reject a request. Each reason names the
// resource that is short, and stands beside the file whose rule gives that reason.

/** RUN: now. QUEUED: until `resume` is called. REJECTED: the answer is sent, or held to be sent late. */
const RUN = 0
const QUEUED = 1
const REJECTED = 2

/** In the order in which the queue serves them. `bypass` is neither queued nor rejected. */
const PRIORITIES = Object.freeze(/** @type {const} */ (['critical', 'high', 'normal', 'low', 'bypass']))
const CRITICAL = 0
const NORMAL = 2
const LOW = 3
const BYPASS = 4
/** The number of classes that can be queued: all before `bypass`. */
const QUEUED_CLASSES = BYPASS
/** The factor by which each class is rejected for memory or pressure: critical never, low most. */
const SHORTAGE_WEIGHTS = Object.freeze([0, 0.5, 1, 1.5])

const REASONS = Object.freeze(
  /** @type {const} */ ([
    'loop', // limits/limits.js, from loop-share.js and queue-delay.js: the event loop is full
    'concurrency', // limits/limits.js: `maxConcurrent` requests are in flight
    'memory', // limits/resource-limits.js: the heap is nearly full after a collection
    'pressure', // limits/resource-limits.js: the user's `pressure()`
    'deadline', // gate.js: the wait would be longer than `deadline(req)` allows
    'event_loop_delay', // limits/thresholds.js: the fixed limits of the options
    'event_loop_utilization',
    'heap_used_bytes',
    'rss_bytes',
    'closed', // gate.js: the instance was closed while the request was queued
  ])
)
/** `pool:<name>`, from pools/pool-pressure.js: the request would wait too long for a connection of that pool. */
const POOL_REASON = 'pool:'

/** @type {Map<string, number>} */
const PRIORITY_INDEX = new Map(PRIORITIES.map((name, index) => [name, index]))

/** @returns {number | undefined} an index into PRIORITIES */
const priorityIndex = (name) => PRIORITY_INDEX.get(name)

module.exports = {
  BYPASS,
  CRITICAL,
  LOW,
  NORMAL,
  POOL_REASON,
  PRIORITIES,
  QUEUED,
  QUEUED_CLASSES,
  REASONS,
  REJECTED,
  RUN,
  SHORTAGE_WEIGHTS,
  priorityIndex,
}
