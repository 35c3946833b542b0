'use strict'
// Tells an overload from a burst: in an overload more requests arrive than start, slice after slice. A burst arrives in one
// slice and then drains, however long its queue is.

const SLICE_MS = 50
const SLICES = 4
/** Arrivals exceed starts by this factor before they count as a surplus: at full load both scatter around the same mean. */
const MARGIN = 1.05

class Surplus {
  /** Whether more arrived than started over the last slices, and in at least half of them. */
  isLasting = false
  #arrived = new Float64Array(SLICES)
  #started = new Float64Array(SLICES)
  #slice = 0
  #sliceEndMs
  #turns
  #cost
  #sinceMs
  #times = new Float64Array(SLICES)
  isMoreWork = false

  /** @param {number} nowMs */
  constructor(nowMs, turns, cost) {
    this.#turns = turns
    this.#cost = cost
    this.#sinceMs = nowMs
    this.#sliceEndMs = nowMs + SLICE_MS
  }

  // Hot path: once a loop turn in which requests arrived or started.
  /** @param {number} arrived @param {number} started */
  onTurn(nowMs, arrived, started) {
    if (nowMs >= this.#sliceEndMs) this.#advance(nowMs)
    this.#arrived[this.#slice] += arrived
    this.#started[this.#slice] += started
  }

  #advance(nowMs) {
    this.#times[this.#slice] = nowMs - this.#sinceMs
    this.#sinceMs = nowMs
    this.isLasting = this.#hasSurplus()
    const sliceMs = Math.max(SLICE_MS, Number(process.env.SL ?? 1) * this.#turns.longestMs)
    const passed = Math.floor((nowMs - this.#sliceEndMs) / sliceMs) + 1
    for (let i = 0; i < Math.min(passed, SLICES); i++) {
      this.#slice = (this.#slice + 1) % SLICES
      this.#arrived[this.#slice] = this.#started[this.#slice] = this.#times[this.#slice] = 0
    }
    this.#sliceEndMs += passed * sliceMs
  }

  #hasSurplus() {
    let [arrived, started, slices, ms] = [0, 0, 0, 0]
    for (let i = 0; i < SLICES; i++) {
      arrived += this.#arrived[i]
      started += this.#started[i]
      ms += this.#times[i]
      if (this.#arrived[i] > this.#started[i]) slices++
    }
    this.isMoreWork = arrived * this.#cost.meanMs > ms * Number(process.env.WM ?? 1.05)
    return arrived > started * MARGIN && slices >= SLICES / 2
  }
}

module.exports = { Surplus }
