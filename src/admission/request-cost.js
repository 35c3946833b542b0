'use strict'
// What a request costs the loop, in ms: the time the loop was busy, less what rejections took of it, over the requests
// that ended. Both are summed and faded together, by a 200th with each request, so that one request of 100 ms among
// fifty of 1 ms makes the mean dearer by what it is worth, and a mix that becomes dearer in the middle of an overload is
// known after a few hundred answers. What the loop does while no request is there, or beside them (background.js), is
// nobody's cost, or the first burst after an idle night would look dear. A rejection counts twice what we spend on it, for to
// read it costs about as much.
//
// Beside it the gross cost, rejections and all: how long the loop really needs for each that it serves, which is what those
// in flight wait for each other. Faded faster, because a crowd comes within milliseconds. A window that is dear alone counts for
// four times the others: a timer or a collection that stops the loop for a second is no cost of the few that end in it. (500 ms
// awaited and 2 ms burnt, 50 a second, beside a second every five: 160 of 1050 were turned away over sockets, now 33.)
//
// And the usual cost, to which no turn adds more than 150 ms: what one slow handler took is no sign of what the next will
// take. The wait behind a burst is reckoned by it, that behind a standing queue by the mean.

const { Background } = require('./background')

const WINDOW_MS = 100
const HORIZON = 200
const GROSS_HORIZON = 50
/** So many times the mean, or the window before it, a window adds at most to the gross cost. */
const DEARER_TIMES = 4
const READING = 2
/** What a turn adds at most to the usual cost; where all are slow, four times what a request costs. */
const USUAL_TURN_MS = 150
const USUAL_REQUESTS = 4
/** How much of a window in which none ended is carried over to the next. */
const CARRIED = 0.9

/** A mean of which the last so many make the most. */
class FadingMean {
  /** 0 until three are known. */
  value = 0
  #horizon
  #sum = 0
  #count = 0

  constructor(horizon) {
    this.#horizon = horizon
  }

  add(sum, count) {
    const kept = Math.exp(-count / this.#horizon)
    this.#sum = this.#sum * kept + sum
    this.#count = this.#count * kept + count
    if (this.#count >= 3) this.value = Math.max(0, this.#sum / this.#count)
  }
}

class RequestCost {
  /** Requests that ended per second. */
  rate = 0
  background
  #net = new FadingMean(HORIZON)
  #gross = new FadingMean(GROSS_HORIZON)
  #usual = new FadingMean(HORIZON)
  #durationMs = 0
  #runMs = 0
  #sinceMs
  #busyMs = 0
  #usualBusyMs = 0
  /** What a request of the last window cost, rejections and all. */
  #lastGrossMs = 0
  #ended = 0
  #rejectedMs = 0
  /** What else the loop did. */
  #otherMs = 0

  constructor(nowMs) {
    this.#sinceMs = nowMs
    this.background = new Background(nowMs)
  }

  /** Until a window is over, what runs took until they first returned: that is known at once. */
  get ms() {
    return this.#net.value || this.#runMs
  }

  get grossMs() {
    return this.#gross.value || this.#runMs
  }

  /** What one ahead in the queue makes wait: its cost to the loop or, while slots are what is short, the time to get one. */
  each(hasRoom, inFlight, isStanding) {
    const ms = isStanding ? this.ms : this.#usual.value || this.#runMs
    if (hasRoom || this.rate === 0) return ms
    // After a lull the rate is that of the lull; how long a slot is held tells what it can be.
    return Math.max(ms, Math.min(1000 / this.rate, this.#durationMs / inFlight))
  }

  noteRun(runMs) {
    this.#runMs = this.#runMs === 0 ? runMs : this.#runMs + (runMs - this.#runMs) * 0.02
  }

  noteEnd(durationMs) {
    this.background.noteRequest()
    this.#ended++
    this.#durationMs += (durationMs - this.#durationMs) * 0.2
  }

  noteReject(tookMs) {
    this.background.noteRequest()
    this.#rejectedMs += tookMs * READING
  }

  /** Once a turn. */
  noteTurn(busyMs, nowMs, inFlight) {
    this.background.noteTurn(busyMs, nowMs, inFlight)
    this.#busyMs += busyMs
    this.#usualBusyMs += Math.min(busyMs, Math.max(USUAL_TURN_MS, USUAL_REQUESTS * this.ms))
    const elapsedMs = nowMs - this.#sinceMs
    if (elapsedMs < WINDOW_MS) return
    this.#sinceMs = nowMs
    // Not cut off at 0 window by window, or what comes by chance beside one request would look like its cost.
    const { share } = this.background
    this.#otherMs += share * elapsedMs
    if (this.#ended === 0) {
      // Work of requests that have yet to end is charged to those that do; a stream that never ends gathers a second of it
      // at most.
      const carried = inFlight > 0 ? CARRIED : 0
      this.#busyMs *= carried
      this.#usualBusyMs *= carried
      this.#rejectedMs *= carried
      this.#otherMs *= carried
      return
    }
    const left = 1 - share
    this.#net.add((Math.max(0, this.#busyMs - this.#rejectedMs) - this.#otherMs) / left, this.#ended)
    this.#usual.add((Math.max(0, this.#usualBusyMs - this.#rejectedMs) - this.#otherMs) / left, this.#ended)
    this.#addGross((this.#busyMs - this.#otherMs) / left)
    this.rate += ((this.#ended * 1000) / elapsedMs - this.rate) * (this.rate === 0 ? 1 : 0.2)
    this.#busyMs = this.#usualBusyMs = this.#ended = this.#rejectedMs = this.#otherMs = 0
  }

  #addGross(busyMs) {
    const beforeMs = Math.max(this.#gross.value, this.#lastGrossMs)
    const mostMs = beforeMs === 0 ? Number.POSITIVE_INFINITY : DEARER_TIMES * beforeMs * this.#ended
    this.#gross.add(Math.min(busyMs, mostMs), this.#ended)
    this.#lastGrossMs = busyMs / this.#ended
  }
}

module.exports = { RequestCost }
