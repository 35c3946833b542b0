'use strict'
// Holds 503s while rejecting is itself the load. A client that retries at once is back in the next loop turn, so its 503 is
// sent late, by as much as hold-step.js says. Held 503s are bounded in number, and sent at once when a drain begins.

const { AsyncResource } = require('node:async_hooks')
const { isDisconnected } = require('../requests/request')
const { isHalfClosed, offHalfClose, onHalfClose } = require('./half-closed')
const { HoldStep } = require('./hold-step')

/** One HTTP/2 session may carry any number of requests. */
const MAX_HELD_OF_SESSION = 100

class LateRejections {
  /** Rejections sent late so far. */
  total = 0
  #held = new Set()
  #ofSession = new WeakMap()
  #clock
  #random
  #step
  #isDraining = false

  /**
   * @param {{
   *   clock: typeof import('../clock').systemClock,
   *   cost: { rejectedShare: number },
   *   stats: { decided: number },
   *   random?: (() => number) | undefined,
   *   connections?: { readonly open: number, readonly busy: number } | undefined,
   * }} parts `busy`: connections whose request has no answer yet, read once a loop turn
   */
  constructor({ clock, cost, stats, random = Math.random, connections = { open: 0, busy: 0 } }) {
    this.#clock = clock
    this.#random = random
    this.#step = new HoldStep({ cost, stats, connections }, clock.now())
  }

  /** Rejections held now. */
  get held() {
    return this.#held.size
  }

  onTurn() {
    this.#step.onTurn()
  }

  /** Calls `send` now, or later. */
  deliver(request, send) {
    this.#step.onReject(this.#clock.now())
    if (this.#isHeld(request)) this.#hold(request, send)
    else send()
  }

  #isHeld(request) {
    if (this.#step.holdMs === 0 || this.#isDraining || this.#held.size >= this.#step.maxHeld) return false
    const { session } = request
    if (session !== undefined && (this.#ofSession.get(session) ?? 0) >= MAX_HELD_OF_SESSION) return false
    return !isHalfClosed(request)
  }

  #hold(request, send) {
    const { session } = request
    let hasEnded = false
    const resource = new AsyncResource('spillway.rejection')
    const sendNow = () => {
      if (!this.#held.delete(sendNow)) return
      if (session !== undefined) this.#ofSession.set(session, this.#ofSession.get(session) - 1)
      offHalfClose(request, onEnd)
      this.#clock.cancel(timer)
      this.#step.onHeld(hasEnded || isDisconnected(request))
      resource.runInAsyncScope(send)
    }
    // A client that leaves looks like one that half-closes, until something is sent to it.
    const onEnd = () => {
      hasEnded = true
      sendNow()
    }
    const timer = this.#clock.after(this.#step.holdMs * (0.5 + this.#random()), sendNow)
    this.#held.add(sendNow)
    if (session !== undefined) this.#ofSession.set(session, (this.#ofSession.get(session) ?? 0) + 1)
    onHalfClose(request, onEnd)
    this.total++
  }

  /** Sends every held rejection, and holds none from now on. */
  drain() {
    this.#isDraining = true
    for (const sendNow of this.#held) sendNow()
  }
}

module.exports = { LateRejections }
