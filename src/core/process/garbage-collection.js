'use strict'
// Counts GC pauses by kind at the bounds that OpenTelemetry advises. V8 reports several pauses at once, so
// every entry of a list is read. Before a sample, entries that the observer has not delivered yet are read
// too. Keeps the heap in use after the last major collection, the only heap figure that distinguishes a leak
// from a saw-tooth.
//
// `CollectionTimes` remembers when garbage was collected, so that a duration can be split into work and
// collections.

const { PerformanceObserver, constants } = require('node:perf_hooks')
const v8 = require('node:v8')
const { ADVISED_BOUNDS, Buckets } = require('../histogram/buckets')

/** V8's value; Node has no constant for it. */
const MINOR_MARK_COMPACT = 2
const KINDS = /** @type {const} */ (['minor', 'major', 'incremental', 'weakcb'])
const [MINOR, MAJOR, INCREMENTAL, WEAKCB] = KINDS.keys()
/** @type {Record<number, number>} */
const KIND_INDEX = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: MINOR,
  [MINOR_MARK_COMPACT]: MINOR,
  [constants.NODE_PERFORMANCE_GC_MAJOR]: MAJOR,
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: INCREMENTAL,
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: WEAKCB,
}

/**
 * Older pauses are only in the total. If a request spans more pauses than this, only the last of them count
 * for it.
 */
const KEPT = 128

class GarbageCollection {
  #buckets = new Buckets(ADVISED_BOUNDS)
  /** @type {PerformanceObserver | undefined} */
  #observer
  /** @type {number | undefined} */
  #heapAfterBytes
  #onMinor
  #onMajor
  #onExternal
  /** @type {((startMs: number, durationMs: number) => void)[]} */
  #listeners = []

  /**
   * @param {{ onMinor: (usedBytes: number) => void, onMajor: (usedBytes: number) => void,
   *   onExternal: (bytes: number) => void }} listeners the first two are called with the heap in use after a
   *   collection was recorded. `onExternal` is called with the memory outside the heap after a minor
   *   collection
   */
  constructor({ onMinor, onMajor, onExternal }) {
    this.#onMinor = onMinor
    this.#onMajor = onMajor
    this.#onExternal = onExternal
  }

  /** @param {(startMs: number, durationMs: number) => void} listener called with each pause */
  listen(listener) {
    this.#listeners.push(listener)
  }

  get heapAfterBytes() {
    return this.#heapAfterBytes
  }

  start() {
    for (const _ of KINDS) this.#buckets.add()
    this.#observer = new PerformanceObserver((list) => this.#record(list.getEntries()))
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  close() {
    this.#observer?.disconnect()
  }

  // Hot path: once a loop turn. The pauses of a turn can be taken in its check phase. Observers get them only
  // after that phase.
  /**
   * Records the collections of this loop turn, which the observer has not been given yet.
   *
   * @returns {number} their milliseconds
   */
  recordPending() {
    return this.#record(this.#observer?.takeRecords() ?? [])
  }

  /** @param {import('node:perf_hooks').PerformanceEntry[]} entries */
  #record(entries) {
    let pausedMs = 0
    /** @type {number | undefined} */
    let externalBytes
    for (const entry of entries) {
      const kind = KIND_INDEX[/** @type {typeof entry & { detail: { kind: number } }} */ (entry).detail.kind]
      if (kind === undefined) continue
      pausedMs += entry.duration
      this.#buckets.record(kind, entry.duration / 1000)
      for (const listener of this.#listeners) listener(entry.startTime, entry.duration)
      if (kind === MINOR) {
        const heap = v8.getHeapStatistics()
        this.#onMinor(heap.used_heap_size)
        externalBytes = heap.external_memory
      }
      if (kind !== MAJOR) continue
      // The figure may include buffers that this collection found dead.
      externalBytes = undefined
      this.#heapAfterBytes = v8.getHeapStatistics().used_heap_size
      this.#onMajor(this.#heapAfterBytes)
    }
    if (externalBytes !== undefined) this.#onExternal(externalBytes)
    return pausedMs
  }

  /**
   * The pauses as a bucket table with a row per kind, and the heap in use after the last major collection.
   */
  sample() {
    this.recordPending()
    return {
      kinds: KINDS,
      buckets: this.#buckets.copy(),
      bounds: ADVISED_BOUNDS,
      heapAfterBytes: this.#heapAfterBytes,
    }
  }
}

/** A ring of the last pauses, each with the total of all pauses before it. */
class CollectionTimes {
  /** When the last pause ended. A request that was received later overlaps no pause. */
  lastEndMs = 0
  #totalMs = 0
  #count = 0
  #starts = new Float64Array(KEPT)
  #ends = new Float64Array(KEPT)
  #totals = new Float64Array(KEPT)

  /**
   * Pauses come in the order of their ends. V8 also reports a pause inside another pause. The time of the
   * inner pause counts once.
   * @param {number} startMs @param {number} durationMs
   */
  record(startMs, durationMs) {
    const endMs = startMs + durationMs
    const fromMs = Math.max(startMs, this.lastEndMs)
    if (endMs <= fromMs) return
    const at = this.#count++ % KEPT
    this.#starts[at] = fromMs
    this.#ends[at] = endMs
    this.#totals[at] = this.#totalMs
    this.#totalMs += endMs - fromMs
    this.lastEndMs = endMs
  }

  /** @param {number} ms @returns {number} the time of all pauses before that moment */
  #until(ms) {
    let totalMs = this.#totalMs
    const oldest = Math.max(0, this.#count - KEPT)
    for (let i = this.#count - 1; i >= oldest; i--) {
      const at = i % KEPT
      if (this.#ends[at] <= ms) return totalMs
      totalMs = this.#totals[at] + Math.max(0, ms - this.#starts[at])
    }
    return totalMs
  }

  /** @param {number} fromMs @param {number} toMs */
  between(fromMs, toMs) {
    if (fromMs >= this.lastEndMs || toMs <= fromMs) return 0
    return this.#until(toMs) - this.#until(fromMs)
  }
}

exports.CollectionTimes = CollectionTimes
exports.GarbageCollection = GarbageCollection
