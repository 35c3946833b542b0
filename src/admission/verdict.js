'use strict'
// The words of admission: what can become of a request, the classes it can be of, and every reason to reject it, each
// beside the file whose rule gives it. A reason names the resource that is short.

/** Run it now; it is queued until its `resume` is called; it is rejected, and its answer sent or on its way. */
const RUN = 0
const QUEUED = 1
const REJECTED = 2

/** In the order in which they are served. `bypass` is neither queued nor rejected. */
const PRIORITIES = Object.freeze(/** @type {const} */ (['critical', 'high', 'normal', 'low', 'bypass']))
const CRITICAL = 0
const NORMAL = 2
const BYPASS = 4
/** How many classes can be queued: all before `bypass`. */
const QUEUED_CLASSES = BYPASS
/** How much of a shortage each class feels: critical none of it, low more than its share. */
const SHORTAGE_WEIGHTS = Object.freeze([0, 0.5, 1, 1.5])

const REASONS = Object.freeze(
  /** @type {const} */ ([
    'loop', // limits/loop-share.js, limits/queue-delay.js: the event loop is full
    'concurrency', // limits/limits.js: `maxConcurrent` requests are in flight
    'memory', // limits/resource-limits.js: the heap is nearly full after a collection
    'pressure', // limits/resource-limits.js: what the user's own `pressure()` says
    'deadline', // gate.js: the wait would outlast what `deadline(req)` allows
    'event_loop_delay', // limits/thresholds.js: the fixed limits of the options
    'event_loop_utilization',
    'heap_used_bytes',
    'rss_bytes',
    'closed', // gate.js: the instance was closed while the request was queued
  ])
)

/** @type {Map<string, number>} */
const PRIORITY_INDEX = new Map(PRIORITIES.map((name, index) => [name, index]))

/** @returns {number | undefined} an index into PRIORITIES */
const priorityIndex = (name) => PRIORITY_INDEX.get(name)

module.exports = {
  BYPASS,
  CRITICAL,
  NORMAL,
  PRIORITIES,
  QUEUED,
  QUEUED_CLASSES,
  REASONS,
  REJECTED,
  RUN,
  SHORTAGE_WEIGHTS,
  priorityIndex,
}
