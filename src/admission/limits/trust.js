'use strict'
// How far the measured cost of a request is believed. A loop that idles while requests are kept out proves the cost too
// high: trust shrinks with the time it idles, and comes back with the time it is full (docs/decisions/0001).

const { ROOMY_SHARE } = require('../measurements/loop-turns')

const LEAST = 1e-3
/** Below this share of idling the loop is full. */
const FULL_SHARE = 0.04
/** While nobody is kept out, trust comes back by e in so long. */
const CALM_MS = 2000
/** Trust changes by e in twice the time that requests wait for others: what is admitted now is felt only then. */
const WAITS = 2
const LEAST_MS = 50
const MOST_MS = 500

class Trust {
  /** From almost 0 to 1. */
  share = 1

  /**
   * @param {{ idledMs: number, elapsedMs: number, idleShare: number, isShort: boolean, waitMs: number }} turn
   *   `isShort`: a request is queued or was kept out; `waitMs`: how long requests wait for others
   */
  onTurn({ idledMs, elapsedMs, idleShare, isShort, waitMs }) {
    const horizonMs = Math.min(MOST_MS, Math.max(LEAST_MS, WAITS * waitMs))
    let growth = 0
    if (!isShort) growth = elapsedMs / CALM_MS
    else if (idleShare >= ROOMY_SHARE) growth = -idledMs / horizonMs
    else if (idleShare < FULL_SHARE) growth = elapsedMs / horizonMs
    this.share = Math.min(1, Math.max(LEAST, this.share * Math.exp(growth)))
  }
}

module.exports = { Trust }
