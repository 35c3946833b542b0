'use strict'
// The slots of `maxConcurrent` as mode `adaptive` would fill them, for mode `observe`, where every request runs at once. Each slot
// is held for the mean duration of a request, so slots become free in the order in which they were taken.

class ShadowSlots {
  #limits
  #count = 0
  /** When each slot becomes free. The next request takes the one that is free first. @type {number[]} */
  #freeMs = []
  #next = 0

  /** @param {InstanceType<typeof import('./limits/limits').Limits>} limits */
  constructor(limits) {
    this.#limits = limits
  }

  /** How long a request that arrives now would wait for a slot. With fewer in flight than slots, one is free, whatever the mean says. */
  waitMs(nowMs) {
    if (this.#count !== this.#limits.maxConcurrent) this.#restart()
    if (this.#limits.inFlight < this.#count) return 0
    return Math.max(0, (this.#freeMs[this.#next] ?? 0) - nowMs)
  }

  /** The request takes the next slot, once it is free. */
  admit(nowMs) {
    this.#freeMs[this.#next] = nowMs + this.waitMs(nowMs) + this.#limits.observedMs
    this.#next = (this.#next + 1) % this.#count
  }

  #restart() {
    this.#count = this.#limits.maxConcurrent
    this.clear()
  }

  clear() {
    this.#freeMs = []
    this.#next = 0
  }
}

module.exports = { ShadowSlots }
