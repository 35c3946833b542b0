'use strict'
// One overload from its first rejection until nothing has been rejected for a second: `overload` when it begins,
// `recovered` with how long it was and what it cost. A state, not a line a request; one timer, only while it lasts.

const QUIET_MS = 1000

class Episode {
  #clock
  #tell
  #current

  /** @param {(event: 'overload' | 'recovered', details: object) => void} tell */
  constructor(clock, tell) {
    this.#clock = clock
    this.#tell = tell
  }

  get isOn() {
    return this.#current !== undefined
  }

  noteReject(reason, nowMs) {
    if (this.#current === undefined) {
      this.#current = { reason, sinceMs: nowMs, lastMs: nowMs, rejected: 0 }
      this.#tell('overload', { reason })
      this.#watch(QUIET_MS)
    }
    this.#current.rejected++
    this.#current.lastMs = nowMs
  }

  #watch(delayMs) {
    this.#clock.after(delayMs, () => {
      const { reason, sinceMs, lastMs, rejected } = this.#current
      const quietMs = this.#clock.now() - lastMs
      if (quietMs < QUIET_MS) return this.#watch(QUIET_MS - quietMs)
      this.#current = undefined
      this.#tell('recovered', { reason, durationMs: lastMs - sinceMs, rejected })
    })
  }
}

module.exports = { Episode }
