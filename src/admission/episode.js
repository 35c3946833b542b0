'use strict'
// One overload, from its first rejection until nothing has been rejected for a second: `overload` when it begins,
// `recovered` with its length and every reason in it. One timer, only while it lasts.

const QUIET_MS = 1000

const durationOf = ({ sinceMs, lastMs }) => lastMs - sinceMs

class Episode {
  /** How many there were. Most are shorter than the time between two scrapes: only counters show them. */
  count = 0
  #clock
  #tell
  #current
  #earlierMs = 0

  /** @param {(event: 'overload' | 'recovered', details: object) => void} tell */
  constructor(clock, tell) {
    this.#clock = clock
    this.#tell = tell
  }

  get isOn() {
    return this.#current !== undefined
  }

  /** What the last rejection was short of, while it lasts. */
  get reason() {
    return this.#current?.lastReason
  }

  /** How long all of them were, up to the last rejection of this one. */
  get totalMs() {
    return this.#earlierMs + (this.#current === undefined ? 0 : durationOf(this.#current))
  }

  onReject(reason, nowMs) {
    if (this.#current === undefined) {
      this.count++
      this.#current = { lastReason: reason, sinceMs: nowMs, lastMs: nowMs, counts: new Map() }
      this.#tell('overload', { reason })
      this.#watch(QUIET_MS)
    }
    const { counts } = this.#current
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
    this.#current.lastReason = reason
    this.#current.lastMs = nowMs
  }

  #watch(delayMs) {
    this.#clock.after(delayMs, () => {
      const quietMs = this.#clock.now() - this.#current.lastMs
      if (quietMs < QUIET_MS) return this.#watch(QUIET_MS - quietMs)
      this.#end()
    })
  }

  #end() {
    const durationMs = durationOf(this.#current)
    const counts = [...this.#current.counts].sort(([, a], [, b]) => b - a)
    this.#earlierMs += durationMs
    this.#current = undefined
    this.#tell('recovered', {
      reason: counts[0][0],
      reasons: Object.fromEntries(counts),
      durationMs,
      rejected: counts.reduce((sum, [, count]) => sum + count, 0),
    })
  }
}

module.exports = { Episode }
