'use strict'
// The pressure of one process, from 0 to 1: how much of its scarcest resource is in use.
//   each tenth of a second   most = max(busy share of the loop, wait in the queue / bound,
//                                       wait for a pool / bound, 10 x share of requests rejected,
//                                       memory, the user's shortage)
//   pressure                 the mean of `most` over a second, weighted towards now
// A request costs one property. An idle loop has no turns, so a timer runs until the pressure is back at 0.

const { linkInFlight, linkResponse } = require('../../core/request/request-holder')
const { Degrading } = require('./degrading')
const { Steps } = require('./steps')

/**
 * @import { SpillwayEvents } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { Shortages } from '../../core/gate/limits/resource-limits'
 * @import { Instance } from '../../instance'
 * @typedef {SpillwayEvents['pressure']['by']} Resource
 */

const SAMPLE_MS = 100
/**
 * Time constant of the mean. A stall of one second raises the pressure by 0.63. A second later 0.23 of this
 * is left.
 */
const HORIZON_MS = 1000
/** If a tenth of the requests is rejected, the pressure is 1. */
const REJECTED_WEIGHT = 10
/** Below this the pressure is 0. */
const LEAST = 0.005

class Pressure {
  /** The pressure, from 0 to 1. */
  ratio = 0
  /** The scarcest resource in the last sample. @type {Resource} */
  by = 'loop'
  /** Requests for which `shouldDegrade()` said yes, by class. */
  degraded
  onRequest = linkResponse
  #clock
  #shortages
  #poolShortage
  #degrading
  /** @type {((ratio: number, by: Resource) => void)[]} */
  #listeners = []
  #sampledMs
  #sampledIdleMs
  #decided
  #rejected
  /** Sums over about the last second. */
  #lately = { decided: 0, rejected: 0 }
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  /**
   * Whether the first interval has ended. The first interval is left out, because a starting process loads
   * modules in it and is idle after that.
   */
  #isMeasuring = false
  #isClosed = false

  /**
   * @param {{ clock: Clock, shortages: Shortages, poolShortage: () => number, degrading: Degrading }} deps
   *   `poolShortage`: returns the longest wait for a pool, as a share of the permitted wait
   */
  constructor({ clock, shortages, poolShortage, degrading }) {
    this.#clock = clock
    this.#shortages = shortages
    this.#poolShortage = poolShortage
    this.#degrading = degrading
    this.degraded = degrading.counts
    this.#sampledMs = clock.now()
    this.#sampledIdleMs = clock.idleMs()
    this.#decided = shortages.decided
    this.#rejected = shortages.rejected
  }

  /**
   * @param {(ratio: number, by: Resource) => void} listener called ten times a second until the pressure is 0
   */
  onSample(listener) {
    this.#listeners.push(listener)
  }

  /**
   * Whether the answer to this request should cost less now.
   *
   * @param {unknown} given a request or a response, or an object that contains them
   */
  shouldDegrade(given) {
    return this.#degrading.shouldDegrade(given, this.ratio)
  }

  /** @param {number} nowMs @param {number} idleMs */
  onInterval(nowMs, idleMs) {
    if (nowMs - this.#sampledMs < SAMPLE_MS) return
    if (this.#isMeasuring) this.#sample(nowMs, idleMs)
    this.#isMeasuring = true
    this.#sampledMs = nowMs
    this.#sampledIdleMs = idleMs
  }

  /** @param {number} nowMs @param {number} idleMs */
  #sample(nowMs, idleMs) {
    const elapsedMs = nowMs - this.#sampledMs
    const kept = Math.exp(-elapsedMs / HORIZON_MS)
    const most = this.#most(nowMs, 1 - (idleMs - this.#sampledIdleMs) / elapsedMs, kept)
    const ratio = this.ratio * kept + most * (1 - kept)
    this.ratio = ratio < LEAST ? 0 : ratio
    for (const listener of this.#listeners) listener(this.ratio, this.by)
    this.#wakeLater()
  }

  /**
   * Returns the use of the scarcest resource.
   *
   * @param {number} nowMs
   * @param {number} busy
   * @param {number} kept
   */
  #most(nowMs, busy, kept) {
    const shortages = this.#shortages
    /** @type {[Resource, number][]} */
    const uses = [
      ['loop', busy],
      ['queue', shortages.queue(nowMs)],
      ['pool', this.#poolShortage()],
      ['rejections', REJECTED_WEIGHT * this.#rejectedShare(kept)],
      ['memory', shortages.memory],
      ['shortage', shortages.shortage],
    ]
    let most = 0
    this.by = 'loop'
    for (const [resource, use] of uses) {
      if (use <= most || Number.isNaN(use)) continue
      most = within01(use)
      this.by = resource
    }
    return most
  }

  /**
   * Returns the share of about the last second. A tenth of a second says little, because a full queue rejects
   * many requests together.
   *
   * @param {number} kept
   */
  #rejectedShare(kept) {
    const { decided, rejected } = this.#shortages
    this.#lately.decided = this.#lately.decided * kept + decided - this.#decided
    this.#lately.rejected = this.#lately.rejected * kept + rejected - this.#rejected
    this.#decided = decided
    this.#rejected = rejected
    return this.#lately.rejected / Math.max(1, this.#lately.decided)
  }

  #wakeLater() {
    if (this.ratio === 0 || this.#timer !== undefined || this.#isClosed) return
    this.#timer = this.#clock.after(SAMPLE_MS, () => {
      this.#timer = undefined
      // Does nothing if the end of the turn before has just sampled.
      this.onInterval(this.#clock.now(), this.#clock.idleMs())
      this.#wakeLater()
    })
  }

  sample() {
    return { degraded: [...this.degraded] }
  }

  close() {
    this.#isClosed = true
    this.#listeners.length = 0
    this.ratio = 0
    if (this.#timer !== undefined) this.#clock.cancel(this.#timer)
  }
}

/** @param {number} value */
const within01 = (value) => Math.min(1, Math.max(0, value))

/**
 * @param {Pick<Instance, 'admission' | 'clock' | 'events' | 'internalErrors' | 'options' | 'recorder' |
 *   'startedFeatures'>} instance
 */
function pressureOf({ admission, clock, events, internalErrors, options, recorder, startedFeatures }) {
  const { degradeAt, steps } = options.pressure
  const pressure = new Pressure({
    clock,
    shortages: admission.shortages,
    poolShortage: () => startedFeatures.pools?.shortage ?? 0,
    degrading: new Degrading({
      degradeAt,
      find: (res) => recorder.find(res),
      onMistake: (error) => internalErrors.report('shouldDegrade', error),
    }),
  })
  linkInFlight(recorder)
  if (steps !== undefined) {
    const passed = new Steps(steps, (details) => events.emit('pressure', details))
    pressure.onSample((ratio, by) => passed.onSample(ratio, by))
  }
  return pressure
}

exports.HORIZON_MS = HORIZON_MS
exports.Pressure = Pressure
exports.SAMPLE_MS = SAMPLE_MS
exports.pressureOf = pressureOf
