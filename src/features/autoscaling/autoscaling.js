'use strict'
// The figure for autoscalers, from 0 to 1: how much of its scarcest resource the process has used lately.
//   ratio = max(busy share of the loop, connections in use / pool size, requests in flight / maxConcurrent,
//               the user's shortage), each a mean of about the last ten seconds
// An autoscaler computes replicas from a proportion, so twice the load must give twice the figure. A pool
// therefore counts from its first connection in use. `spillway.pressure` only counts callers that wait.
// Rejections do not count, because clients that retry at once would add replicas that nobody needs.

/**
 * @import { Clock } from '../../core/clock'
 * @import { Instance } from '../../instance'
 * @typedef {{ readonly limits: { readonly inFlight: number, readonly maxConcurrent: number },
 *   readonly shortages: { readonly shortage: number } }} AskedAdmission
 */

const SAMPLE_MS = 100
/** Shorter than the 15 s between two scrapes, or between two decisions of an autoscaler. */
const HORIZON_MS = 10_000

class Autoscaling {
  #clock
  #admission
  #poolUse
  #sampledMs
  #sampledIdleMs
  #loop = 0
  #pool = new Level()
  #slots = new Level()
  #shortage = new Level()
  /**
   * Whether the first interval has ended. The first interval is left out, because a process loads its modules
   * in it.
   */
  #isMeasuring = false

  /**
   * @param {{ clock: Pick<Clock, 'now' | 'idleMs'>, admission: AskedAdmission, poolUse: () => number }} deps
   *   `poolUse`: share of the connections of the fullest pool that are in use
   */
  constructor({ clock, admission, poolUse }) {
    this.#clock = clock
    this.#admission = admission
    this.#poolUse = poolUse
    this.#sampledMs = clock.now()
    this.#sampledIdleMs = clock.idleMs()
  }

  /** @param {number} nowMs @param {number} idleMs */
  onInterval(nowMs, idleMs) {
    if (nowMs - this.#sampledMs >= SAMPLE_MS) this.#measure(nowMs, idleMs)
  }

  /** @param {number} nowMs @param {number} idleMs */
  #measure(nowMs, idleMs) {
    const elapsedMs = nowMs - this.#sampledMs
    if (this.#isMeasuring) {
      const kept = Math.exp(-elapsedMs / HORIZON_MS)
      const busy = within01(1 - (idleMs - this.#sampledIdleMs) / elapsedMs)
      const { limits, shortages } = this.#admission
      this.#loop = busy + (this.#loop - busy) * kept
      this.#pool.record(this.#poolUse(), elapsedMs, kept)
      this.#slots.record(limits.inFlight / limits.maxConcurrent, elapsedMs, kept)
      this.#shortage.record(shortages.shortage, elapsedMs, kept)
    }
    this.#isMeasuring = true
    this.#sampledMs = nowMs
    this.#sampledIdleMs = idleMs
  }

  /** Also counts the time since the last loop turn, because an idle loop has no turns. */
  sample() {
    this.onInterval(this.#clock.now(), this.#clock.idleMs())
    return { ratio: Math.max(this.#loop, this.#pool.mean, this.#slots.mean, this.#shortage.mean) }
  }
}

/** The mean of a figure that is read at irregular intervals. */
class Level {
  mean = 0
  #last = 0

  /** @param {number} now @param {number} elapsedMs since the last reading @param {number} kept */
  record(now, elapsedMs, kept) {
    const level = within01(now)
    // Readings are taken only in turns, and turns are busy. So both readings around a long sleep may be too
    // high for the sleep, and the lower one counts for it.
    const meanwhile = elapsedMs > 2 * SAMPLE_MS ? Math.min(level, this.#last) : level
    this.mean = meanwhile + (this.mean - meanwhile) * kept
    this.#last = level
  }
}

/** @param {number} value */
const within01 = (value) => Math.min(1, Math.max(0, value)) || 0

/** @param {Pick<Instance, 'admission' | 'clock' | 'startedFeatures'>} instance */
const autoscalingOf = ({ admission, clock, startedFeatures }) =>
  new Autoscaling({ clock, admission, poolUse: () => startedFeatures.pools?.use ?? 0 })

exports.Autoscaling = Autoscaling
exports.HORIZON_MS = HORIZON_MS
exports.SAMPLE_MS = SAMPLE_MS
exports.autoscalingOf = autoscalingOf
