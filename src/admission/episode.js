'use strict'
// One overload from its first rejection until nothing has been rejected for a second: `overload` when it begins,
// `recovered` with how long it was and what it cost. A state, not a line a request; one timer, only while it lasts.

const QUIET_MS = 1000

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

  /** Why the last request was turned away, while it lasts. */
  get reason() {
    return this.#current?.lastReason
  }

  /** How long all of them were, up to the last rejection of this one. */
  get totalMs() {
    return this.#earlierMs + (this.#current === undefined ? 0 : durationOf(this.#current))
  }

  noteReject(reason, nowMs) {
    if (this.#current === undefined) {
      this.count++
      this.#current = { reason, lastReason: reason, sinceMs: nowMs, lastMs: nowMs, rejected: 0 }
      this.#tell('overload', { reason })
      this.#watch(QUIET_MS)
    }
    this.#current.rejected++
    this.#current.lastReason = reason
    this.#current.lastMs = nowMs
  }

  #watch(delayMs) {
    this.#clock.after(delayMs, () => {
      const { reason, lastMs, rejected } = this.#current
      const quietMs = this.#clock.now() - lastMs
      if (quietMs < QUIET_MS) return this.#watch(QUIET_MS - quietMs)
      const durationMs = durationOf(this.#current)
      this.#earlierMs += durationMs
      this.#current = undefined
      this.#tell('recovered', { reason, durationMs, rejected })
    })
  }
}

const durationOf = ({ sinceMs, lastMs }) => lastMs - sinceMs

module.exports = { Episode }
