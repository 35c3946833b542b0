'use strict'
// All limits of one instance. Queries change nothing: `current(nowMs)` returns how many requests may be in flight, which
// limit says so, and how long a request may be queued. Events change the limits: onAdmit, onEnd, onHeldBack, onTurn.

const { NORMAL } = require('../verdict')
const { LoopShare } = require('./loop-share')
const { QueueDelay } = require('./queue-delay')

const DURATION_SMOOTHING = 0.05
/** A duration counts for at most this multiple of the mean: the end of a stream is little evidence for other requests. */
const MAX_OF_MEAN = 10
const OBSERVED_SMOOTHING = 0.02
const OBSERVED_MAX_OF_MEAN = 100

/** @typedef {InstanceType<typeof import('../../requests/admission-record').AdmissionRecord>} AdmissionRecord */

class Limits {
  loop
  delay
  #turns
  maxConcurrent = Number.POSITIVE_INFINITY
  #durationMs = 0
  /** As #durationMs, but with more of the long durations, and slower: mode `observe` has nothing else to tell how long slots are held. */
  observedMs = 0
  #wasHeldBack = false
  /** Modes `observe` and `off` enforce no limit. */
  areEnforced = true

  /**
   * @param {{
   *   clock: typeof import('../../clock').systemClock,
   *   cost: InstanceType<typeof import('../measurements/request-cost').RequestCost>,
   *   turns: InstanceType<typeof import('../measurements/loop-turns').LoopTurns>,
   * }} parts
   */
  constructor({ clock, cost, turns, surplus, clients }) {
    this.#turns = turns
    this.loop = new LoopShare({ clock, cost, turns })
    this.delay = new QueueDelay({ turns, surplus, clients }, clock.now())
  }

  update(options) {
    this.maxConcurrent = options.maxConcurrent ?? Number.POSITIVE_INFINITY
    this.areEnforced = options.mode !== 'observe' && options.mode !== 'off'
    this.delay.update(options)
  }

  /** @returns {{ limit: number, by: 'loop' | 'concurrency' | undefined, waitMs: number }} */
  current(nowMs) {
    const ofLoop = this.#turns.isIdling(nowMs) ? Number.POSITIVE_INFINITY : this.loop.limit
    const limit = Math.min(ofLoop, this.maxConcurrent)
    const by = this.maxConcurrent <= ofLoop ? 'concurrency' : 'loop'
    return {
      limit,
      by: limit === Number.POSITIVE_INFINITY ? undefined : by,
      waitMs: this.toleratedMs(NORMAL, nowMs),
    }
  }

  get inFlight() {
    return this.loop.inFlight
  }

  get isAtMaxConcurrent() {
    return this.loop.inFlight >= this.maxConcurrent
  }

  // Hot path: once a request.
  /** Whether one more request may be in flight, by every limit. */
  hasFreeSlot(nowMs) {
    if (!this.areEnforced) return true
    return this.loop.inFlight < this.maxConcurrent && this.loop.hasFreeShare(nowMs)
  }

  /** The resource that a request waits for if there is no free slot. */
  get shortResource() {
    return this.isAtMaxConcurrent ? 'concurrency' : 'loop'
  }

  /** The mean time between two requests that end while `maxConcurrent` are in flight. */
  get slotMs() {
    return this.#durationMs / this.maxConcurrent
  }

  /** How long each queued request takes. */
  get eachMs() {
    return this.isAtMaxConcurrent ? this.slotMs : this.loop.expectedCostMs
  }

  toleratedMs(priority, nowMs) {
    return this.delay.toleratedMs(priority, this.eachMs, nowMs)
  }

  isOverload(nowMs) {
    return this.delay.isOverload(this.eachMs, nowMs)
  }

  /** How long a request will be queued behind `ahead` others. */
  expectedWaitMs(ahead) {
    if (this.isAtMaxConcurrent) return ahead * this.slotMs
    return this.loop.waitMs(ahead)
  }

  /** The reason to reject a request on arrival, for the time it would be queued; undefined if it may be queued. */
  reasonFor(expectedWaitMs, ahead, priority, nowMs) {
    if (this.isAtMaxConcurrent)
      return expectedWaitMs > this.toleratedMs(priority, nowMs) ? 'concurrency' : undefined
    // A loop that idles rejects nothing.
    if (!this.delay.rejects(expectedWaitMs, ahead, priority, this.eachMs, nowMs) || this.#turns.isIdling(nowMs))
      return undefined
    return 'loop'
  }

  /** @param {AdmissionRecord} record */
  onAdmit(record, nowMs, idleMs) {
    this.loop.onAdmit(record, nowMs, idleMs)
  }

  /** @param {AdmissionRecord} record */
  onEnd(record, nowMs, idleMs) {
    const tookMs = nowMs - record.decidedMs
    const maxMs = MAX_OF_MEAN * Math.max(1, this.#durationMs)
    this.#durationMs += (Math.min(tookMs, maxMs) - this.#durationMs) * DURATION_SMOOTHING
    const observedMaxMs = OBSERVED_MAX_OF_MEAN * Math.max(1, this.observedMs)
    this.observedMs += (Math.min(tookMs, observedMaxMs) - this.observedMs) * OBSERVED_SMOOTHING
    this.loop.onEnd(record, nowMs, idleMs)
  }

  /** A request was queued for lack of a slot, or rejected. Only the reason `loop` is evidence about the loop. */
  onHeldBack(reason) {
    if (reason === 'loop') this.#wasHeldBack = true
  }

  onTurn(nowMs, idleMs, isQueueing) {
    this.loop.onTurn(nowMs, idleMs, this.#wasHeldBack || (isQueueing && !this.isAtMaxConcurrent))
    this.#wasHeldBack = false
    this.delay.onTurn(nowMs, isQueueing)
  }
}

module.exports = { Limits }
