'use strict'
// The share of the requests that the gate would reject, for limits in mode `observe`. There each request
// reaches its limit, and would count twice. The gate replays a turn when it has ended, and cannot say which
// requests it would reject. So a limit passes over the same share of its own.

/** How many requests the mean is of. */
const HORIZON = 200

class GateShare {
  value = 0
  #stats
  #decided = 0
  #wouldReject = 0

  /** @param {{ readonly decided: number, readonly wouldReject: number }} stats of the gate and its limits */
  constructor(stats) {
    this.#stats = stats
  }

  /** At the end of a turn. @param {number} ofLimits how many the limits would have rejected so far */
  sample(ofLimits) {
    const { decided } = this.#stats
    const count = decided - this.#decided
    if (count === 0) return
    const wouldReject = this.#stats.wouldReject - ofLimits
    const share = Math.min(1, (wouldReject - this.#wouldReject) / count)
    this.value += ((share - this.value) * count) / (HORIZON + count)
    this.#decided = decided
    this.#wouldReject = wouldReject
  }
}

exports.GateShare = GateShare
