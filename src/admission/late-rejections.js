'use strict'
// Clients that ask again at once make rejecting the load: answered in microseconds, they are back in the next loop turn.
// While rejections take more than 2 % of the loop, each 503 is sent late, and later by steps. A step that does not bring
// fewer requests is taken back: clients that do not wait for their answer are not held at all (docs/decisions/0004).

const { AsyncResource } = require('node:async_hooks')
const { isHalfClosed, offHalfClose, onHalfClose } = require('./half-closed')

/** For how long a rejection is held in the mean, by step. */
const HOLDS_MS = [0, 100, 200, 400, 1000]
/** Of the loop's time. Above it the next step is tried. */
const COSTLY_SHARE = 0.02
/** Below it the last step is taken back. */
const CHEAP_SHARE = 0.005
/** Each holds a connection, and a proxy may have a thousand for all its clients. */
const MOST_HELD = 512
/** Where rejections take this share of the loop, they have become the load. Then so many more are held. */
const FLOOD_SHARE = 0.5
const MOST_OF_FLOOD = 10_000
/** Of one HTTP/2 session, which may carry any number of requests. */
const MOST_OF_SESSION = 100
const WINDOW_MS = 200
/** A step is kept where at most this share of the requests still comes. */
const FEWER_SHARE = 0.8
/** After a step was taken back, none is tried for so long; and a step is held against a rate no older than that. */
const STEADY_MS = 5000

class LateRejections {
  /** How many wait to be sent, and how many were sent late in all. */
  total = 0
  #held = new Set()
  #ofSession = new WeakMap()
  #clock
  #cost
  #random
  #step = 0
  #isFlood = false
  /** How many requests came a millisecond at each step, and when that was measured. */
  #rates = HOLDS_MS.map(() => ({ perMs: 0, atMs: Number.NEGATIVE_INFINITY }))
  #windowMs
  #count = 0
  /** Whether the window before was costly. The first costly one is partly calm, and its rate says nothing. */
  #wasCostly = false
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

  get #holdMs() {
    return HOLDS_MS[this.#step]
  }

  // Hot path: once a request.
  onRequest() {
    this.#count++
  }

  /** Calls `send` now, or late. */
  pass(request, send) {
    const nowMs = this.#clock.now()
    if (nowMs - this.#windowMs >= Math.max(WINDOW_MS, 2 * this.#holdMs)) this.#adapt(nowMs)
    if (this.#isHeld(request)) this.#hold(request, send)
    else send()
  }

  get #mostHeld() {
    return this.#isFlood ? MOST_OF_FLOOD : MOST_HELD
  }

  #isHeld(request) {
    if (this.#step === 0 || this.#isDraining || this.#held.size >= this.#mostHeld) return false
    const { session } = request
    if (session !== undefined && (this.#ofSession.get(session) ?? 0) >= MOST_OF_SESSION) return false
    return !isHalfClosed(request)
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
    const elapsedMs = nowMs - this.#windowMs
    const perMs = this.#count / elapsedMs
    const isCostly = this.#cost.rejectedShare > COSTLY_SHARE
    this.#windowMs = nowMs
    this.#count = 0
    this.#rates[this.#step] = { perMs, atMs: nowMs }
    const isNewFlood = this.#isNewFlood(isCostly)
    // Nothing was rejected for long: what was found says nothing of now.
    this.#step = isNewFlood || elapsedMs >= STEADY_MS ? 0 : this.#nextStep(nowMs, isCostly)
    this.#wasCostly = isCostly
  }

  /** That to hold a few did not pay says nothing of holding all: when a flood begins, all steps are tried again. */
  #isNewFlood(isCostly) {
    const wasFlood = this.#isFlood
    this.#isFlood = this.#cost.rejectedShare > FLOOD_SHARE || (wasFlood && isCostly)
    if (!this.#isFlood || wasFlood) return false
    for (const rate of this.#rates) rate.atMs = Number.NEGATIVE_INFINITY
    this.#steadyUntilMs = 0
    return true
  }

  #nextStep(nowMs, isCostly) {
    const step = this.#step
    const next = Math.min(HOLDS_MS.length - 1, step + 1)
    const before = Math.max(0, step - 1)
    if (this.#cost.rejectedShare < CHEAP_SHARE) return before
    // The next step was given up, or left to look at this one again: it paid, as this one shows.
    if (isCostly && this.#isFresh(next, nowMs) && this.#pays(next)) {
      this.#steadyUntilMs = nowMs
      return next
    }
    if (!this.#isFresh(before, nowMs)) return before
    if (step > 0 && !this.#pays(step)) {
      this.#steadyUntilMs = nowMs + STEADY_MS
      return before
    }
    return isCostly && this.#wasCostly && nowMs >= this.#steadyUntilMs ? next : step
  }

  #isFresh(step, nowMs) {
    return nowMs - this.#rates[step].atMs <= STEADY_MS
  }

  /** Whether fewer requests come at this step than at the one before. */
  #pays(step) {
    return this.#rates[step].perMs <= FEWER_SHARE * this.#rates[step - 1].perMs
  }

  /** Sends all that are held, and holds none from now on. */
  drain() {
    this.#isDraining = true
    for (const sendNow of this.#held) sendNow()
  }
}

module.exports = { LateRejections }
