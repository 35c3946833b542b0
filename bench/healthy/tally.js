'use strict'
// The outcomes and latencies of the requests that one client process sends between two moments. `answered`
// counts the 200s that arrive between these moments, even if they were sent before: requests may be long.

const { percentile } = require('../support/statistics')
const { clockMs } = require('./clock')

const NONE = Object.freeze({ sent: 0, ok: 0, shed: 0, left: 0, failed: 0, answered: 0, shedAnswers: 0 })
/** Stands for a status if the client disconnected on purpose. */
const LEFT = -1

class Tally {
  #fromMs
  #toMs
  #counts = { ...NONE }
  #latencies = []

  /** Takes moments of `clockMs()`. */
  constructor(fromMs, toMs) {
    this.#fromMs = fromMs
    this.#toMs = toMs
  }

  #isCounted() {
    const nowMs = clockMs()
    return nowMs >= this.#fromMs && nowMs < this.#toMs
  }

  /** The number of requests in flight. */
  get open() {
    const { sent, ok, shed, left, failed } = this.#counts
    return sent - ok - shed - left - failed
  }

  /** @returns {(status: number) => void} a function to call with the status of the answer */
  begin(sinceMs = clockMs()) {
    const isCounted = this.#isCounted()
    if (isCounted) this.#counts.sent++
    return (status) => {
      if (isCounted) this.#end(status, clockMs() - sinceMs)
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

  /** @returns {Record<string, number | null>} the counts since the last time */
  take() {
    const taken = {
      ...this.#counts,
      p99Ms: this.#latencies.length > 0 ? percentile(this.#latencies, 0.99) : null,
    }
    // A request in flight counts as sent where it ends.
    this.#counts = { ...NONE, sent: this.open }
    this.#latencies = []
    return taken
  }
}

module.exports = { LEFT, Tally }
