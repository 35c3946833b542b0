'use strict'
// Rejects requests regardless of the queue: for a fixed limit of the options, for the user's own pressure, for memory.
//   memory pressure = clamp((heap after a major collection / limit - 0.85) / (0.95 - 0.85))
// For pressure and memory, the probability of a rejection is pressure x the weight of the class: critical never, low most.

const { SHORTAGE_WEIGHTS } = require('../verdict')
const { Thresholds, TurnSample } = require('./thresholds')

const BEGIN = 0.85
const FULL = 0.95
/** Rejections do not cure a leak, so that some requests are always admitted. */
const MAX_PROBABILITY = 0.95

class ResourceLimits {
  /** Whether a resource is short: `reasonFor` may reject. */
  isShort = false
  memoryPressure = 0
  /** The heap after the last major collection, and from which size on requests are rejected. */
  #heapBytes = Number.NaN
  #heapBoundBytes = Number.NaN
  #cause
  #hooks
  #sampleMemory
  #turnSample
  #thresholds
  #sampleIntervalMs = 0
  #random

  /**
   * @param {{
   *   cause: InstanceType<typeof import('../cause').Cause>,
   *   clock: typeof import('../../clock').systemClock,
   *   hooks: InstanceType<typeof import('../user-hooks').UserHooks>,
   *   sampleMemory: () => ReturnType<typeof import('../../signals/memory').memoryForGate>,
   *   random?: (() => number) | undefined,
   * }} parts
   */
  constructor({ cause, clock, hooks, sampleMemory, random = Math.random }) {
    this.#cause = cause
    this.#hooks = hooks
    this.#sampleMemory = sampleMemory
    this.#turnSample = new TurnSample(clock.now(), clock.idleMs())
    this.#random = random
  }

  update(options) {
    this.#sampleIntervalMs = options.sampleInterval
    // With the same limits keep the state: a value between exit and limit stays over it.
    if (!this.#thresholds?.matches(options)) this.#thresholds = new Thresholds(options)
    this.#updateShortage()
  }

  /** @returns {string | undefined} why a request of this class is rejected */
  reasonFor(priority) {
    const { bound, reason, value } = this.#thresholds
    if (reason !== undefined) return this.#cause.because(reason, value, bound)
    const { pressure } = this.#hooks
    const weight = SHORTAGE_WEIGHTS[priority]
    if (pressure > 0 && this.#random() < pressure * weight)
      return this.#cause.because('pressure', pressure, 0)
    const { memoryPressure } = this
    if (memoryPressure > 0 && this.#random() < Math.min(MAX_PROBABILITY, memoryPressure * weight))
      return this.#cause.because('memory', this.#heapBytes, this.#heapBoundBytes)
    return undefined
  }

  /** Called after the hooks have read the user's pressure. */
  onTurn(busyMs, nowMs, idleMs) {
    this.#turnSample.onTurn(busyMs)
    if (this.#turnSample.isDue(nowMs, this.#sampleIntervalMs)) this.#sample(nowMs, idleMs)
    this.#updateShortage()
  }

  #sample(nowMs, idleMs) {
    const { afterGcBytes, limitBytes, ...memory } = this.#sampleMemory()
    if (afterGcBytes !== undefined) {
      this.memoryPressure = Math.min(1, Math.max(0, (afterGcBytes / limitBytes - BEGIN) / (FULL - BEGIN)))
      this.#heapBytes = afterGcBytes
      this.#heapBoundBytes = Math.floor(BEGIN * limitBytes)
    }
    this.#thresholds.record({ ...this.#turnSample.take(nowMs, idleMs), ...memory })
  }

  #updateShortage() {
    this.isShort =
      this.#thresholds.reason !== undefined || this.#hooks.pressure > 0 || this.memoryPressure > 0
  }
}

module.exports = { ResourceLimits }
