'use strict'
// The fixed limits of the options, named as in overload-protection and @fastify/under-pressure. A limit is exceeded above
// its value, and met again below 80 % of it. The loop delay is the second-longest turn of an interval, so that a single
// stall does not exceed the limit; utilization is that of the interval.

const EXIT_SHARE = 0.8

const LIMITS = Object.freeze([
  ['maxEventLoopDelay', 'eventLoopDelay', 'event_loop_delay'],
  ['maxEventLoopUtilization', 'eventLoopUtilization', 'event_loop_utilization'],
  ['maxHeapUsedBytes', 'heapUsedBytes', 'heap_used_bytes'],
  ['maxRssBytes', 'rssBytes', 'rss_bytes'],
])

/** @returns {{ limit: number, measured: string, reason: string, value: number }[]} `value`: measured last */
const limitsOf = (options) =>
  LIMITS.map(([option, measured, reason]) => ({
    limit: options[option],
    measured,
    reason,
    value: Number.NaN,
  })).filter(({ limit }) => limit !== undefined && limit > 0)

class Thresholds {
  /** The first limit that is exceeded, what was measured last, and the limit; undefined if none is exceeded. */
  reason
  value
  bound
  #limits
  #over = new Set()

  constructor(options) {
    this.#limits = limitsOf(options)
  }

  /** Whether these limits are the limits in `options`. */
  matches(options) {
    const given = limitsOf(options)
    const isSame = ({ limit, reason }, i) => limit === given[i].limit && reason === given[i].reason
    return given.length === this.#limits.length && this.#limits.every(isSame)
  }

  /** @param {Record<string, number>} sample what was measured, by name */
  record(sample) {
    for (const each of this.#limits) {
      const value = sample[each.measured]
      if (value === undefined) continue
      each.value = value
      if (value > each.limit) this.#over.add(each)
      else if (value < each.limit * EXIT_SHARE) this.#over.delete(each)
    }
    const first = this.#over.values().next().value
    this.reason = first?.reason
    this.value = first?.value
    this.bound = first?.limit
  }
}

/** Samples the loop over an interval: its second-longest turn, and the share of its time it was busy. */
class TurnSample {
  #longestMs = 0
  #secondMs = 0
  #sinceMs
  #sinceIdleMs

  constructor(nowMs, idleMs) {
    this.#sinceMs = nowMs
    this.#sinceIdleMs = idleMs
  }

  onTurn(busyMs) {
    if (busyMs > this.#longestMs) {
      this.#secondMs = this.#longestMs
      this.#longestMs = busyMs
    } else if (busyMs > this.#secondMs) this.#secondMs = busyMs
  }

  isDue(nowMs, intervalMs) {
    return nowMs - this.#sinceMs >= intervalMs
  }

  take(nowMs, idleMs) {
    const elapsedMs = nowMs - this.#sinceMs
    const sample = {
      eventLoopDelay: this.#secondMs,
      eventLoopUtilization: elapsedMs > 0 ? 1 - (idleMs - this.#sinceIdleMs) / elapsedMs : 0,
    }
    this.#longestMs = this.#secondMs = 0
    this.#sinceMs = nowMs
    this.#sinceIdleMs = idleMs
    return sample
  }
}

module.exports = { Thresholds, TurnSample }
