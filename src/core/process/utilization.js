'use strict'
// Measures how busy the loop and the CPU were over the last 30 to 60 seconds. Two marks are kept, and every
// half minute the older mark is replaced. `sample()` moves no mark. So its callers do not shorten each
// other's interval.

const SPAN_MS = 30_000

/** @typedef {{ nowMs: number, idleMs: number, cpu: NodeJS.CpuUsage }} Mark */

class Utilization {
  #clock
  #older
  #newer
  #activeMs = 0

  /** @param {Pick<import('../clock').Clock, 'now' | 'idleMs'>} clock */
  constructor(clock) {
    this.#clock = clock
    this.#older = this.#newer = this.#mark()
  }

  /** @param {number} nowMs */
  onInterval(nowMs) {
    if (nowMs - this.#newer.nowMs < SPAN_MS) return
    const now = this.#mark()
    this.#older = this.#since(now)
    this.#newer = now
  }

  sample() {
    const now = this.#mark()
    const since = this.#since(now)
    const elapsedMs = now.nowMs - since.nowMs
    /** @param {number} ms */
    const shareOf = (ms) => (elapsedMs > 0 ? ms / elapsedMs : 0)
    // The difference of two clocks may fall slightly. A counter must not fall.
    this.#activeMs = Math.max(this.#activeMs, now.nowMs - now.idleMs)
    const cpuUserRatio = shareOf((now.cpu.user - since.cpu.user) / 1000)
    const cpuSystemRatio = shareOf((now.cpu.system - since.cpu.system) / 1000)
    return {
      loopActiveSeconds: this.#activeMs / 1000,
      loopIdleSeconds: now.idleMs / 1000,
      // The difference of two clocks may be slightly outside of 0 to 1.
      loopRatio: Math.min(1, Math.max(0, shareOf(elapsedMs - (now.idleMs - since.idleMs)))),
      cpuUserSeconds: now.cpu.user / 1e6,
      cpuSystemSeconds: now.cpu.system / 1e6,
      cpuUserRatio,
      cpuSystemRatio,
      cpuRatio: cpuUserRatio + cpuSystemRatio,
    }
  }

  // The last mark may be old, such as after an hour of sleep or a turn of an hour. Then a mark of half a
  // minute ago is interpolated.
  /** @param {Mark} now */
  #since(now) {
    const gapMs = now.nowMs - this.#newer.nowMs
    return gapMs < SPAN_MS ? this.#older : between(this.#newer, now, 1 - SPAN_MS / gapMs)
  }

  #mark() {
    return { nowMs: this.#clock.now(), idleMs: this.#clock.idleMs(), cpu: process.cpuUsage() }
  }
}

/** @param {Mark} from @param {Mark} to @param {number} share */
function between(from, to, share) {
  /** @param {number} a @param {number} b */
  const at = (a, b) => a + (b - a) * share
  return {
    nowMs: at(from.nowMs, to.nowMs),
    idleMs: at(from.idleMs, to.idleMs),
    cpu: { user: at(from.cpu.user, to.cpu.user), system: at(from.cpu.system, to.cpu.system) },
  }
}

exports.Utilization = Utilization
