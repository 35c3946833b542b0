'use strict'
// Whether at least twice as much work arrives as the loop can do: in each of the last two slices of time, so that one burst is none.

const SLICE_MS = 100
const SURPLUS = Number(process.env.WM ?? 2)

class Surplus {
  isLasting = false
  #wasSurplus = false
  #arrived = 0
  #sinceMs
  #cost

  constructor(nowMs, cost) {
    this.#sinceMs = nowMs
    this.#cost = cost
  }

  onTurn(nowMs, arrived) {
    this.#arrived += arrived
    const elapsedMs = nowMs - this.#sinceMs
    if (elapsedMs < SLICE_MS) return
    const isSurplus = this.#arrived * (process.env.MEAN ? this.#cost.meanMs : this.#cost.ms) > SURPLUS * elapsedMs
    this.isLasting = isSurplus && this.#wasSurplus
    this.#wasSurplus = isSurplus
    this.#arrived = 0
    this.#sinceMs = nowMs
  }
}

module.exports = { Surplus }
