'use strict'
// The last twenty rejections, for the snapshot. Recording one allocates nothing.

const { figuresOf } = require('./cause')
const { PRIORITIES } = require('./verdict')

const KEPT = 20

class LastRejections {
  #clock
  #places = Array.from({ length: KEPT }, () => ({
    atMs: Number.NaN,
    priority: 0,
    reason: '',
    value: Number.NaN,
    bound: Number.NaN,
  }))
  #count = 0

  /** @param {Pick<typeof import('../clock').systemClock, 'now' | 'wallMs'>} clock */
  constructor(clock) {
    this.#clock = clock
  }

  // Hot path: once a rejection.
  /** @param {string} reason @param {number} priority @param {number} nowMs @param {{ readonly value: number, readonly bound: number }} cause */
  record(reason, priority, nowMs, { value, bound }) {
    const place = this.#places[this.#count++ % KEPT]
    place.atMs = nowMs
    place.priority = priority
    place.reason = reason
    place.value = value
    place.bound = bound
  }

  /** The newest last. */
  list() {
    const wallOffsetMs = this.#clock.wallMs() - this.#clock.now()
    const list = []
    for (let i = Math.max(0, this.#count - KEPT); i < this.#count; i++) {
      const { atMs, priority, reason, ...cause } = this.#places[i % KEPT]
      const at = new Date(wallOffsetMs + atMs).toISOString()
      list.push({ at, priority: PRIORITIES[priority], reason, ...figuresOf(cause) })
    }
    return list
  }
}

module.exports = { LastRejections }
