'use strict'
// The share of the requests that the gate would reject, for limits in mode `observe`. In this mode each
// request reaches its limit. So a request that the gate would reject might be counted by the gate and by the
// limit. The gate replays a turn after its end, and cannot say which requests it would reject. So each limit
// leaves out the same share of its own requests.

/** Number of requests that the mean covers. */
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

  /** Called at the end of a turn. @param {number} ofLimits how many the limits would have rejected so far */
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
