'use strict'
// The queue is a binary heap. Higher classes come first. Within a class the order is by tag (FairShares),
// then first in, first out. A queued request keeps its async context, so that its handler sees the same
// AsyncLocalStorage and active span.

const { AsyncResource } = require('node:async_hooks')
const { NORMAL, QUEUED_CLASSES } = require('./verdict')

/** @import { Request } from '../request/request' */

/** Extra fields of a queued request: its position in the queue, and the marks that measure its wait. */
class Wait {
  /** Sequence number among all requests that were ever queued. */
  order = 0
  /**
   * Async context of the request's arrival, until it runs. Only queued requests pay for this.
   *
   * @type {AsyncResource | undefined}
   */
  resource = new AsyncResource('spillway.queue')
  /** Called when its client half-closes the connection. @type {(() => void) | undefined} */
  onHalfClose = undefined
  /** Called when the request will never run. @type {(() => void) | undefined} */
  giveUp = undefined

  /**
   * @param {Request} request
   * @param {{ key: string | undefined, tag: number, deadlineMs: number, nowMs: number, stallFreeMs: number,
   *   idleMs: number }} marks
   */
  constructor(request, { key, tag, deadlineMs, nowMs, stallFreeMs, idleMs }) {
    /** Undefined once it was taken out of the queue. @type {Request | undefined} */
    this.request = request
    this.priority = request.ticket.priority
    /** Key that the request counts for in FairShares. */
    this.key = key
    /** Position within the class, if keys share fairly; otherwise 0. */
    this.tag = tag
    /** Longest wait that its deadline allows. */
    this.deadlineMs = deadlineMs
    this.queuedMs = nowMs
    /** Start of the wait, on the stall-free clock. */
    this.queuedStallFreeMs = stallFreeMs
    /** Total idle time of the loop at the start of the wait. */
    this.queuedIdleMs = idleMs
  }

  /** @param {number} nowMs */
  isPastDeadline(nowMs) {
    return nowMs - this.queuedMs >= this.deadlineMs
  }

  get isQueued() {
    return this.request !== undefined
  }
}

/** @param {Wait} a @param {Wait} b */
const isBefore = (a, b) => {
  if (a.priority !== b.priority) return a.priority < b.priority
  return a.tag === b.tag ? a.order < b.order : a.tag < b.tag
}

/** @param {Wait} wait @param {number} priority @param {number} tag */
const isAhead = (wait, priority, tag) =>
  wait.request !== undefined && (wait.priority < priority || (wait.priority === priority && wait.tag <= tag))

/**
 * Lower bounds over all queued requests, kept without a walk over the queue. A bound may come from a request
 * that has left since.
 */
class Oldest {
  /** The class with the shortest permitted wait. */
  priority = NORMAL
  queuedMs = Number.POSITIVE_INFINITY
  queuedStallFreeMs = Number.POSITIVE_INFINITY
  /** Time at which the first deadline passes. */
  dueMs = Number.POSITIVE_INFINITY

  /** @param {Wait} wait */
  add({ queuedMs, queuedStallFreeMs, deadlineMs }) {
    if (queuedMs < this.queuedMs) this.queuedMs = queuedMs
    // The stall-free clock runs on during a stall and is then set back. So the request queued first may not
    // have the lowest value.
    if (queuedStallFreeMs < this.queuedStallFreeMs) this.queuedStallFreeMs = queuedStallFreeMs
    if (queuedMs + deadlineMs < this.dueMs) this.dueMs = queuedMs + deadlineMs
  }

  clear() {
    this.queuedMs = this.queuedStallFreeMs = this.dueMs = Number.POSITIVE_INFINITY
  }

  /**
   * Whether a deadline may have passed. One millisecond covers the rounding of the sum.
   *
   * @param {number} nowMs
   */
  mayBePastDeadline(nowMs) {
    return nowMs + 1 >= this.dueMs
  }
}

class Queue {
  length = 0
  oldest = new Oldest()
  /** @type {Wait[]} */
  #heap = []
  #order = 0
  #counts = new Float64Array(QUEUED_CLASSES)

  /** @param {Wait} wait of a request that is not in the queue */
  push(wait) {
    wait.order = this.#order++
    this.#counts[wait.priority]++
    this.length++
    this.oldest.add(wait)
    this.#rise(wait)
  }

  /** Removes and returns the request to run next; undefined if none is queued. */
  shift() {
    while (this.#heap.length > 0) {
      const wait = this.#pop()
      const { request } = wait
      if (request === undefined) continue
      this.remove(wait)
      return request
    }
    return undefined
  }

  /**
   * Removes the request. Its `Wait` stays in the heap without a request, and `shift` skips it.
   *
   * @param {Wait} wait that is queued
   */
  remove(wait) {
    wait.request = undefined
    this.#counts[wait.priority]--
    this.length--
    if (this.length === 0) this.oldest.clear()
    // Compact only once empty entries outnumber the others. So each entry is sorted again once, on average.
    if (this.#heap.length - this.length > this.length) this.#compact()
  }

  /** A sorted list is a heap. */
  #compact() {
    this.#heap = this.#heap
      .filter(({ request }) => request !== undefined)
      .sort((a, b) => (isBefore(a, b) ? -1 : 1))
  }

  /**
   * Counts the queued requests that run before a new one of this class and tag.
   *
   * @param {number} priority
   * @param {number} tag
   */
  ahead(priority, tag) {
    let count = 0
    if (tag === 0) for (let i = 0; i <= priority; i++) count += this.#counts[i]
    else for (const each of this.#heap) if (isAhead(each, priority, tag)) count++
    return count
  }

  /**
   * The queued requests whose wait meets the condition, in no order.
   *
   * @param {(wait: Wait) => boolean} condition
   */
  filter(condition) {
    const found = []
    this.oldest.clear()
    for (const wait of this.#heap) {
      if (wait.request === undefined) continue
      this.oldest.add(wait)
      if (condition(wait)) found.push(wait.request)
    }
    return found
  }

  /** The wait of the request that would run last. */
  last() {
    /** @type {Wait | undefined} */
    let last
    for (const wait of this.#heap)
      if (wait.isQueued && (last === undefined || isBefore(last, wait))) last = wait
    return last
  }

  /** @param {Wait} wait */
  #rise(wait) {
    const heap = this.#heap
    let at = heap.push(wait) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(wait, heap[parent])) break
      heap[at] = heap[parent]
      at = parent
    }
    heap[at] = wait
  }

  #pop() {
    const heap = this.#heap
    const first = heap[0]
    const last = /** @type {Wait} */ (heap.pop())
    if (heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++
      if (!isBefore(heap[child], last)) break
      heap[at] = heap[child]
      at = child
    }
    heap[at] = last
    return first
  }
}

/**
 * Runs the callback in the async context that the request was queued in, and drops that context.
 * @param {Wait} wait @param {Request} request @param {(this: Request) => unknown} callback
 */
function inRequestContext(wait, request, callback) {
  const { resource } = wait
  if (resource === undefined) return callback.call(request)
  wait.resource = undefined
  return resource.runInAsyncScope(callback, request)
}

/**
 * Under overload each key gets an equal share before any key gets more (start-time fair queueing). A queued
 * request gets a tag, one more than the last tag of its key and never less than the tag dequeued last. The
 * queue runs the lowest tag first, so a key over its share waits behind its own requests. If a request leaves
 * the queue in another way, its key gets the tag back.
 */
class FairShares {
  /**
   * The last tag of each key, and how many of its requests are queued.
   *
   * @type {Map<string, { lastTag: number, queued: number }>}
   */
  #keys = new Map()
  #dequeuedTag = 1
  /** The number of keys after the last sweep. */
  #swept = 0

  /**
   * @param {string} key
   * @returns {number} above 0. This call changes nothing: the key gets the tag when the request is queued.
   */
  tagOf(key) {
    return Math.max(this.#dequeuedTag, (this.#keys.get(key)?.lastTag ?? 0) + 1)
  }

  /** @param {string} key @param {number} tag */
  onQueue(key, tag) {
    const known = this.#keys.get(key)
    if (known === undefined) return this.#add(key, tag)
    known.lastTag = tag
    known.queued++
  }

  /** @param {string} key @param {number} lastTag */
  #add(key, lastTag) {
    // Keys double between two sweeps, so each is visited once, on average.
    if (this.#keys.size > 2 * this.#swept) this.#sweep()
    this.#keys.set(key, { lastTag, queued: 1 })
  }

  /** @param {string} key @param {number} tag */
  onDequeue(key, tag) {
    this.#of(key).queued--
    this.#dequeuedTag = Math.max(this.#dequeuedTag, tag)
  }

  /** A request left the queue without running, so its key gets the tag back. @param {string} key */
  onRemove(key) {
    const known = this.#of(key)
    known.queued--
    if (known.lastTag > this.#dequeuedTag) known.lastTag--
  }

  /** @param {string} key */
  #of(key) {
    return /** @type {{ lastTag: number, queued: number }} */ (this.#keys.get(key))
  }

  /** Keys without a queued request are removed, so the queue bounds the number of keys. */
  #sweep() {
    for (const [key, { queued }] of this.#keys) if (queued === 0) this.#keys.delete(key)
    this.#swept = this.#keys.size
  }
}

exports.FairShares = FairShares
exports.Queue = Queue
exports.Wait = Wait
exports.inRequestContext = inRequestContext
