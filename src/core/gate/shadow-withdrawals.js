'use strict'
// Measures, in mode `observe`, the share of admitted requests that limits of their routes would reject. In
// mode `adaptive` these requests would cost the loop almost nothing, but in mode `observe` they run. So the
// model of the loop reduces the cost of a request by this share.

/** The number of recent requests over which the share is measured. */
const HORIZON = 200

class ShadowWithdrawals {
  share = 0
  /** Requests of this turn that the limits would reject, and those that the loop would reject. */
  withdrawn = 0
  rejected = 0
  /**
   * The share that the loop would reject, from earlier turns. In mode `adaptive` the limits would not get
   * these requests.
   */
  #loopShare = 0
  #withdrawn = 0
  #admitted = 0

  /** The limits have seen all arrivals of the turn. @param {number} arrived */
  onArrivals(arrived) {
    const kept = HORIZON / (HORIZON + arrived)
    this.#withdrawn = this.#withdrawn * kept + this.withdrawn
    this.#admitted = this.#admitted * kept + arrived * (1 - this.#loopShare)
    this.share = this.#withdrawn / Math.max(1, this.#withdrawn, this.#admitted)
    this.withdrawn = 0
  }

  /** The model has replayed the turn. @param {number} arrived */
  onReplay(arrived) {
    const share = Math.min(1, this.rejected / Math.max(1, arrived))
    this.#loopShare += ((share - this.#loopShare) * arrived) / (HORIZON + arrived)
    this.rejected = 0
  }
}

exports.ShadowWithdrawals = ShadowWithdrawals
