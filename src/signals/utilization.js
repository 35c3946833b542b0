'use strict'
// How much of the last half minute to minute the loop and the CPU were busy. Two marks that rotate, not a difference
// since the last reading: two readers would steal from each other's interval, and a lifetime value only gets blinder.

const SPAN_MS = 30_000

class Utilization {
  #clock
  #older
  #newer
  #activeMs = 0

  constructor(clock) {
    this.#clock = clock
    this.#older = this.#newer = this.#mark()
  }

  onTurn(nowMs) {
    if (nowMs - this.#newer.nowMs < SPAN_MS) return
    const now = this.#mark()
    this.#older = this.#since(now)
    this.#newer = now
  }

  sample() {
    const now = this.#mark()
    const since = this.#since(now)
    const elapsedMs = now.nowMs - since.nowMs
    const shareOf = (ms) => (elapsedMs > 0 ? ms / elapsedMs : 0)
    // Two clocks are read, so that their difference may stray: but a counter never falls.
    this.#activeMs = Math.max(this.#activeMs, now.nowMs - now.idleMs)
    const cpuMicroseconds = now.cpu.user + now.cpu.system - since.cpu.user - since.cpu.system
    return {
      loopActiveSeconds: this.#activeMs / 1000,
      loopIdleSeconds: now.idleMs / 1000,
      // Over the edge it may stray as well.
      loopRatio: Math.min(1, Math.max(0, shareOf(elapsedMs - (now.idleMs - since.idleMs)))),
      cpuUserSeconds: now.cpu.user / 1e6,
      cpuSystemSeconds: now.cpu.system / 1e6,
      cpuRatio: shareOf(cpuMicroseconds / 1000),
    }
  }

  // After an hour of sleep, or of one turn, the last mark is an hour old: then a point within that hour.
  #since(now) {
    const gapMs = now.nowMs - this.#newer.nowMs
    return gapMs < SPAN_MS ? this.#older : between(this.#newer, now, 1 - SPAN_MS / gapMs)
  }

  #mark() {
    return { nowMs: this.#clock.now(), idleMs: this.#clock.idleMs(), cpu: process.cpuUsage() }
  }
}

function between(from, to, share) {
  const at = (a, b) => a + (b - a) * share
  return {
    nowMs: at(from.nowMs, to.nowMs),
    idleMs: at(from.idleMs, to.idleMs),
    cpu: { user: at(from.cpu.user, to.cpu.user), system: at(from.cpu.system, to.cpu.system) },
  }
}

module.exports = { Utilization }
