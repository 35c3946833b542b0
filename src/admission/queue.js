'use strict'
// The queue, a binary heap: higher classes first, within a class by tag (fair-shares.js), then first in, first out.
// A queued request keeps its async context, so that its handler sees the same AsyncLocalStorage and active span.

const { AsyncResource } = require('node:async_hooks')
const { QUEUED_CLASSES } = require('./verdict')

const isBefore = (a, b) => {
  if (a.priority !== b.priority) return a.priority < b.priority
  return a.tag === b.tag ? a.order < b.order : a.tag < b.tag
}

const isAhead = (entry, priority, tag) =>
  entry.request !== undefined &&
  (entry.priority < priority || (entry.priority === priority && entry.tag <= tag))

/** The heap is compacted once removed entries outnumber the queued ones by this many. */
const MIN_REMOVED = 64

class Queue {
  length = 0
  #heap = []
  #order = 0
  #counts = new Float64Array(QUEUED_CLASSES)

  push(request) {
    const { admission } = request
    const { priority, tag } = admission
    const entry = { request, priority, tag, order: this.#order++ }
    admission.entry = entry
    // Only queued requests pay for this.
    admission.resource = new AsyncResource('spillway.queue')
    this.#counts[priority]++
    this.length++
    this.#rise(entry)
  }

  /** Removes and returns the request to run next; undefined if none is queued. */
  shift() {
    while (this.#heap.length > 0) {
      const { request } = this.#pop()
      if (request === undefined) continue
      this.remove(request)
      return request
    }
    return undefined
  }

  has({ admission }) {
    return admission.entry !== undefined
  }

  /** Takes the request out. Its entry stays in the heap, empty, and `shift` skips it. */
  remove({ admission }) {
    admission.entry.request = undefined
    admission.entry = undefined
    this.#counts[admission.priority]--
    this.length--
    if (this.#heap.length - this.length > this.length + MIN_REMOVED) this.#compact()
  }

  /** A sorted list is a heap. */
  #compact() {
    this.#heap = this.#heap
      .filter(({ request }) => request !== undefined)
      .sort((a, b) => (isBefore(a, b) ? -1 : 1))
  }

  /** Counts the queued requests that run before a new one of this class and tag. */
  ahead(priority, tag) {
    let count = 0
    if (tag === 0) for (let i = 0; i <= priority; i++) count += this.#counts[i]
    else for (const each of this.#heap) if (isAhead(each, priority, tag)) count++
    return count
  }

  /** The queued requests whose admission record meets the condition, in no order. */
  filter(condition) {
    const found = []
    for (const { request } of this.#heap) {
      if (request !== undefined && condition(request.admission)) found.push(request)
    }
    return found
  }

  #rise(entry) {
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

  #pop() {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
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

/** Runs the callback in the async context in which the request arrived, and drops that context. */
function inRequestContext(request, callback) {
  const { resource } = request.admission
  request.admission.resource = undefined
  if (resource === undefined) return callback.call(request, request)
  return resource.runInAsyncScope(callback, request, request)
}

module.exports = { Queue, inRequestContext }
