'use strict'
// The queue. Each class has a head start of CLASS_LEAD_MS over the class below. Within a class the order is
// by tag (FairShares), then first in, first out. A queued request keeps its async context, so that its
// handler sees the same AsyncLocalStorage and active span. The queue tells its owner when the client of a
// queued request half-closes.

const { AsyncResource } = require('node:async_hooks')
const { offHalfClose, onHalfClose } = require('../request/half-closed')
const { NORMAL, QUEUED_CLASSES } = require('./decision')

/** @import { RequestRecord } from '../request/request-record' */

/**
 * The lead of a class over the class below it. In an overload a request below `critical` usually waits for
 * less than the lead, so higher classes run first. Without an overload, all classes are served, and a lower
 * class waits longer by the lead. The sum of three leads and MAX_BOUND_MS is less than the default
 * `maxDelay`, so no class is rejected in a queue that the clients bound. See decisions/0070.
 */
const CLASS_LEAD_MS = 150

/** One request in the queue: its position, and the marks that measure its wait. */
class QueueEntry {
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
   * @param {RequestRecord} request
   * @param {{ key: string | undefined, tag: number, maxWaitMs: number, nowMs: number, stallFreeMs: number,
   *   idleMs: number }} marks
   */
  constructor(request, { key, tag, maxWaitMs, nowMs, stallFreeMs, idleMs }) {
    /** Undefined once the request was taken out of the queue. @type {RequestRecord | undefined} */
    this.request = request
    this.priority = request.ticket.priority
    /** The key that the request counts for in FairShares. */
    this.key = key
    /** Position within the class if `shed.key` is given, else 0. */
    this.tag = tag
    /** Longest wait that its deadline allows. */
    this.maxWaitMs = maxWaitMs
    this.queuedMs = nowMs
    /** Start of the wait, on the stall-free clock. */
    this.queuedStallFreeMs = stallFreeMs
    /** Total idle time of the loop at the start of the wait. */
    this.queuedIdleMs = idleMs
    /** The same at its end, if the request was admitted. */
    this.dequeuedIdleMs = idleMs
  }

  /** @param {number} nowMs */
  isPastDeadline(nowMs) {
    return nowMs - this.queuedMs >= this.maxWaitMs
  }

  get isQueued() {
    return this.request !== undefined
  }
}

/**
 * The class whose next request is to run; -1 if none is queued.
 *
 * @param {(priority: number) => number} queuedMsOf when the next request of this class was queued; Infinity if
 *   none is
 */
function nextClass(queuedMsOf) {
  let next = -1
  let nextMs = Number.POSITIVE_INFINITY
  for (let priority = 0; priority < QUEUED_CLASSES; priority++) {
    const countedMs = queuedMsOf(priority) + priority * CLASS_LEAD_MS
    if (countedMs >= nextMs) continue
    next = priority
    nextMs = countedMs
  }
  return next
}

/** @param {QueueEntry} a @param {QueueEntry} b of the same class */
const isBefore = (a, b) => (a.tag === b.tag ? a.order < b.order : a.tag < b.tag)

/**
 * Lower bounds over all queued requests, kept without a walk over the queue. A bound may come from a request
 * that has left since.
 */
class QueueBounds {
  /** The class with the shortest permitted wait. */
  priority = NORMAL
  queuedMs = Number.POSITIVE_INFINITY
  queuedStallFreeMs = Number.POSITIVE_INFINITY
  /** Time at which the first deadline passes. */
  dueMs = Number.POSITIVE_INFINITY

  /** @param {QueueEntry} entry */
  add({ queuedMs, queuedStallFreeMs, maxWaitMs }) {
    if (queuedMs < this.queuedMs) this.queuedMs = queuedMs
    // The stall-free clock runs on during a stall and is then set back. So the request queued first may not
    // have the lowest value.
    if (queuedStallFreeMs < this.queuedStallFreeMs) this.queuedStallFreeMs = queuedStallFreeMs
    if (queuedMs + maxWaitMs < this.dueMs) this.dueMs = queuedMs + maxWaitMs
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

/** The queued requests of one class: a binary heap. */
class ClassQueue {
  length = 0
  /** @type {QueueEntry[]} */
  #heap = []
  /** No queued request has a higher tag. */
  #lastTag = 0

  /** @param {QueueEntry} entry */
  push(entry) {
    this.length++
    if (entry.tag > this.#lastTag) this.#lastTag = entry.tag
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(entry, heap[parent])) break
      heap[at] = heap[parent]
      at = parent
    }
    heap[at] = entry
  }

  /** The request to run next; undefined if none is queued. */
  first() {
    const heap = this.#heap
    while (heap.length > 0 && !heap[0].isQueued) this.#pop()
    return heap.length === 0 ? undefined : heap[0]
  }

  /** A request was removed. Its entry stays in the heap until it is the first, or the heap is compacted. */
  onRemove() {
    this.length--
    if (this.length === 0) this.#lastTag = 0
    // Compact only if most entries are empty. So each entry is sorted again once, on average.
    if (this.#heap.length - this.length > this.length) this.#compact()
  }

  /**
   * How many requests have this tag or a lower one; all if the tag is 0. Visits only these: a key over its
   * share may have thousands of requests behind them.
   *
   * @param {number} tag
   */
  upTo(tag) {
    return tag === 0 || tag >= this.#lastTag ? this.length : this.#countFrom(0, tag)
  }

  /**
   * @param {number} at an index of the heap, where no entry has a lower tag than its parent
   * @param {number} tag
   * @returns {number}
   */
  #countFrom(at, tag) {
    const entry = this.#heap[at]
    if (entry === undefined || entry.tag > tag) return 0
    return Number(entry.isQueued) + this.#countFrom(2 * at + 1, tag) + this.#countFrom(2 * at + 2, tag)
  }

  /** @param {(entry: QueueEntry) => void} visit */
  forEach(visit) {
    for (const entry of this.#heap) if (entry.isQueued) visit(entry)
  }

  /** A sorted list is a heap. */
  #compact() {
    this.#heap = this.#heap.filter((entry) => entry.isQueued).sort((a, b) => (isBefore(a, b) ? -1 : 1))
  }

  #pop() {
    const heap = this.#heap
    const last = /** @type {QueueEntry} */ (heap.pop())
    if (heap.length === 0) return
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
  }
}

class Queue {
  length = 0
  bounds = new QueueBounds()
  #classes = Array.from({ length: QUEUED_CLASSES }, () => new ClassQueue())
  #fairShares = new FairShares()
  #order = 0

  /**
   * The tag that the next request of this key gets; 0 without a key.
   *
   * @param {string | undefined} key
   */
  tagOf(key) {
    return key === undefined ? 0 : this.#fairShares.tagOf(key)
  }

  /**
   * @param {QueueEntry} entry of a request that is not in the queue
   * @param {() => void} [onClientEnd] called if the client half-closes while the request is queued
   */
  push(entry, onClientEnd) {
    entry.order = this.#order++
    this.length++
    this.bounds.add(entry)
    this.#classes[entry.priority].push(entry)
    if (entry.key !== undefined) this.#fairShares.onQueue(entry.key, entry.tag)
    if (onClientEnd === undefined) return
    entry.onHalfClose = onClientEnd
    onHalfClose(/** @type {RequestRecord} */ (entry.request), onClientEnd)
  }

  /** Removes and returns the request to run next; undefined if none is queued. */
  shift() {
    const next = nextClass(this.#queuedMsOf)
    if (next === -1) return undefined
    const entry = /** @type {QueueEntry} */ (this.#classes[next].first())
    const { request } = entry
    this.#takeOut(entry)
    if (entry.key !== undefined) this.#fairShares.onDequeue(entry.key, entry.tag)
    return request
  }

  /** @param {number} priority */
  #queuedMsOf = (priority) => this.#classes[priority].first()?.queuedMs ?? Number.POSITIVE_INFINITY

  /** @param {QueueEntry} entry that is queued, and will not run */
  remove(entry) {
    this.#takeOut(entry)
    if (entry.key !== undefined) this.#fairShares.onRemove(entry.key)
  }

  /** @param {QueueEntry} entry */
  #takeOut(entry) {
    offHalfClose(/** @type {RequestRecord} */ (entry.request), entry.onHalfClose)
    entry.request = undefined
    this.length--
    if (this.length === 0) this.bounds.clear()
    this.#classes[entry.priority].onRemove()
  }

  /**
   * Counts the queued requests of this class and tag, or before it, and those of higher classes.
   *
   * @param {number} priority
   * @param {number} tag
   */
  ahead(priority, tag) {
    let count = this.#classes[priority].upTo(tag)
    for (let i = 0; i < priority; i++) count += this.#classes[i].length
    return count
  }

  /**
   * Visits every entry, and so renews `bounds`. Returns the requests whose entry meets the condition, in no
   * particular order.
   *
   * @param {(entry: QueueEntry) => boolean} condition
   */
  scan(condition) {
    /** @type {RequestRecord[]} */
    const found = []
    this.bounds.clear()
    for (const each of this.#classes)
      each.forEach((entry) => {
        this.bounds.add(entry)
        if (condition(entry)) found.push(/** @type {RequestRecord} */ (entry.request))
      })
    return found
  }

  /** The entry of the request that would run last of the lowest class. */
  last() {
    /** @type {QueueEntry | undefined} */
    let last
    for (let priority = QUEUED_CLASSES - 1; priority >= 0 && last === undefined; priority--)
      this.#classes[priority].forEach((entry) => {
        if (last === undefined || isBefore(last, entry)) last = entry
      })
    return last
  }
}

/**
 * Runs the callback in the async context that the request was queued in, and drops that context.
 * @param {QueueEntry} entry @param {RequestRecord} request @param {(this: RequestRecord) => unknown} callback
 */
function inRequestContext(entry, request, callback) {
  const { resource } = entry
  if (resource === undefined) return callback.call(request)
  entry.resource = undefined
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
    // The number of keys doubles between two sweeps, so each key is visited once, on average.
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

exports.CLASS_LEAD_MS = CLASS_LEAD_MS
exports.FairShares = FairShares
exports.Queue = Queue
exports.QueueEntry = QueueEntry
exports.inRequestContext = inRequestContext
exports.nextClass = nextClass
