'use strict'
// For a saturated pool behind an idle loop: an in-flight limit that follows how much longer requests take than they
// should. A request's excess is its time over the baseline of its own route, so that a slow report beside a fast
// look-up is no overload. Every 100 ms, from the mean excess of at least ten requests:
//
//   excess > target   limit = min(limit, peak in flight) x max(1/2, target / excess)
//   else, if used     limit = limit + sqrt(limit) x (1 - excess / target)
//
// It never grows when it is not being used, and is unlimited until an excess has been seen: below saturation it is not
// there. It backs off only while more concurrency brings no throughput: where a deep cut took the throughput along, the
// requests were not waiting for each other but have become slower, so the cut is undone and the baselines learn anew.
// A baseline falls to a faster time at once and rises slowly, so that an overload does not become the new normal.

const WINDOW_MS = 100
const LEAST_SAMPLES = 10
const LEAST = 4
const FALL = 0.1
const RISE = 0.00001
const LEARN = 0.1
const LEARN_MS = 1000
/** A cut at least this deep tells something: half the slots gone, and the throughput with them or not. */
const DEEP = 0.7
const TAKEN_ALONG = 0.75

class LatencyLimit {
  limit = Number.POSITIVE_INFINITY
  #targetMs
  #baselines = new WeakMap()
  #sinceMs
  #learnUntilMs = Number.NEGATIVE_INFINITY
  #excessMs = 0
  #count = 0
  #peak = 0
  /** The last deep cut: from which limit, at which throughput. */
  #cut

  constructor({ targetMs }, nowMs) {
    this.#targetMs = targetMs
    this.#sinceMs = nowMs
  }

  noteAdmit(inFlight) {
    if (inFlight > this.#peak) this.#peak = inFlight
  }

  /** @param {object} route what the baseline belongs to */
  noteEnd(route, durationMs, nowMs) {
    let baseline = this.#baselines.get(route)
    if (baseline === undefined) this.#baselines.set(route, (baseline = { ms: durationMs }))
    const rise = nowMs < this.#learnUntilMs ? LEARN : RISE
    baseline.ms += (durationMs - baseline.ms) * (durationMs < baseline.ms ? FALL : rise)
    this.#excessMs += Math.max(0, durationMs - baseline.ms)
    this.#count++
    if (nowMs - this.#sinceMs >= WINDOW_MS && this.#count >= LEAST_SAMPLES) this.#adjust(nowMs)
  }

  #adjust(nowMs) {
    const throughput = this.#count / (nowMs - this.#sinceMs)
    const excessMs = this.#excessMs / this.#count
    const cut = this.#cut
    this.#cut = undefined
    if (cut !== undefined && throughput < cut.throughput * TAKEN_ALONG) {
      this.limit = cut.limit
      this.#learnUntilMs = nowMs + LEARN_MS
    } else if (excessMs > this.#targetMs) this.#backOff(excessMs, throughput)
    else if (this.#peak >= this.limit * 0.9) {
      this.limit += Math.max(1, Math.sqrt(this.limit)) * (1 - excessMs / this.#targetMs)
    }
    this.#sinceMs = nowMs
    this.#excessMs = this.#count = this.#peak = 0
  }

  #backOff(excessMs, throughput) {
    const from = Math.min(this.limit, this.#peak)
    const share = Math.max(0.5, this.#targetMs / excessMs)
    if (share <= DEEP) this.#cut = { limit: this.limit, throughput }
    this.limit = Math.max(LEAST, from * share)
  }
}

module.exports = { LatencyLimit }
