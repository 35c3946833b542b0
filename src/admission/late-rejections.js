'use strict'
// Holds 503s while rejecting is itself the load. A client that retries at once is back in the next loop turn, so the
// answer is sent late, and later by steps, while rejections take more than 2 % of the loop. A step that does not bring
// fewer requests is taken back, and so is a step for which a proxy's requests wait for a connection (docs/decisions/0004).

const { AsyncResource } = require('node:async_hooks')
const { isHalfClosed, offHalfClose, onHalfClose } = require('./half-closed')

/** The mean time for which a rejection is held, by step. */
const HOLDS_MS = [0, 100, 200, 400, 1000]
/** The next step is tried while rejections take more than this share of the loop's time. */
const COSTLY_SHARE = 0.02
/** The last step is taken back while rejections take less than this share. */
const CHEAP_SHARE = 0.005
/** A held rejection occupies a connection, and a proxy may have a thousand connections for all its clients. */
const MAX_HELD = 512
/** Rejections that take this share of the loop are a flood, in which more are held. */
const FLOOD_SHARE = 0.5
const MAX_HELD_IN_FLOOD = 10_000
/** One HTTP/2 session may carry any number of requests. */
const MAX_HELD_OF_SESSION = 100
const WINDOW_MS = 200
/** A step is kept if at most this share of the requests still arrives. */
const KEEP_SHARE = 0.8
/** Connections without a request are spare if they are more than this share of all. */
const SPARE_SHARE = 0.1
/**
 * A step is taken back if a connection is spare for less than this share of the time before: a proxy's requests then wait
 * for a connection. A client that retries at once takes as long as before: its round trip.
 */
const MIN_LEFT = 0.5
/** After a step was taken back, no step is tried for this long. Older rates are not compared with. */
const STEADY_MS = 5000

class LateRejections {
  /** Rejections sent late so far. */
  total = 0
  #held = new Set()
  #ofSession = new WeakMap()
  #clock
  #cost
  #random
  #sampleConnections
  #step = 0
  #isFlood = false
  /** The arrival rate, and the share of the connections that were spare, measured last at each step. */
  #rates = HOLDS_MS.map(() => ({ perMs: 0, spare: 0, atMs: Number.NEGATIVE_INFINITY }))
  #windowMs
  #count = 0
  #turns = 0
  /** Whether the previous window was costly. The first costly window is partly calm, so its rate is no evidence. */
  #wasCostly = false
  #steadyUntilMs = 0
  #isDraining = false

  /**
   * @param {{
   *   clock: typeof import('../clock').systemClock,
   *   cost: { rejectedShare: number },
   *   random?: (() => number) | undefined,
   *   sampleConnections?: (() => { open: number, busy: number }) | undefined,
   * }} parts `busy`: connections whose request has no answer yet
   */
  constructor({ clock, cost, random = Math.random, sampleConnections = () => ({ open: 0, busy: 0 }) }) {
    this.#clock = clock
    this.#cost = cost
    this.#random = random
    this.#sampleConnections = sampleConnections
    this.#windowMs = clock.now()
  }

  /** Rejections held now. */
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

  onTurn() {
    this.#turns++
  }

  /** Calls `send` now, or later. */
  deliver(request, send) {
    const nowMs = this.#clock.now()
    if (nowMs - this.#windowMs >= Math.max(WINDOW_MS, 2 * this.#holdMs)) this.#adapt(nowMs)
    if (this.#isHeld(request)) this.#hold(request, send)
    else send()
  }

  get #maxHeld() {
    return this.#isFlood ? MAX_HELD_IN_FLOOD : MAX_HELD
  }

  #isHeld(request) {
    if (this.#step === 0 || this.#isDraining || this.#held.size >= this.#maxHeld) return false
    const { session } = request
    if (session !== undefined && (this.#ofSession.get(session) ?? 0) >= MAX_HELD_OF_SESSION) return false
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
    this.#rates[this.#step] = { perMs, spare: this.#spareShare(), atMs: nowMs }
    this.#count = this.#turns = 0
    const isNewFlood = this.#isNewFlood(isCostly)
    // A window this long means that nothing was rejected for a while: the step is outdated.
    this.#step = isNewFlood || elapsedMs >= STEADY_MS ? 0 : this.#nextStep(nowMs, isCostly)
    this.#wasCostly = isCostly
  }

  /** A flood holds many more, so a step that did not pay before may pay now: forget the rates when a flood begins. */
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
    const previous = Math.max(0, step - 1)
    if (this.#cost.rejectedShare < CHEAP_SHARE) return previous
    // The next step was taken back, or left in order to measure this one. The rate measured now shows that it paid.
    if (isCostly && this.#isFresh(next, nowMs) && this.#pays(next)) {
      this.#steadyUntilMs = nowMs
      return next
    }
    if (!this.#isFresh(previous, nowMs)) return previous
    if (step > 0 && !this.#pays(step)) {
      this.#steadyUntilMs = nowMs + STEADY_MS
      return previous
    }
    return isCostly && this.#wasCostly && nowMs >= this.#steadyUntilMs ? next : step
  }

  #isFresh(step, nowMs) {
    return nowMs - this.#rates[step].atMs <= STEADY_MS
  }

  /** The share of the connections on which no request is in flight, and none arrives in each loop turn. */
  #spareShare() {
    const { open, busy } = this.#sampleConnections()
    const used = busy + this.#count / Math.max(1, this.#turns)
    return open === 0 ? 0 : Math.max(0, 1 - used / open)
  }

  /** Whether fewer requests arrive at this step than at the previous one, although no request waits for a connection. */
  #pays(step) {
    const now = this.#rates[step]
    const before = this.#rates[step - 1]
    // By Little's law the time between two requests of a connection is spare / perMs. Multiplied out, so that nothing is divided by 0.
    const isExhausting =
      before.spare > SPARE_SHARE && now.spare * before.perMs < MIN_LEFT * before.spare * now.perMs
    return now.perMs <= KEEP_SHARE * before.perMs && !isExhausting
  }

  /** Sends every held rejection, and holds none from now on. */
  drain() {
    this.#isDraining = true
    for (const sendNow of this.#held) sendNow()
  }
}

module.exports = { LateRejections }
