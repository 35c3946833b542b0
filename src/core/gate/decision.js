'use strict'
// The vocabulary of admission: the decisions, the classes, every reason to reject a request, and its figures.
// A reason names the resource that is short, or what is wrong with the request: `age`, `deadline`, `closed`.

/** @typedef {typeof RUN | typeof QUEUED | typeof REJECTED} Decision */
/**
 * RUN: the request runs now. QUEUED: it waits until `ticket.runQueued` is called. REJECTED: its 503 is sent,
 * or will be sent later.
 */
const [RUN, QUEUED, REJECTED] = /** @type {const} */ ([0, 1, 2])

/** Classes, in the order of service. `bypass` is neither queued nor rejected. */
const PRIORITIES = Object.freeze(/** @type {const} */ (['critical', 'high', 'normal', 'low', 'bypass']))
const CRITICAL = PRIORITIES.indexOf('critical')
const NORMAL = PRIORITIES.indexOf('normal')
const LOW = PRIORITIES.indexOf('low')
const BYPASS = PRIORITIES.indexOf('bypass')
/** The number of classes that can be queued: all before `bypass`. */
const QUEUED_CLASSES = BYPASS
/**
 * Factor of each class for rejections by memory or shortage. 0: class `critical` is never rejected for them.
 */
const SHORTAGE_WEIGHTS = Object.freeze([0, 0.5, 1, 1.5])

const REASONS = Object.freeze(
  /** @type {const} */ ([
    // limits/limits.js, from loop-share.js and queue-delay.js: the event loop is full. gate.js: a client
    // half-closed its connection. features/sockets/connection-gate.js: the loop has no room for a connection
    'loop',
    'concurrency', // limits/limits.js: `maxConcurrent` requests are in flight
    'memory', // limits/resource-limits.js: the heap is nearly full after a collection
    'shortage', // limits/resource-limits.js: the user's `shortage()`
    'deadline', // gate.js and features/deadlines/deadlines.js: the wait is longer than `maxAge` or the deadline
    'age', // features/deadlines/deadlines.js: on arrival, already older than its deadline or `maxAge`
    'event_loop_delay', // limits/resource-limits.js: the fixed limits of the options
    'event_loop_utilization',
    'heap_used_bytes',
    'rss_bytes',
    // gate.js and features/bulkheads/bulkhead.js: the instance was closed while the request was queued.
    // features/sockets/connection-gate.js: the process drains
    'closed',
  ])
)
/**
 * `pool:<name>`, from features/pools/pool-pressure.js: the request would wait too long for a connection of
 * that pool.
 */
const POOL_REASON = /** @type {const} */ ('pool:')
/** `limit:<name>`, from features/bulkheads/bulkhead.js: `limit()` lets no more requests of the route run. */
const LIMIT_REASON = /** @type {const} */ ('limit:')
/** The most limits that can exist, because each limit has a separate reason. */
const MAX_LIMITS = 50
/** The most pools that a user can name. Each has a separate reason, and further pools share one. */
const MAX_POOLS = 20

/** @type {Map<unknown, number>} */
const PRIORITY_INDEX = new Map(PRIORITIES.map((name, index) => [name, index]))

/** @param {unknown} name @returns {number | undefined} an index into PRIORITIES */
const priorityIndex = (name) => PRIORITY_INDEX.get(name)

/**
 * The figure that caused the last rejection, and the bound that the figure reached or exceeded. A rule that
 * rejects sets both with its reason. The code that counts the rejection reads them in the same call, so they
 * cost nothing while no request is rejected.
 */
class Cause {
  /** NaN: the reason has no number. */
  value = Number.NaN
  bound = Number.NaN

  /** @template {string} Reason @param {Reason} reason @returns {Reason} */
  because(reason, value = Number.NaN, bound = Number.NaN) {
    this.value = value
    this.bound = bound
    return reason
  }
}

/**
 * The figures as users see them, to three decimals.
 *
 * @param {{ value?: number | undefined, bound?: number | undefined }} cause
 */
const figuresOf = ({ value, bound }) => ({ value: shown(value), bound: shown(bound) })

/** @param {number | undefined} number @returns {number | null} null without a number */
const shown = (number) =>
  Number.isFinite(number) ? Math.round(/** @type {number} */ (number) * 1000) / 1000 : null

exports.BYPASS = BYPASS
exports.CRITICAL = CRITICAL
exports.Cause = Cause
exports.LIMIT_REASON = LIMIT_REASON
exports.LOW = LOW
exports.MAX_LIMITS = MAX_LIMITS
exports.MAX_POOLS = MAX_POOLS
exports.NORMAL = NORMAL
exports.POOL_REASON = POOL_REASON
exports.PRIORITIES = PRIORITIES
exports.QUEUED = QUEUED
exports.QUEUED_CLASSES = QUEUED_CLASSES
exports.REASONS = REASONS
exports.REJECTED = REJECTED
exports.RUN = RUN
exports.SHORTAGE_WEIGHTS = SHORTAGE_WEIGHTS
exports.figuresOf = figuresOf
exports.priorityIndex = priorityIndex
