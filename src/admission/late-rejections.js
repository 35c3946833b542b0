'use strict'
// Clients that ask again at once make rejecting the load: answered in microseconds, they are back in the next loop turn.
// While rejections take more than 2 % of the loop, each 503 is sent late, by 100 ms in the mean. A hold that brings fewer
// requests (clients that wait for their answer) grows to a second, and shrinks again otherwise (docs/decisions/0004).

const { AsyncResource } = require('node:async_hooks')
const { isHalfClosed, offHalfClose, onHalfClose } = require('./half-closed')

const HOLD_MS = 100
const MOST_HOLD_MS = 1000
/** Of the loop's time. Below it a rejection is sent at once. */
const COSTLY_SHARE = 0.02
/** Each holds its request and its connection. */
const MOST_HELD = 10_000
/** Of one HTTP/2 session, which may carry any number of requests. */
const MOST_OF_SESSION = 100
const WINDOW_MS = 200
/** A longer hold is kept where at most this share of the requests still comes. */
const FEWER_SHARE = 0.8
/** After a longer hold has failed, none is tried for so long. */
const STEADY_MS = 5000

class LateRejections {
  /** How many wait to be sent, and how many were sent late in all. */
  total = 0
  #held = new Set()
  #ofSession = new WeakMap()
  #clock
  #cost
  #random
  #holdMs = HOLD_MS
  #windowMs
  #count = 0
  #rateBefore = Number.POSITIVE_INFINITY
  #steadyUntilMs = 0
  #isDraining = false

  constructor({ clock, cost, random = Math.random }) {
    this.#clock = clock
    this.#cost = cost
    this.#random = random
    this.#windowMs = clock.now()
  }

  get held() {
    return this.#held.size
  }

  /** Calls `send` now, or late. */
  pass(request, send) {
    const nowMs = this.#clock.now()
    this.#count++
    if (nowMs - this.#windowMs >= Math.max(WINDOW_MS, 2 * this.#holdMs)) this.#adapt(nowMs)
    if (this.#isHeld(request)) this.#hold(request, send)
    else send()
  }

  #isHeld(request) {
    const { session } = request
    if (isHalfClosed(request)) return false
    if (this.#cost.rejectedShare <= COSTLY_SHARE || this.#isDraining || this.#held.size >= MOST_HELD)
      return false
    return session === undefined || (this.#ofSession.get(session) ?? 0) < MOST_OF_SESSION
  }

  #hold(request, send) {
    const { session } = request
    const resource = new AsyncResource('spillway.rejection')
    const sendNow = () => {
      if (!this.#held.delete(sendNow)) return
      if (session !== undefined) this.#ofSession.set(session, this.#ofSession.get(session) - 1)
      offHalfClose(request, sendNow)
      this.#clock.cancel(timer)
      resource.runInAsyncScope(send)
    }
    const timer = this.#clock.after(this.#holdMs * (0.5 + this.#random()), sendNow)
    this.#held.add(sendNow)
    if (session !== undefined) this.#ofSession.set(session, (this.#ofSession.get(session) ?? 0) + 1)
    onHalfClose(request, sendNow)
    this.total++
  }

  #adapt(nowMs) {
    const rate = this.#count / (nowMs - this.#windowMs)
    const isCostly = this.#cost.rejectedShare > COSTLY_SHARE
    const hasFailed = rate > FEWER_SHARE * this.#rateBefore
    this.#windowMs = nowMs
    this.#count = 0
    if (!isCostly || hasFailed) {
      this.#holdMs = Math.max(HOLD_MS, this.#holdMs / 2)
      this.#rateBefore = Number.POSITIVE_INFINITY
      if (isCostly) this.#steadyUntilMs = nowMs + STEADY_MS
    } else if (nowMs >= this.#steadyUntilMs) {
      this.#holdMs = Math.min(MOST_HOLD_MS, this.#holdMs * 2)
      this.#rateBefore = rate
    }
  }

  /** Sends all that are held, and holds none from now on. */
  drain() {
    this.#isDraining = true
    for (const sendNow of this.#held) sendNow()
  }
}

module.exports = { LateRejections }
