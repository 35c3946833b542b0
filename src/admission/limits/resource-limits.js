'use strict'
// What rejects a request whatever the queue: the fixed limits of the options, the user's own pressure, and memory.
//   memory pressure = clamp((heap after a collection / limit - .85) / (.95 - .85)): a ramp, capped so that it cannot latch
// A class is rejected for pressure or memory with a probability of pressure x its weight: low first, critical never.

const { SHORTAGE_WEIGHTS } = require('../verdict')
const { Thresholds, TurnSample } = require('./thresholds')

const BEGIN = 0.85
const FULL = 0.95
/** Rejecting cures no leak: some requests are always admitted. */
const MOST_OF_MEMORY = 0.95

class ResourceLimits {
  memoryPressure = 0
  #hooks
  #sampleMemory
  #turnSample
  #thresholds
  #sampleIntervalMs = 0
  #random

  constructor({ clock, hooks, sampleMemory, random = Math.random }) {
    this.#hooks = hooks
    this.#sampleMemory = sampleMemory
    this.#turnSample = new TurnSample(clock.now(), clock.idleMs())
    this.#random = random
  }

  update(options) {
    this.#sampleIntervalMs = options.sampleInterval
    // In the middle of an overload, what is over a limit stays over it.
    if (!this.#thresholds?.isOf(options)) this.#thresholds = new Thresholds(options)
  }

  // Hot path: three comparisons where nothing is short.
  /** @returns {string | undefined} why a request of this class is rejected */
  reasonFor(priority) {
    if (this.#thresholds.reason !== undefined) return this.#thresholds.reason
    const { pressure } = this.#hooks
    const weight = SHORTAGE_WEIGHTS[priority]
    if (pressure > 0 && this.#random() < pressure * weight) return 'pressure'
    const { memoryPressure } = this
    if (memoryPressure > 0 && this.#random() < Math.min(MOST_OF_MEMORY, memoryPressure * weight))
      return 'memory'
    return undefined
  }

  onTurn(busyMs, nowMs, idleMs) {
    this.#turnSample.noteTurn(busyMs)
    if (!this.#turnSample.isDue(nowMs, this.#sampleIntervalMs)) return
    const { afterGcBytes, limitBytes, ...memory } = this.#sampleMemory()
    if (afterGcBytes !== undefined)
      this.memoryPressure = Math.min(1, Math.max(0, (afterGcBytes / limitBytes - BEGIN) / (FULL - BEGIN)))
    this.#thresholds.note({ ...this.#turnSample.take(nowMs, idleMs), ...memory })
  }
}

module.exports = { ResourceLimits }
