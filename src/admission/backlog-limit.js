'use strict'
// For handlers that await and then burn: what is in flight is work the loop has yet to do. While the loop does not idle,
//
//   in flight  <=  (unloaded time + slack) / gross cost per request
//
// because more would come later than the slack allows. The slack is half the target delay, since all that are in flight may
// end in one turn of the loop, for which new connections wait as well (20 ms awaited and 2 ms burnt, ten times the capacity,
// with half of it p99 131 ms instead of 155, probes 208 instead of 290; the same 0.89 served). Gross: what the loop spends on
// rejections meanwhile delays them too (with a rejection of 0.11 ms: 0 to 0.1 of the bound in the first second by the net
// cost, 0.8 by this).
//
// A slow database with an idle loop is none of its business: where nobody waits for the loop, nothing is limited. But when a
// crowd comes to handlers that await first, nobody waits for it yet, and so
//
//   debt  =  work let in  -  time gone by,  never below 0
//
// limits what is let in as well, once it is past the slack (the same load: 140 answers after 250 ms, the last after 480; now
// none, and 200). And a loop that idles in the middle of an overload has only run out of what it was allowed: then half as
// many again. Without any limit it took in four times as many at once, whose turn of 170 ms let the next queue grow old
// (served at twice the capacity, 20 ms awaited and 2 ms burnt: 0.53 to 0.79 of it).

const LEAST = 8
const IDLE_SHARE = 1.5
const BUCKET_MS = 100
const HALF_MS = 5000
const FREE_SHARE = 0.1

/**
 * How long a request takes when nothing is in its way: the shortest mean of 100 ms within the last five to ten seconds in
 * which the loop was free for a tenth of the time. What takes longer while it is not tells of the loop: were that believed, the
 * limit would follow it up (within a minute at twice the capacity p99 rose from 75 to 204 ms). A limit that has become too
 * low frees the loop, and so mends itself.
 */
class UnloadedTime {
  #sumMs = 0
  #count = 0
  #idledMs = 0
  #bucketSinceMs
  #halfMs = 0
  #newer = Number.POSITIVE_INFINITY
  #older = Number.POSITIVE_INFINITY

  constructor(nowMs) {
    this.#bucketSinceMs = nowMs
  }

  get ms() {
    const ms = Math.min(this.#newer, this.#older)
    return ms === Number.POSITIVE_INFINITY ? 0 : ms
  }

  noteIdle(idledMs) {
    this.#idledMs += idledMs
  }

  note(durationMs, nowMs) {
    this.#sumMs += durationMs
    this.#count++
    const elapsedMs = nowMs - this.#bucketSinceMs
    if (elapsedMs < BUCKET_MS) return
    this.#newer = Math.min(this.#newer, this.#sumMs / this.#count)
    if (this.#idledMs >= elapsedMs * FREE_SHARE) this.#halfMs += elapsedMs
    this.#bucketSinceMs = nowMs
    this.#sumMs = this.#count = this.#idledMs = 0
    if (this.#halfMs < HALF_MS) return
    this.#older = this.#newer
    this.#newer = Number.POSITIVE_INFINITY
    this.#halfMs = 0
  }
}

class BacklogLimit {
  #slackMs
  #debtMs = 0
  #lastMs = 0

  constructor({ slackMs }) {
    this.#slackMs = slackMs
  }

  // Hot path: once a request.
  noteAdmit(nowMs, costMs) {
    const debtMs = this.#debtMs - (nowMs - this.#lastMs)
    this.#debtMs = Math.max(debtMs, 0) + costMs
    this.#lastMs = nowMs
  }

  /** @returns {number} Infinity where nothing is known, or the loop has idled lately and nobody waits for it, or soon will */
  limit({ nowMs, costMs, unloadedMs, hasIdled, isCrowded }) {
    if (costMs <= 0) return Number.POSITIVE_INFINITY
    const isFree = hasIdled && !isCrowded && this.#debtMs - (nowMs - this.#lastMs) <= this.#slackMs
    if (isFree) return Number.POSITIVE_INFINITY
    return Math.max(LEAST, ((unloadedMs + this.#slackMs) / costMs) * (hasIdled ? IDLE_SHARE : 1))
  }
}

module.exports = { BacklogLimit, UnloadedTime }
