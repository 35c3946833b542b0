'use strict'
// What a request costs the loop, in ms: the time the loop was busy, less what rejections took of it, over the requests
// that ended. Both are summed and faded together, by a 200th with each request, so that one request of 100 ms among
// fifty of 1 ms makes the mean dearer by what it is worth, and a mix that becomes dearer in the middle of an overload is
// known after a few hundred answers. What a loop does while no request is there (timers, scrapes) is nobody's cost, or the
// first burst after an idle night would look dear. A rejection is taken for twice what we spend on it: reading it costs about as much.

const WINDOW_MS = 100
const HORIZON = 200
const READING = 2
const CARRIED = 0.9

class RequestCost {
  /** Requests that ended per second. */
  rate = 0
  #costMs = 0
  #durationMs = 0
  #runMs = 0
  #sumMs = 0
  #count = 0
  #sinceMs
  #busyMs = 0
  #ended = 0
  #rejectedMs = 0

  constructor(nowMs) {
    this.#sinceMs = nowMs
  }

  /** Until a window is over, what runs took until they first returned: that is known at once. */
  get ms() {
    return this.#costMs > 0 ? this.#costMs : this.#runMs
  }

  /** What one ahead in the queue makes wait: its cost to the loop or, while slots are what is short, the time to get one. */
  each(hasRoom, inFlight) {
    const { ms } = this
    if (hasRoom || this.rate === 0) return ms
    // After a lull the rate is that of the lull; how long a slot is held tells what it can be.
    return Math.max(ms, Math.min(1000 / this.rate, this.#durationMs / inFlight))
  }

  noteRun(runMs) {
    this.#runMs = this.#runMs === 0 ? runMs : this.#runMs + (runMs - this.#runMs) * 0.02
  }

  noteEnd(durationMs) {
    this.#ended++
    this.#durationMs += (durationMs - this.#durationMs) * 0.2
  }

  noteReject(tookMs) {
    this.#rejectedMs += tookMs * READING
  }

  /** Once a turn. */
  noteTurn(busyMs, nowMs, inFlight) {
    this.#busyMs += busyMs
    const elapsedMs = nowMs - this.#sinceMs
    if (elapsedMs < WINDOW_MS) return
    this.#sinceMs = nowMs
    if (this.#ended === 0) {
      // Work of requests that have yet to end goes to those that do; a stream that never does gathers no more than a second of it.
      this.#busyMs *= inFlight > 0 ? CARRIED : 0
      this.#rejectedMs *= inFlight > 0 ? CARRIED : 0
      return
    }
    this.#take()
    this.rate += ((this.#ended * 1000) / elapsedMs - this.rate) * (this.rate === 0 ? 1 : 0.2)
    this.#busyMs = this.#ended = this.#rejectedMs = 0
  }

  #take() {
    const kept = Math.exp(-this.#ended / HORIZON)
    this.#sumMs = this.#sumMs * kept + Math.max(0, this.#busyMs - this.#rejectedMs)
    this.#count = this.#count * kept + this.#ended
    if (this.#count >= 3) this.#costMs = this.#sumMs / this.#count
  }
}

module.exports = { RequestCost }
