'use strict'
// The factor by which the measured cost of a request is trusted. A loop that idles while requests are held back proves
// that the cost is too high: trust falls with the idle time, and recovers with the time the loop is saturated
// (docs/decisions/0001).

const { IDLE_SHARE } = require('../measurements/loop-turns')

const MIN_SHARE = 1e-3
/** A loop that idles less than this share of its time is saturated. Between this and IDLE_SHARE, nothing is proven. */
const SATURATED_SHARE = 0.04
/** While no request is held back, trust grows by a factor of e in this time. */
const CALM_MS = 2000
/** Else trust changes by e in twice the requests' own waiting time: a request admitted now burns only after that. */
const WAITS = 2
const MIN_MS = 50
const MAX_MS = 500

class Trust {
  /** From almost 0 to 1. */
  share = 1

  /**
   * @param {{ idledMs: number, elapsedMs: number, idleShare: number, isContended: boolean, waitMs: number }} turn
   *   `isContended`: a request is queued, or was held back; `waitMs`: how long requests await something else than the loop
   */
  onTurn({ idledMs, elapsedMs, idleShare, isContended, waitMs }) {
    const horizonMs = Math.min(MAX_MS, Math.max(MIN_MS, WAITS * waitMs))
    let growth = 0
    if (!isContended) growth = elapsedMs / CALM_MS
    else if (idleShare >= IDLE_SHARE) growth = -idledMs / horizonMs
    else if (idleShare < SATURATED_SHARE) growth = elapsedMs / horizonMs
    this.share = Math.min(1, Math.max(MIN_SHARE, this.share * Math.exp(growth)))
  }
}

module.exports = { Trust }
