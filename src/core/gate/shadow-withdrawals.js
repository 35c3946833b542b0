'use strict'
// The share of the requests that the gate admits, in mode `observe`, and limits of their routes would reject.
// Those would cost the loop almost nothing, but in this mode they run. So the model of the loop takes a
// request to cost so much less.

/** How many requests the share is of. */
const HORIZON = 200

class ShadowWithdrawals {
  share = 0
  /** Of this turn: how many the limits would reject, and how many the loop. */
  withdrawn = 0
  rejected = 0
  /** Limits pass over the share that the loop would reject, as known from earlier turns. */
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

  /** The turn has been replayed. @param {number} arrived */
  onReplay(arrived) {
    const share = Math.min(1, this.rejected / Math.max(1, arrived))
    this.#loopShare += ((share - this.#loopShare) * arrived) / (HORIZON + arrived)
    this.rejected = 0
  }
}

exports.ShadowWithdrawals = ShadowWithdrawals
