'use strict'
// What became of the requests of one client process: those sent between two moments, and how long answers took.
// `answered` counts the 200s that came between the same moments, whenever they were asked for: long requests need it.

const { percentile } = require('./statistics')

const NONE = Object.freeze({ sent: 0, ok: 0, shed: 0, left: 0, failed: 0, answered: 0, shedAnswers: 0 })
/** In place of a status: the client went away on purpose. */
const LEFT = -1

class Tally {
  #fromMs
  #toMs
  #counts = { ...NONE }
  #latencies = []

  /** Both as `Date.now()` has them. */
  constructor(fromMs, toMs) {
    this.#fromMs = fromMs
    this.#toMs = toMs
  }

  #isCounted() {
    const nowMs = Date.now()
    return nowMs >= this.#fromMs && nowMs < this.#toMs
  }

  /** How many of those sent have not ended. */
  get open() {
    const { sent, ok, shed, left, failed } = this.#counts
    return sent - ok - shed - left - failed
  }

  /** @returns {(status: number) => void} to be called with the status of the answer */
  begin(sinceMs = performance.now()) {
    const isCounted = this.#isCounted()
    if (isCounted) this.#counts.sent++
    return (status) => {
      if (isCounted) this.#end(status, performance.now() - sinceMs)
      if (status === 200 && this.#isCounted()) this.#counts.answered++
      if (status === 503 && this.#isCounted()) this.#counts.shedAnswers++
    }
  }

  #end(status, latencyMs) {
    if (status === 503) this.#counts.shed++
    else if (status === LEFT) this.#counts.left++
    else if (status !== 200) this.#counts.failed++
    else {
      this.#counts.ok++
      this.#latencies.push(latencyMs)
    }
  }

  /** @returns {Record<string, number | null>} the counts so far, which begin again */
  take() {
    const taken = {
      ...this.#counts,
      p99Ms: this.#latencies.length > 0 ? percentile(this.#latencies, 0.99) : null,
    }
    // What is still out ends later, and is counted as sent then.
    this.#counts = { ...NONE, sent: this.open }
    this.#latencies = []
    return taken
  }
}

module.exports = { LEFT, Tally }
