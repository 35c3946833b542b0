'use strict'
// For handlers that await and then burn: what is in flight is work the loop has yet to do. While the loop does not idle,
//
//   in flight  <=  (unloaded time + slack) / cost per request
//
// because more would come later than the slack allows. A slow database with an idle loop is none of its business: where
// nobody waits for the loop, nothing is limited. But a loop that idles in the middle of an overload has only run out of
// what it was allowed: then half as many again. Without any limit it took in four times as many at once, whose turn of
// 170 ms let the next queue grow old (served at twice the capacity, 20 ms awaited and 2 ms burnt: 0.53 to 0.79 of it).

const LEAST = 8
const IDLE_SHARE = 1.5
const BUCKET_MS = 100
const HALF_MS = 5000

/** The shortest mean of 100 ms within the last five to ten seconds: how long a request takes when nothing is in its way. */
class UnloadedTime {
  #sumMs = 0
  #count = 0
  #bucketSinceMs
  #halfSinceMs
  #newer = Number.POSITIVE_INFINITY
  #older = Number.POSITIVE_INFINITY

  constructor(nowMs) {
    this.#bucketSinceMs = this.#halfSinceMs = nowMs
  }

  get ms() {
    const ms = Math.min(this.#newer, this.#older)
    return ms === Number.POSITIVE_INFINITY ? 0 : ms
  }

  note(durationMs, nowMs) {
    this.#sumMs += durationMs
    this.#count++
    if (nowMs - this.#bucketSinceMs < BUCKET_MS) return
    this.#newer = Math.min(this.#newer, this.#sumMs / this.#count)
    this.#bucketSinceMs = nowMs
    this.#sumMs = this.#count = 0
    if (nowMs - this.#halfSinceMs < HALF_MS) return
    this.#older = this.#newer
    this.#newer = Number.POSITIVE_INFINITY
    this.#halfSinceMs = nowMs
  }
}

class BacklogLimit {
  #slackMs

  constructor({ slackMs }) {
    this.#slackMs = slackMs
  }

  /** @returns {number} Infinity where nothing is known, or the loop has idled lately and nobody waits for it */
  limit({ costMs, unloadedMs, hasIdled, isCrowded }) {
    if (costMs <= 0 || (hasIdled && !isCrowded)) return Number.POSITIVE_INFINITY
    return Math.max(LEAST, ((unloadedMs + this.#slackMs) / costMs) * (hasIdled ? IDLE_SHARE : 1))
  }
}

module.exports = { BacklogLimit, UnloadedTime }
