'use strict'
// All limits of one instance. Questions change nothing: `current(nowMs)` says how many requests may be in flight, what
// limits them and how long one may be queued. Events change the limits: onAdmit, onEnd, onKeptOut, onTurn.

const { NORMAL } = require('../verdict')
const { LoopShare } = require('./loop-share')
const { QueueDelay } = require('./queue-delay')

const DURATION_SMOOTHING = 0.05
/** A request counts for so many times the mean at most: a stream that ends says little of the others. */
const MOST_OF_MEAN = 10

class Limits {
  loop
  delay
  #turns
  maxConcurrent = Number.POSITIVE_INFINITY
  #durationMs = 0
  #hasKeptOut = false
  /** Whether the mode holds requests to them. */
  areKept = true

  constructor({ clock, cost, turns }) {
    this.#turns = turns
    this.loop = new LoopShare({ clock, cost, turns })
    this.delay = new QueueDelay(turns, clock.now())
  }

  update(options) {
    this.maxConcurrent = options.maxConcurrent ?? Number.POSITIVE_INFINITY
    this.areKept = options.mode !== 'observe' && options.mode !== 'off'
    this.delay.update(options)
  }

  /** @returns {{ limit: number, by: 'loop' | 'concurrency' | undefined, waitMs: number }} */
  current(nowMs) {
    const ofLoop = this.#turns.hasRoom(nowMs) ? Number.POSITIVE_INFINITY : this.loop.limit
    const limit = Math.min(ofLoop, this.maxConcurrent)
    const by = this.maxConcurrent <= ofLoop ? 'concurrency' : 'loop'
    return {
      limit,
      by: limit === Number.POSITIVE_INFINITY ? undefined : by,
      waitMs: this.delay.toleratedMs(NORMAL, nowMs),
    }
  }

  get inFlight() {
    return this.loop.inFlight
  }

  get isConcurrencyShort() {
    return this.loop.inFlight >= this.maxConcurrent
  }

  // Hot path: once a request.
  hasRoom(nowMs) {
    if (!this.areKept) return true
    return this.loop.inFlight < this.maxConcurrent && this.loop.hasRoom(nowMs)
  }

  /** What a request waits for that finds no room. */
  get short() {
    return this.isConcurrencyShort ? 'concurrency' : 'loop'
  }

  /** How long a request takes of `maxConcurrent` slots together. */
  get slotMs() {
    return this.#durationMs / this.maxConcurrent
  }

  /** How long a request with so many ahead of it is queued. */
  expectedMs(ahead) {
    if (this.isConcurrencyShort) return ahead * this.slotMs
    return this.loop.waitMs(ahead)
  }

  /** Why a request that would wait for so long is rejected on arrival, if it is. */
  reasonFor(expectedMs, ahead, priority, nowMs) {
    if (this.isConcurrencyShort)
      return expectedMs > this.delay.toleratedMs(priority, nowMs) ? 'concurrency' : undefined
    // A loop with room rejects nobody.
    if (!this.delay.rejects(expectedMs, ahead, priority, nowMs) || this.#turns.hasRoom(nowMs))
      return undefined
    return 'loop'
  }

  onAdmit(record, nowMs, idleMs) {
    this.loop.onAdmit(record, nowMs, idleMs)
  }

  onEnd(record, nowMs, idleMs) {
    const tookMs = nowMs - record.admittedMs
    const mostMs = MOST_OF_MEAN * Math.max(1, this.#durationMs)
    this.#durationMs += (Math.min(tookMs, mostMs) - this.#durationMs) * DURATION_SMOOTHING
    this.loop.onEnd(record, nowMs, idleMs)
  }

  /** A request found no room, or was rejected. Only what the loop keeps out says something of the loop. */
  onKeptOut(reason) {
    if (reason === 'loop') this.#hasKeptOut = true
  }

  onTurn(nowMs, idleMs, isQueueing) {
    this.loop.onTurn(nowMs, idleMs, this.#hasKeptOut || (isQueueing && !this.isConcurrencyShort))
    this.#hasKeptOut = false
    this.delay.onTurn(nowMs, isQueueing)
  }
}

module.exports = { Limits }
