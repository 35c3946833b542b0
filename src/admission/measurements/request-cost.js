'use strict'
// Measures what a request and a rejection cost the loop, in ms. The cost of a request is the median of thirty windows of
// ten ended requests, so that stalls and lulls do not distort it. The cost of rejections is subtracted.

const { SAMPLE_MS } = require('./loop-turns')

const WINDOWS = 30
const WINDOW_REQUESTS = 10
/** A window ends after this time at the latest. One without an ended request does not count: work between requests is not theirs. */
const WINDOW_MS = 2000
/** To read a rejected request costs about as much as to reject it. */
const READ_FACTOR = 2
const FIRST_REJECTION_MS = 0.03
/** The weight of one request or window in a mean. */
const SMOOTHING = 0.02
/** A window or duration counts for at most this multiple of the mean: a stall or a stream says little about other requests. */
const MOST_OF_MEAN = 10
const SHARE_SMOOTHING = 0.3
const MAX_SHARE = 0.9

class RequestCost {
  /** The usual cost of a request. Until the first window ends, the time until handlers first return. */
  ms = 0
  /** The cost of a rejection, with the reading of its request. */
  rejectionMs = FIRST_REJECTION_MS
  /** The share of the loop's time that rejections take, below 1. */
  rejectedShare = 0
  #medianMs = 0
  #meanMs = 0
  #runMs = 0
  /** The windows in turn, and the same objects by cost. */
  #windows = Array.from({ length: WINDOWS }, () => ({ costMs: Number.POSITIVE_INFINITY, ended: 0 }))
  #byCost = [...this.#windows]
  #next = 0
  #sinceMs
  #busyMs = 0
  #rejectedMs = 0
  #ended = 0
  #shareSinceMs
  #shareRejectedMs = 0

  constructor(nowMs) {
    this.#sinceMs = this.#shareSinceMs = nowMs
  }

  /** The mean cost of a request, rare expensive ones included. */
  get meanMs() {
    return this.#meanMs || this.#runMs
  }

  /** A dequeued request's handler has returned for the first time. */
  onRun(ranMs) {
    this.#runMs += (ranMs - this.#runMs) * (this.#runMs === 0 ? 1 : SMOOTHING)
    this.#update()
  }

  #update() {
    this.ms = this.#medianMs || this.#runMs
  }

  onReject(tookMs) {
    // A collection in the middle of one says nothing about the next.
    const costMs = Math.min(tookMs * READ_FACTOR, MOST_OF_MEAN * this.rejectionMs)
    this.#rejectedMs += costMs
    this.#shareRejectedMs += costMs
    this.rejectionMs += (costMs - this.rejectionMs) * SMOOTHING
  }

  /** @param {number} ended how many requests ended in this turn */
  onTurn(busyMs, nowMs, ended) {
    this.#busyMs += busyMs
    this.#ended += ended
    this.#updateShare(nowMs)
    if (this.#ended < WINDOW_REQUESTS && nowMs - this.#sinceMs < WINDOW_MS) return
    if (this.#ended > 0) this.#endWindow()
    this.#sinceMs = nowMs
    this.#busyMs = this.#ended = this.#rejectedMs = 0
  }

  #endWindow() {
    const workMs = Math.max(0, this.#busyMs - this.#rejectedMs)
    const costMs = workMs / this.#ended
    const window = this.#windows[this.#next++ % WINDOWS]
    window.costMs = costMs
    window.ended = this.#ended
    if (this.#next <= WINDOWS) this.#meanMs = this.#firstMean()
    else this.#meanMs += (Math.min(costMs, MOST_OF_MEAN * this.#meanMs) - this.#meanMs) * SMOOTHING
    this.#updateMedian()
  }

  /** Of the first windows without the dearest: an application that has just started works for itself. */
  #firstMean() {
    let [sum, most] = [0, 0]
    for (let i = 0; i < this.#next; i++) {
      const { costMs } = this.#windows[i]
      sum += costMs
      most = Math.max(most, costMs)
    }
    return this.#next === 1 ? sum : (sum - most) / (this.#next - 1)
  }

  #updateMedian() {
    const windows = this.#byCost
    let ended = 0
    for (const window of windows) ended += window.ended
    sortInPlace(windows)
    let below = 0
    for (const window of windows) {
      below += window.ended
      if (below < ended / 2) continue
      this.#medianMs = window.costMs
      return this.#update()
    }
  }

  #updateShare(nowMs) {
    const elapsedMs = nowMs - this.#shareSinceMs
    if (elapsedMs < SAMPLE_MS) return
    const share = Math.min(MAX_SHARE, this.#shareRejectedMs / elapsedMs)
    this.rejectedShare += (share - this.rejectedShare) * SHARE_SMOOTHING
    this.#shareSinceMs = nowMs
    this.#shareRejectedMs = 0
  }
}

/** By insertion: only one of a few windows has changed, and `sort` allocates. */
function sortInPlace(windows) {
  for (let i = 1; i < windows.length; i++) {
    const window = windows[i]
    let at = i
    for (; at > 0 && windows[at - 1].costMs > window.costMs; at--) windows[at] = windows[at - 1]
    windows[at] = window
  }
}

module.exports = { MOST_OF_MEAN, RequestCost, SMOOTHING }
