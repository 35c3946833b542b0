'use strict'
// How much of the last half minute to minute the loop and the CPU were busy. Two marks that rotate, not a difference
// since the last reading: two readers would steal from each other's interval, and a lifetime value only gets blinder.

const SPAN_MS = 30_000

class Utilization {
  #clock
  #older
  #newer

  constructor(clock) {
    this.#clock = clock
    this.#older = this.#newer = this.#mark()
  }

  onTurn(nowMs) {
    if (nowMs - this.#newer.nowMs < SPAN_MS) return
    this.#older = this.#newer
    this.#newer = this.#mark()
  }

  sample() {
    const since = this.#older
    const now = this.#mark()
    const elapsedMs = Math.max(now.nowMs - since.nowMs, Number.MIN_VALUE)
    return {
      loopActiveSeconds: (now.nowMs - now.idleMs) / 1000,
      loopIdleSeconds: now.idleMs / 1000,
      loopRatio: ratio(elapsedMs - (now.idleMs - since.idleMs), elapsedMs),
      cpuUserSeconds: now.cpu.user / 1e6,
      cpuSystemSeconds: now.cpu.system / 1e6,
      cpuRatio: (now.cpu.user + now.cpu.system - since.cpu.user - since.cpu.system) / 1000 / elapsedMs,
    }
  }

  #mark() {
    return { nowMs: this.#clock.now(), idleMs: this.#clock.idleMs(), cpu: process.cpuUsage() }
  }
}

const ratio = (part, whole) => Math.min(1, Math.max(0, part / whole))

module.exports = { Utilization }
