'use strict'
// Measures what a request and a rejection cost the loop, in ms. The cost of a request is the median of the
// last 400 requests that ended, in samples of ten. Stalls and lulls do not distort the median. The cost of
// rejections is subtracted.

const { SAMPLE_MS } = require('./loop-turns')

const SAMPLES = 40
const SAMPLE_REQUESTS = 10
/** The cost is known once half of the samples are filled, or the loop has worked for this long. */
const KNOWN_MS = 3000
/**
 * A sample ends after this time at the latest. A sample without an ended request is dropped, because its work
 * was not for requests.
 */
const SAMPLE_MAX_MS = 2000
/** Reading a rejected request costs about as much as rejecting it. */
const READ_FACTOR = 2
const FIRST_REJECTION_MS = 0.03
/** The weight of one request or sample in a mean. */
const SMOOTHING = 0.02
/**
 * A sample or duration counts for at most this multiple of the mean: a stall or a stream says little about
 * other requests.
 */
const MAX_OF_MEAN = 10
const SHARE_SMOOTHING = 0.3
const MAX_SHARE = 0.9

class RequestCost {
  /**
   * The usual cost of a request. Before the first sample has ended, this is the mean time that handlers run
   * before they first return.
   */
  ms = 0
  /** The cost of a rejection, with the reading of its request. */
  rejectionMs = FIRST_REJECTION_MS
  /** The share of the loop's time that rejections take, below 1. */
  rejectedShare = 0
  #medianMs = 0
  /** The work of all samples together. */
  #workedMs = 0
  #meanMs = 0
  #runMs = 0
  /** The cost of a request in each of the last samples: by age, and sorted. */
  #samples = new Float64Array(SAMPLES).fill(Number.POSITIVE_INFINITY)
  #sorted = this.#samples.slice()
  #next = 0
  #sinceMs
  #busyMs = 0
  #rejectedMs = 0
  #ended = 0
  #shareSinceMs
  #shareRejectedMs = 0

  /** @param {number} nowMs */
  constructor(nowMs) {
    this.#sinceMs = this.#shareSinceMs = nowMs
  }

  /**
   * Whether the cost may be relied on. The first requests of a process cost many times as much as later ones.
   */
  get isKnown() {
    return this.#next >= SAMPLES / 2 || this.#workedMs >= KNOWN_MS
  }

  /** The mean cost of a request, rare expensive ones included. */
  get meanMs() {
    return this.#meanMs || this.#runMs
  }

  /** A dequeued request's handler has returned for the first time. @param {number} ranMs */
  onRun(ranMs) {
    this.#runMs += (ranMs - this.#runMs) * (this.#runMs === 0 ? 1 : SMOOTHING)
    this.#update()
  }

  #update() {
    this.ms = this.#medianMs || this.#runMs
  }

  /** @param {number} tookMs */
  onRejectionSent(tookMs) {
    // A garbage collection during one rejection says nothing about the next rejection.
    const costMs = Math.min(tookMs * READ_FACTOR, MAX_OF_MEAN * this.rejectionMs)
    this.#rejectedMs += costMs
    this.#shareRejectedMs += costMs
    this.rejectionMs += (costMs - this.rejectionMs) * SMOOTHING
  }

  /**
   * @param {number} busyMs
   * @param {number} nowMs
   * @param {number} ended how many requests ended in this turn
   */
  onTurn(busyMs, nowMs, ended) {
    this.#busyMs += busyMs
    this.#ended += ended
    this.#updateShare(nowMs)
    if (this.#ended < SAMPLE_REQUESTS && nowMs - this.#sinceMs < SAMPLE_MAX_MS) return
    if (this.#ended > 0) this.#endSample()
    this.#sinceMs = nowMs
    this.#busyMs = this.#ended = this.#rejectedMs = 0
  }

  #endSample() {
    const workMs = Math.max(0, this.#busyMs - this.#rejectedMs)
    const costMs = workMs / this.#ended
    this.#workedMs += workMs
    // A long turn fills several samples, but at most half of all samples kept, because it may have stalled.
    const count = Math.min(SAMPLES / 2, Math.floor(this.#ended / SAMPLE_REQUESTS) || 1)
    for (let i = 0; i < count; i++) this.#add(costMs)
    if (this.#next <= SAMPLES) this.#meanMs = this.#firstMean()
    else this.#meanMs += (Math.min(costMs, MAX_OF_MEAN * this.#meanMs) - this.#meanMs) * SMOOTHING
    this.#updateMedian()
  }

  /**
   * The mean of the first samples without the most expensive one: a starting application also does other
   * work.
   */
  #firstMean() {
    let [sum, most] = [0, 0]
    for (let i = 0; i < this.#next; i++) {
      sum += this.#samples[i]
      most = Math.max(most, this.#samples[i])
    }
    return this.#next === 1 ? sum : (sum - most) / (this.#next - 1)
  }

  /** The sample takes the place of the oldest one. @param {number} costMs */
  #add(costMs) {
    const sorted = this.#sorted
    const at = this.#next++ % SAMPLES
    let i = sorted.indexOf(this.#samples[at])
    this.#samples[at] = costMs
    for (; i > 0 && sorted[i - 1] > costMs; i--) sorted[i] = sorted[i - 1]
    for (; i < SAMPLES - 1 && sorted[i + 1] < costMs; i++) sorted[i] = sorted[i + 1]
    sorted[i] = costMs
  }

  #updateMedian() {
    this.#medianMs = this.#sorted[(Math.min(this.#next, SAMPLES) - 1) >> 1]
    this.#update()
  }

  /** @param {number} nowMs */
  #updateShare(nowMs) {
    const elapsedMs = nowMs - this.#shareSinceMs
    if (elapsedMs < SAMPLE_MS) return
    const share = Math.min(MAX_SHARE, this.#shareRejectedMs / elapsedMs)
    this.rejectedShare += (share - this.rejectedShare) * SHARE_SMOOTHING
    this.#shareSinceMs = nowMs
    this.#shareRejectedMs = 0
  }
}

exports.MAX_OF_MEAN = MAX_OF_MEAN
exports.RequestCost = RequestCost
exports.SMOOTHING = SMOOTHING
