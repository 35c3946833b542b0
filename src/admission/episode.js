'use strict'
// Groups rejections into overloads. An overload begins with a rejection (`overload`) and ends when no request was
// rejected for a second (`recovered`, with its length and the count of every reason). A timer runs only meanwhile.

const { figuresOf } = require('./cause')

const QUIET_MS = 1000

const durationOf = ({ sinceMs, lastMs }) => lastMs - sinceMs

class Episode {
  /** Overloads so far. Most are shorter than the time between two scrapes, so that only a counter shows them. */
  count = 0
  #clock
  #onEvent
  #current
  #earlierMs = 0

  /**
   * @param {typeof import('../clock').systemClock} clock
   * @param {(event: 'overload' | 'recovered', details: object) => void} onEvent
   */
  constructor(clock, onEvent) {
    this.#clock = clock
    this.#onEvent = onEvent
  }

  get isOn() {
    return this.#current !== undefined
  }

  /** The reason of the last rejection; undefined while there is no overload. */
  get reason() {
    return this.#current?.lastReason
  }

  /** The length of all overloads together, up to the last rejection. */
  get totalMs() {
    return this.#earlierMs + (this.#current === undefined ? 0 : durationOf(this.#current))
  }

  /** @param {string} reason @param {number} nowMs @param {{ readonly value: number, readonly bound: number }} cause */
  onReject(reason, nowMs, cause) {
    if (this.#current === undefined) {
      this.count++
      this.#current = { lastReason: reason, sinceMs: nowMs, lastMs: nowMs, counts: new Map() }
      this.#onEvent('overload', { reason, ...figuresOf(cause) })
      this.#endWhenQuiet(QUIET_MS)
    }
    const { counts } = this.#current
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
    this.#current.lastReason = reason
    this.#current.lastMs = nowMs
  }

  #endWhenQuiet(delayMs) {
    this.#clock.after(delayMs, () => {
      const quietMs = this.#clock.now() - this.#current.lastMs
      if (quietMs < QUIET_MS) return this.#endWhenQuiet(QUIET_MS - quietMs)
      this.#end()
    })
  }

  #end() {
    const durationMs = durationOf(this.#current)
    const counts = [...this.#current.counts].sort(([, a], [, b]) => b - a)
    this.#earlierMs += durationMs
    this.#current = undefined
    this.#onEvent('recovered', {
      reason: counts[0][0],
      reasons: Object.fromEntries(counts),
      durationMs,
      rejected: counts.reduce((sum, [, count]) => sum + count, 0),
    })
  }
}

module.exports = { Episode }
