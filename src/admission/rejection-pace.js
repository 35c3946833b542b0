'use strict'
// Bounds the share of the loop that rejections take. A rejection beyond that share waits for its turn, first in, first out. So
// most of the loop serves, however many requests are rejected and whatever their clients do next.

const { AsyncResource } = require('node:async_hooks')
const { isHalfClosed } = require('./half-closed')

const SHARE = Number(process.env.REJECT_SHARE ?? 0.15)
/** The most that may be saved up: a burst of rejections of that length is sent at once. */
const MAX_CREDIT_MS = Number(process.env.CREDIT ?? 150)
const RECHECK_MS = 2

class RejectionPace {
  /** Rejections that have waited so far. */
  total = 0
  #queue = []
  #head = 0
  #clock
  #cost
  #creditMs = MAX_CREDIT_MS
  #atMs
  #isDraining = false
  #isScheduled = false

  constructor({ clock, cost }) {
    this.#clock = clock
    this.#cost = cost
    this.#atMs = clock.now()
  }

  get held() {
    return this.#queue.length - this.#head
  }

  #mayReject(nowMs) {
    this.#creditMs = Math.min(MAX_CREDIT_MS, this.#creditMs + SHARE * (nowMs - this.#atMs))
    this.#atMs = nowMs
    return this.#creditMs > 0
  }

  onTurn() {
    if (this.held > 0) this.#sendSome()
  }

  #sendSome() {
    let may = this.#mayReject(this.#clock.now())
    while (this.held > 0 && (may || this.#isDraining)) {
      const { resource, send } = this.#queue[this.#head]
      this.#queue[this.#head++] = undefined
      this.#creditMs -= this.#cost.rejectionMs
      resource.runInAsyncScope(send)
      may = this.#creditMs > 0
    }
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue.splice(0, this.#head)
      this.#head = 0
    }
    this.#schedule()
  }

  #schedule() {
    if (this.#isScheduled || this.held === 0) return
    this.#isScheduled = true
    this.#clock.after(RECHECK_MS, () => {
      this.#isScheduled = false
      this.#sendSome()
    })
  }

  deliver(request, send) {
    if (this.#isDraining || isHalfClosed(request)) return send()
    if (this.held === 0 && this.#mayReject(this.#clock.now())) {
      this.#creditMs -= this.#cost.rejectionMs
      return send()
    }
    this.total++
    this.#queue.push({ resource: new AsyncResource('spillway.rejection'), send })
    this.#schedule()
  }

  drain() {
    this.#isDraining = true
    this.#sendSome()
  }
}

module.exports = { RejectionPace }
