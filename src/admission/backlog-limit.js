'use strict'
// For handlers that await and then burn: what is in flight is work the loop has yet to do. While the loop does not idle,
//
//   in flight  <=  (unloaded time + slack) / gross cost per request
//
// because more would come later than the slack allows. The slack is half the target delay: all that are in flight may end in
// one turn of the loop, and new connections wait for that turn as well. (20 ms awaited and 2 ms burnt, ten times the
// capacity: p99 131 ms with half of it and 155 with all, probes 208 and 290, the same 0.89 served.) The cost is the gross
// one, for what the loop spends on rejections delays those in flight too. (A rejection of 0.11 ms: in the first second 0 to
// 0.1 of the bound was served by the net cost, 0.8 by the gross.)
//
// A slow database with an idle loop is none of its business: where nobody waits for the loop, nothing is limited. But when a
// crowd comes, its handlers await first, and nobody waits for the loop yet. So what is let in is limited as well once
//
//   debt  =  work let in  -  time gone by,  never below 0
//
// is past the slack. (The same load: 140 answers took more than 250 ms and the last 480; now none does, and the last 200.)
// After one long turn of a free loop (idling.js) it may be as far below 0 as that turn was long, for as long: then those that
// came in it are let in, crowd or not.
//
// A loop that idles in the middle of an overload has only run out of what it was allowed: then it may have half as many
// again. Without any limit it took in four times as many at once, and during their turn of 170 ms the next queue grew too old
// (20 ms awaited and 2 ms burnt, twice the capacity: 0.53 to 0.79 of it served).

const LEAST = 8
const IDLE_SHARE = 1.5
const BUCKET_MS = 100
const HALF_MS = 5000
const FREE_SHARE = 0.1

/**
 * How long a request takes when nothing is in its way: the shortest mean of 100 ms. It is forgotten after five to ten seconds
 * in which the loop was free for a tenth of the time, and not before: while the loop is busy, longer times tell of the loop.
 * Were they believed, the limit would rise with them (within a minute at twice the capacity p99 rose from 75 to 204 ms). A
 * limit that has become too low frees the loop, and so mends itself.
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
  #creditUntilMs = 0

  constructor({ slackMs }) {
    this.#slackMs = slackMs
  }

  // Hot path: once a request.
  noteAdmit(nowMs, costMs) {
    const debtMs = this.#debtMs - (nowMs - this.#lastMs)
    this.#debtMs = Math.max(debtMs, Math.min(0, nowMs - this.#creditUntilMs)) + costMs
    this.#lastMs = nowMs
  }

  /** The loop was free before a turn that lasted: those that came in it are no crowd. */
  noteStall(creditMs, nowMs) {
    this.#debtMs = -creditMs
    this.#lastMs = nowMs
    this.#creditUntilMs = nowMs + creditMs
  }

  /** @returns {number} Infinity where nothing is known, or the loop has idled lately and nobody waits for it, or soon will */
  limit({ nowMs, costMs, unloadedMs, hasIdled, isCrowded }) {
    if (costMs <= 0) return Number.POSITIVE_INFINITY
    const isFree = (hasIdled && !isCrowded) || nowMs < this.#creditUntilMs
    if (isFree && this.#debtMs - (nowMs - this.#lastMs) <= this.#slackMs) return Number.POSITIVE_INFINITY
    return Math.max(LEAST, ((unloadedMs + this.#slackMs) / costMs) * (hasIdled ? IDLE_SHARE : 1))
  }
}

module.exports = { BacklogLimit, UnloadedTime }
