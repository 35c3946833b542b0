'use strict'
// S3
class Surplus {
  #emptyMs
  #cost
  #sliceMs = 0
  #arrived = 0
  #load = 0
  #loadBefore = 0
  constructor(nowMs, cost) {
    this.#emptyMs = nowMs
    this.#cost = cost
  }
  onTurn(nowMs, arrived, ended, isEmpty) {
    this.#arrived += arrived
    if (nowMs - this.#sliceMs >= Number(process.env.SLICE ?? 100)) {
      this.#loadBefore = this.#load
      this.#load = (this.#arrived * this.#cost.meanMs) / (nowMs - this.#sliceMs)
      this.#sliceMs = nowMs
      this.#arrived = 0
    }
    if (isEmpty) this.#emptyMs = nowMs
  }
  dbg(now) { return `el ${(now - this.#emptyMs).toFixed(0)} mean ${this.#cost.meanMs.toFixed(2)} load ${this.#load.toFixed(2)} ${this.#loadBefore.toFixed(2)} at ${this.at(now).toFixed(0)}` }
  stoodMs(nowMs) { return nowMs - this.#emptyMs }
  at(nowMs) {
    const stoodMs = nowMs - this.#emptyMs
    if (stoodMs < Number(process.env.STAND ?? 300)) return 0
    const load = process.env.MIN ?? 1 ? Math.min(this.#load, this.#loadBefore) : (this.#load + this.#loadBefore) / 2
    return stoodMs * (load - Number(process.env.RATE ?? .7))
  }
}

module.exports = { Surplus }
