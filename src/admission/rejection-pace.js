'use strict'
// Rejections take at most .17 of the loop, and .12 while all clients wait for an answer. What is beyond waits for its turn,
// first in, first out, whoever sent it. So most of the loop serves, whatever the clients of rejected requests do next.
// The share holds for up to twenty thousand that wait.

const { AsyncResource } = require('node:async_hooks')
const { isDisconnected } = require('../requests/request')
const { isHalfClosed, offHalfClose, onHalfClose } = require('../requests/half-closed')
const { LATELY_MS } = require('./measurements/loop-turns')

const MOST_SHARE = 0.17
/** The same while all clients wait: they send no more requests than they get answers. The next request of a gateway is another client's. */
const WAITING_SHARE = 0.12
/** Added for a new connection: a client that connects anew makes the loop accept it too. */
const ACCEPT_MS = 0.05
/** How often a timer makes the loop turn while requests or rejections wait and it would not turn by itself. */
const RECHECK_MS = 2
/** Beyond so many the next is sent at once: each that waits keeps its request in memory. */
const MOST_WAITING = 20_000

/**
 * @typedef {{ request: any, resource: AsyncResource, send: (() => void) | undefined, sendNow: () => void }} Waiting
 *   `send`: undefined once it was sent. `sendNow`: for a client that half-closes
 */

class RejectionPace {
  /** Rejections that have waited so far. */
  waited = 0
  #clock
  #clients
  #cost
  #creditMs = WAITING_SHARE * LATELY_MS
  #creditedMs
  /** @type {(Waiting | undefined)[]} */
  #waiting = []
  #first = 0
  #isDraining = false
  #isScheduled = false

  /** @param {{ clock: typeof import('../clock').systemClock, clients: { readonly areWaiting: boolean },
   *   cost: { readonly rejectionMs: number } }} parts */
  constructor({ clock, clients, cost }) {
    this.#clock = clock
    this.#clients = clients
    this.#cost = cost
    this.#creditedMs = clock.now()
  }

  /** Rejections that wait now. */
  get waiting() {
    return this.#waiting.length - this.#first
  }

  // Hot path: once a rejection.
  /** Calls `send` now, or in its turn. */
  deliver(request, send, nowMs) {
    const isNext = this.#isDraining || this.waiting >= MOST_WAITING || isHalfClosed(request)
    if (isNext || (this.waiting === 0 && this.#hasCredit(nowMs))) return this.#spend(request, send)
    this.waited++
    this.#wait(request, send)
    this.#sendLater()
  }

  #wait(request, send) {
    const resource = new AsyncResource('spillway.rejection')
    /** @type {Waiting} */
    const waiting = { request, resource, send, sendNow: () => this.#sendWaiting(waiting) }
    this.#waiting.push(waiting)
    onHalfClose(request, waiting.sendNow)
  }

  /** @param {Waiting} waiting */
  #sendWaiting(waiting) {
    const send = /** @type {() => void} */ (waiting.send)
    waiting.send = undefined
    offHalfClose(waiting.request, waiting.sendNow)
    // The share is for clients that still wait for their answers.
    if (!isDisconnected(waiting.request))
      this.#spend(waiting.request, () => waiting.resource.runInAsyncScope(send))
  }

  #hasCredit(nowMs) {
    const share = this.#clients.areWaiting ? WAITING_SHARE : MOST_SHARE
    // What rejections have not used lately may be used at once: a gateway then sends what it has queued.
    this.#creditMs = Math.min(share * LATELY_MS, this.#creditMs + share * (nowMs - this.#creditedMs))
    this.#creditedMs = nowMs
    return this.#creditMs > 0
  }

  #spend({ socket }, send) {
    this.#creditMs -= this.#cost.rejectionMs + (socket?.bytesWritten === 0 ? ACCEPT_MS : 0)
    send()
  }

  onTurn(nowMs) {
    if (this.waiting > 0) this.#send(nowMs)
  }

  #send(nowMs) {
    this.#hasCredit(nowMs)
    while (this.waiting > 0 && (this.#creditMs > 0 || this.#isDraining)) {
      const next = this.#waiting[this.#first]
      this.#waiting[this.#first++] = undefined
      if (next?.send !== undefined) this.#sendWaiting(next)
    }
    // Half of the places are empty: a rejection is moved once in the mean.
    if (this.#first >= this.waiting) {
      this.#waiting.splice(0, this.#first)
      this.#first = 0
    }
    if (this.waiting > 0) this.#sendLater()
  }

  /** A loop that has nothing else to do does not turn by itself. */
  #sendLater() {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#clock.after(RECHECK_MS, () => {
      this.#isScheduled = false
      this.#send(this.#clock.now())
    })
  }

  /** Sends every rejection at once from now on. */
  drain() {
    this.#isDraining = true
    this.#send(this.#clock.now())
  }
}

module.exports = { RECHECK_MS, RejectionPace }
