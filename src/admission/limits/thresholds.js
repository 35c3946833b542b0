'use strict'
// The limits of those who come from overload-protection or @fastify/under-pressure, under the same names, with what
// their samplers lack: a loop delay that one slow handler or GC pause cannot trip (the second-longest turn of an
// interval counts), utilisation of the interval and not since the start, and a way back: entered at the limit, left
// below 80 % of it.

const LEAVE_SHARE = 0.8

const LIMITS = Object.freeze([
  ['maxEventLoopDelay', 'eventLoopDelay', 'event_loop_delay'],
  ['maxEventLoopUtilization', 'eventLoopUtilization', 'event_loop_utilization'],
  ['maxHeapUsedBytes', 'heapUsedBytes', 'heap_used_bytes'],
  ['maxRssBytes', 'rssBytes', 'rss_bytes'],
])

/** @returns {{ limit: number, measured: string, reason: string }[]} */
const limitsOf = (options) =>
  LIMITS.map(([option, measured, reason]) => ({ limit: options[option], measured, reason })).filter(
    ({ limit }) => limit !== undefined && limit > 0
  )

class Thresholds {
  /** The reason requests are rejected for now, if any. */
  reason
  #limits
  #over = new Set()

  constructor(options) {
    this.#limits = limitsOf(options)
  }

  /** Whether these are those of the options: then what is over stays over. */
  isOf(options) {
    const given = limitsOf(options)
    const isSame = ({ limit, reason }, i) => limit === given[i].limit && reason === given[i].reason
    return given.length === this.#limits.length && this.#limits.every(isSame)
  }

  /** @param {Record<string, number>} sample what was measured, by name */
  note(sample) {
    for (const { limit, measured, reason } of this.#limits) {
      const value = sample[measured]
      if (value > limit) this.#over.add(reason)
      else if (value < limit * LEAVE_SHARE) this.#over.delete(reason)
    }
    this.reason = this.#over.values().next().value
  }
}

/** The longest turn of an interval but one, so that a single stall is no overload; and how busy the loop was. */
class TurnSample {
  #longestMs = 0
  #secondMs = 0
  #sinceMs
  #sinceIdleMs

  constructor(nowMs, idleMs) {
    this.#sinceMs = nowMs
    this.#sinceIdleMs = idleMs
  }

  noteTurn(busyMs) {
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
