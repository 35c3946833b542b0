'use strict'
// Models the slots of `maxConcurrent` as mode `adaptive` would fill them. In mode `observe`, every request
// runs at once. In the model each slot is held for the mean duration of a request.

class ShadowSlots {
  #limits
  /**
   * End times of the requests that run or are queued in the model, in order of admission.
   *
   * @type {number[]}
   */
  #endsMs = []

  /** @param {{ readonly maxConcurrent: number, readonly slotHeldMs: number }} limits */
  constructor(limits) {
    this.#limits = limits
  }

  /**
   * How long a request that arrives now would wait for a slot. With fewer other requests in flight than
   * slots, a slot is free, whatever the model says.
   *
   * @param {number} nowMs @param {number} others in flight
   */
  waitMs(nowMs, others) {
    const { maxConcurrent } = this.#limits
    this.#forgetEnded(nowMs)
    if (others < maxConcurrent || this.#endsMs.length < maxConcurrent) return 0
    return Math.max(0, this.#endsMs[this.#endsMs.length - maxConcurrent] - nowMs)
  }

  /**
   * Adds the request to the model. If a slot is really free but none is free in the model, the request is
   * left out. Otherwise it would shift the slots of other requests.
   *
   * @param {number} nowMs @param {number} others in flight @param {number} waitMs for a slot
   */
  admit(nowMs, others, waitMs) {
    const { maxConcurrent, slotHeldMs } = this.#limits
    if (others < maxConcurrent && this.#endsMs.length >= maxConcurrent) return
    this.#endsMs.push(nowMs + waitMs + slotHeldMs)
  }

  /** @param {number} nowMs */
  #forgetEnded(nowMs) {
    let ended = 0
    while (ended < this.#endsMs.length && this.#endsMs[ended] <= nowMs) ended++
    if (ended > 0) this.#endsMs.splice(0, ended)
  }

  /** The number of requests that wait for a slot in the model. */
  get waiting() {
    return Math.max(0, this.#endsMs.length - this.#limits.maxConcurrent)
  }

  clear() {
    this.#endsMs = []
  }
}

exports.ShadowSlots = ShadowSlots
