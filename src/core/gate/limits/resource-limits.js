'use strict'
// Rejects requests whatever the queue: if a fixed limit of the options is exceeded, if the user reports a
// shortage, or if memory is short.
//   memory pressure = clamp((heap after a major collection / limit - 0.85) / (0.95 - 0.85))
// For shortage and memory, the probability of a rejection is the shortage or the pressure, times the weight
// of the class. Class `critical` is never rejected, class `low` most.
//
// `Shortages` says how short each resource is, the queue too.

const { NORMAL, SHORTAGE_WEIGHTS } = require('../decision')

/**
 * @import { ShedReason } from '../../../../index.js'
 * @import { Clock } from '../../clock'
 * @import { ShedOptions } from '../admission'
 * @import { Queue } from '../queue'
 * @import { Stats } from '../stats'
 * @import { UserHooks } from '../user-hooks'
 * @import { Cause } from '../decision'
 * @import { Limits } from './limits'
 */

/**
 * Requests are rejected once the heap after a major collection is larger than this share of its limit. From
 * the second share on, all requests of class `normal` are rejected.
 */
const MEMORY_SHED_FROM = 0.85
const MEMORY_SHED_ALL = 0.95

const LIMITS = Object.freeze(
  /** @type {const} */ ([
    ['maxEventLoopDelay', 'eventLoopDelay', 'event_loop_delay'],
    ['maxEventLoopUtilization', 'eventLoopUtilization', 'event_loop_utilization'],
    ['maxHeapUsedBytes', 'heapUsedBytes', 'heap_used_bytes'],
    ['maxRssBytes', 'rssBytes', 'rss_bytes'],
  ])
)

/**
 * @typedef {{ limit: number, measured: string, reason: ShedReason, value: number }} Threshold `value`: the
 *   last measurement
 */

/** @param {Partial<ShedOptions>} options @returns {Threshold[]} */
const limitsOf = (options) =>
  LIMITS.map(([option, measured, reason]) => ({
    limit: /** @type {number} */ (options[option]),
    measured,
    reason,
    value: Number.NaN,
  })).filter(({ limit }) => limit !== undefined && limit > 0)

class ResourceLimits {
  /** Whether a resource is short: `reasonFor` may reject. */
  isShort = false
  memoryPressure = 0
  /** The heap after the last major collection, and the size above which requests are rejected. */
  #heapBytes = Number.NaN
  #heapBoundBytes = Number.NaN
  #cause
  #hooks
  #sampleMemory
  #turnSample
  #thresholds = new Thresholds({})
  #sampleIntervalMs = 0
  #random

  /**
   * @param {{
   *   cause: Cause,
   *   clock: Clock,
   *   hooks: UserHooks,
   *   sampleMemory: () => ReturnType<typeof import('../../process/memory').memoryForGate>,
   *   random?: (() => number) | undefined,
   * }} deps
   */
  constructor({ cause, clock, hooks, sampleMemory, random = Math.random }) {
    this.#cause = cause
    this.#hooks = hooks
    this.#sampleMemory = sampleMemory
    this.#turnSample = new TurnSample(clock.now(), clock.idleMs())
    this.#random = random
  }

  /** @param {ShedOptions} options */
  update(options) {
    this.#sampleIntervalMs = options.sampleInterval
    // With the same limits keep the state until the next sample.
    if (!this.#thresholds.matches(options)) this.#thresholds = new Thresholds(options)
    this.#updateShortage()
  }

  /** @param {number} priority @returns {ShedReason | undefined} why a request of this class is rejected */
  reasonFor(priority) {
    const { bound, reason, value } = this.#thresholds
    if (reason !== undefined) return this.#cause.because(reason, value, bound)
    const { shortage } = this.#hooks
    const weight = SHORTAGE_WEIGHTS[priority]
    if (shortage > 0 && this.#random() < shortage * weight)
      return this.#cause.because('shortage', shortage, 0)
    const { memoryPressure } = this
    if (memoryPressure > 0 && this.#random() < memoryPressure * weight)
      return this.#cause.because('memory', this.#heapBytes, this.#heapBoundBytes)
    return undefined
  }

  /**
   * Called after the hooks have read the user's shortage.
   *
   * @param {number} busyMs
   * @param {number} nowMs
   * @param {number} idleMs
   */
  onTurn(busyMs, nowMs, idleMs) {
    this.#turnSample.onTurn(busyMs)
    if (this.#turnSample.isDue(nowMs, this.#sampleIntervalMs)) this.#sample(nowMs, idleMs)
    this.#updateShortage()
  }

  /** @param {number} nowMs @param {number} idleMs */
  #sample(nowMs, idleMs) {
    const { afterGcBytes, limitBytes, ...memory } = this.#sampleMemory()
    if (afterGcBytes !== undefined) {
      const over = afterGcBytes / limitBytes - MEMORY_SHED_FROM
      this.memoryPressure = Math.min(1, Math.max(0, over / (MEMORY_SHED_ALL - MEMORY_SHED_FROM)))
      this.#heapBytes = afterGcBytes
      this.#heapBoundBytes = Math.floor(MEMORY_SHED_FROM * limitBytes)
    }
    this.#thresholds.record({ ...this.#turnSample.take(nowMs, idleMs), ...memory })
  }

  #updateShortage() {
    this.isShort =
      this.#thresholds.reason !== undefined || this.#hooks.shortage > 0 || this.memoryPressure > 0
  }
}

/**
 * The fixed limits of the options, named as in overload-protection and @fastify/under-pressure. The loop
 * delay is the second-longest turn of an interval, so that a single stall does not exceed the limit.
 * Utilization covers the interval.
 */
class Thresholds {
  /** Reason, last measurement and bound of the first limit that is exceeded; undefined if none is. */
  /** @type {ShedReason | undefined} */
  reason
  /** @type {number | undefined} */
  value
  /** @type {number | undefined} */
  bound
  #limits
  /** @type {Set<Threshold>} */
  #over = new Set()

  /** @param {Partial<ShedOptions>} options */
  constructor(options) {
    this.#limits = limitsOf(options)
  }

  /** Whether these limits are the limits in `options`. @param {ShedOptions} options */
  matches(options) {
    const given = limitsOf(options)
    /** @param {Threshold} threshold @param {number} i */
    const isSame = ({ limit, reason }, i) => limit === given[i].limit && reason === given[i].reason
    return given.length === this.#limits.length && this.#limits.every(isSame)
  }

  /** @param {Record<string, number>} sample what was measured, by name */
  record(sample) {
    for (const each of this.#limits) {
      const value = sample[each.measured]
      if (value === undefined) continue
      each.value = value
      if (value > each.limit) this.#over.add(each)
      else this.#over.delete(each)
    }
    const first = this.#over.values().next().value
    this.reason = first?.reason
    this.value = first?.value
    this.bound = first?.limit
  }
}

/** Samples the loop over an interval: its second-longest turn, and the share of its time it was busy. */
class TurnSample {
  #longestMs = 0
  #secondMs = 0
  #sinceMs
  #sinceIdleMs

  /** @param {number} nowMs @param {number} idleMs */
  constructor(nowMs, idleMs) {
    this.#sinceMs = nowMs
    this.#sinceIdleMs = idleMs
  }

  /** @param {number} busyMs */
  onTurn(busyMs) {
    if (busyMs > this.#longestMs) {
      this.#secondMs = this.#longestMs
      this.#longestMs = busyMs
    } else if (busyMs > this.#secondMs) this.#secondMs = busyMs
  }

  /** @param {number} nowMs @param {number} intervalMs */
  isDue(nowMs, intervalMs) {
    return nowMs - this.#sinceMs >= intervalMs
  }

  /** @param {number} nowMs @param {number} idleMs */
  take(nowMs, idleMs) {
    const elapsedMs = nowMs - this.#sinceMs
    const sample = {
      eventLoopDelay: this.#secondMs,
      eventLoopUtilization: elapsedMs > 0 ? 1 - (idleMs - this.#sinceIdleMs) / elapsedMs : 0,
    }
    this.#longestMs = this.#secondMs = 0
    this.#sinceMs = nowMs
    this.#sinceIdleMs = idleMs
    return sample
  }
}

/**
 * How short each resource of the gate is, from 0 to 1, for features that combine these figures. Each figure
 * is computed when it is read, so only a reader pays for it.
 */
class Shortages {
  #queue
  #limits
  #resources
  #hooks
  #stats

  /**
   * @param {{ queue: Queue, limits: Limits, resources: ResourceLimits, hooks: UserHooks, stats: Stats }}
   *   deps
   */
  constructor({ queue, limits, resources, hooks, stats }) {
    this.#queue = queue
    this.#limits = limits
    this.#resources = resources
    this.#hooks = hooks
    this.#stats = stats
  }

  /**
   * The wait of the next request of class `normal`, as a share of the wait that is tolerated.
   *
   * @param {number} nowMs
   */
  queue(nowMs) {
    const queued = this.#queue.length
    return queued === 0 ? 0 : this.#limits.expectedWaitMs(queued) / this.#limits.toleratedMs(NORMAL, nowMs)
  }

  get memory() {
    return this.#resources.memoryPressure
  }

  /** The user's own figure, `shed.shortage`. */
  get shortage() {
    return this.#hooks.shortage
  }

  /** Requests that the gate has judged since the start. */
  get decided() {
    return this.#stats.decided
  }

  /** Requests that were rejected because the process is full. */
  get rejected() {
    return this.#stats.rejectedByProcess
  }
}

exports.MEMORY_SHED_FROM = MEMORY_SHED_FROM
exports.ResourceLimits = ResourceLimits
exports.Shortages = Shortages
exports.Thresholds = Thresholds
exports.TurnSample = TurnSample
