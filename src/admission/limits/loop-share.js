'use strict'
// How many requests may be in flight before the loop is full. Each reserves the share of the loop's time that it costs:
//   share = cost / (time it waits for others + slack);   the shares may add up to what rejections leave of the loop
// Time the loop idles while a request is in flight proves that it waits for others, so a stream, a long poll or a slow
// upstream comes to reserve nothing. While the loop does not idle, nobody is excused (docs/decisions/0001).

const { ROOMY_SHARE } = require('../measurements/loop-turns')
const { Trust } = require('./trust')
const { Pace } = require('./pace')

/** So much work may come back in one turn of the loop. */
const SLACK_MS = 40
/** So few are never too many. */
const LEAST = 8
/** What rejections leave of the loop, at least. */
const LEAST_SHARE = 0.1
/** Rejecting is pointless where a request costs less than so many rejections. */
const POINTLESS = 3
const SMOOTHING = 0.02
/** Reservations are looked over again after so much idling. */
const REFRESH_MS = 1

class LoopShare {
  #cost
  #turns
  #trust = new Trust()
  #pace = new Pace()
  #inFlight = []
  /** The sum of 1 / (wait + slack) of those in flight; idling since the last look makes it too high. */
  #reserved = 0
  /** The same of the next request: what the last ones that ended would have reserved, in the mean. */
  #usual = 1 / SLACK_MS
  #lookedIdleMs
  #turnedMs
  #turnedIdleMs

  constructor({ clock, cost, turns }) {
    this.#cost = cost
    this.#turns = turns
    this.#turnedMs = clock.now()
    this.#turnedIdleMs = this.#lookedIdleMs = clock.idleMs()
  }

  get inFlight() {
    return this.#inFlight.length
  }

  /** Whether running a request costs the loop no more than rejecting it a few times. */
  get isPointless() {
    return this.#cost.ms <= POINTLESS * this.#cost.rejectionMs
  }

  /** What one more is taken to cost. */
  get eachMs() {
    return this.#cost.ms * this.#trust.share
  }

  get #free() {
    return Math.max(LEAST_SHARE, 1 - this.#cost.rejectedShare)
  }

  // Hot path: once a request.
  hasRoom(nowMs) {
    if (this.#inFlight.length < LEAST || this.isPointless) return true
    return this.eachMs * (this.#reserved + this.#usual) <= this.#free && this.#pace.allows(nowMs)
  }

  /** How many may be in flight, at what those in flight now reserve. */
  get limit() {
    if (this.isPointless) return Number.POSITIVE_INFINITY
    const more = Math.floor((this.#free / this.eachMs - this.#reserved) / this.#usual)
    return Math.max(LEAST, this.#inFlight.length + more)
  }

  /** How long a request waits that has so many ahead of it. */
  waitMs(ahead) {
    return (ahead * this.eachMs) / this.#free
  }

  // Hot path: once a request.
  onAdmit(record, nowMs, idleMs) {
    record.idleMs = idleMs
    record.share = this.#usual
    this.#reserved += record.share
    record.onAdmit(nowMs, this.#inFlight.push(record) - 1)
    this.#pace.onAdmit(this.#cost.ms, nowMs)
  }

  // Hot path: once a request.
  onEnd(record, nowMs, idleMs) {
    this.#learn(nowMs - record.admittedMs - this.#turns.behindMs(nowMs, idleMs), nowMs)
    const last = this.#inFlight.pop()
    if (last !== record) {
      this.#inFlight[record.slot] = last
      last.slot = record.slot
    }
    record.onRelease()
    this.#reserved = this.#inFlight.length === 0 ? 0 : this.#reserved - record.share
  }

  /** A longer wait is believed only while the loop has room: behind a full one, requests wait for the loop. */
  #learn(waitedMs, nowMs) {
    const share = 1 / (Math.max(0, waitedMs) + SLACK_MS)
    if (share < this.#usual && !this.#turns.hasRoom(nowMs)) return
    this.#usual += (share - this.#usual) * SMOOTHING
  }

  /** @param {boolean} isShort whether a request is queued, or was kept out in this turn */
  onTurn(nowMs, idleMs, isShort) {
    const idleShare = this.#turns.idleShare(nowMs)
    const waitMs = 1 / this.#usual
    const idledMs = idleMs - this.#turnedIdleMs
    this.#trust.onTurn({ idledMs, elapsedMs: nowMs - this.#turnedMs, idleShare, isShort, waitMs })
    this.#pace.onTurn(nowMs, idleShare < ROOMY_SHARE, waitMs)
    this.#turnedMs = nowMs
    this.#turnedIdleMs = idleMs
    if (isShort && idleMs - this.#lookedIdleMs > REFRESH_MS) this.#look(idleMs)
  }

  #look(idleMs) {
    this.#lookedIdleMs = idleMs
    this.#reserved = 0
    for (const record of this.#inFlight) {
      record.share = Math.min(this.#usual, 1 / (idleMs - record.idleMs + SLACK_MS))
      this.#reserved += record.share
    }
  }
}

module.exports = { LoopShare }
