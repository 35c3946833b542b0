'use strict'
// S4
const SLICE_MS = 100
class Surplus {
  #emptyMs
  #cost
  #sliceMs
  #arrived = 0
  #ended = 0
  #load = 0
  #loadBefore = 0
  constructor(nowMs, cost) {
    this.#emptyMs = this.#sliceMs = nowMs
    this.#cost = cost
  }
  onTurn(nowMs, arrived, ended, isEmpty) {
    this.#arrived += arrived
    this.#ended += ended
    if (isEmpty) {
      this.#emptyMs = nowMs
      this.#ended = 0
    }
    const elapsedMs = nowMs - this.#sliceMs
    if (elapsedMs < SLICE_MS) return
    const eachMs = Math.min(this.#cost.meanMs, (nowMs - this.#emptyMs) / this.#ended || Number.POSITIVE_INFINITY)
    this.#loadBefore = this.#load
    this.#load = (this.#arrived * eachMs) / elapsedMs
    this.#sliceMs = nowMs
    this.#arrived = 0
  }
  dbg(now) { return `el ${(now - this.#emptyMs).toFixed(0)} mean ${this.#cost.meanMs.toFixed(2)} load ${this.#load.toFixed(2)} ${this.#loadBefore.toFixed(2)} at ${this.at(now).toFixed(0)}` }
  at(nowMs) {
    const stoodMs = nowMs - this.#emptyMs
    if (stoodMs < Number(process.env.STAND ?? 300)) return 0
    return stoodMs * (Math.min(this.#load, this.#loadBefore) - Number(process.env.RATE ?? .7))
  }
}

module.exports = { Surplus }
