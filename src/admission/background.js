'use strict'
// What share of the loop goes to anything but requests: web sockets, a queue's consumer, timers. Learnt from turns in which
// no request was in flight, came or ended. Were it charged to the few requests of a calm minute, each would look dear (a
// fifth of the loop burnt beside twenty requests a second: 13 to 17 ms each, and 26 of the next 30 at once were turned away).
//
//   a request's own  =  (busy time - share x time) / requests,  and what it makes others wait  =  its own / (1 - share)
//
// In a loop that is busy all the time the share cancels out of that: one that is outdated by then does no harm.

const HORIZON_MS = 5000
/** The loop is taken to have been idle for so long before the first turn. */
const QUIET_MS = 100
/** What one turn counts for at most: it may have loaded modules, or the machine may have stood still. */
const MOST_TURN_MS = 150
const MOST = 0.9

class Background {
  share = 0
  #busyMs = 0
  #timeMs = QUIET_MS
  #lastMs
  #isRequests = false

  constructor(nowMs) {
    this.#lastMs = nowMs
  }

  // Hot path: once a request, and at its end.
  noteRequest() {
    this.#isRequests = true
  }

  noteTurn(busyMs, nowMs, inFlight) {
    const turnMs = nowMs - this.#lastMs
    const isFree = !this.#isRequests && inFlight === 0
    this.#lastMs = nowMs
    this.#isRequests = inFlight > 0
    if (!isFree) return
    const kept = Math.exp(-turnMs / HORIZON_MS)
    this.#busyMs = this.#busyMs * kept + Math.min(busyMs, MOST_TURN_MS)
    this.#timeMs = this.#timeMs * kept + turnMs
    this.share = Math.min(MOST, this.#busyMs / this.#timeMs)
  }
}

module.exports = { Background }
