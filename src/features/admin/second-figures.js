'use strict'
// Takes the figures of the second that has passed, for the history of the live page: rates from counters that are kept anyway,
// quantiles from the histograms, and the state of the gate, the loop and the memory now.

const { RecentValues } = require('../../core/histogram/recent-values')
const { memoryInUse } = require('../../core/process/memory')

/**
 * @import { LivePoint } from '../../../index.js'
 * @import { Instance } from '../../instance'
 */

const MEDIAN_AND_P99 = [0.5, 0.99]
const P99 = [0.99]
const US_PER_MS = 1000

/** @typedef {Pick<Instance, 'admission' | 'clock' | 'recorder' | 'runtime' | 'started'>} Parts */

class SecondFigures {
  #parts
  #durations
  #turns
  #last
  #lastMs
  #lastIdleMs

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = parts
    this.#durations = new RecentValues(parts.recorder.all)
    this.#turns = new RecentValues(parts.runtime.loopDelay.turns)
    this.#last = this.#totals()
    this.#lastMs = parts.clock.now()
    this.#lastIdleMs = parts.clock.idleMs()
  }

  /** @param {number} nowMs @param {number} idleMs @returns {LivePoint} what has happened since the last call */
  take(nowMs, idleMs) {
    const { clock, runtime } = this.#parts
    const seconds = (nowMs - this.#lastMs) / 1000
    const before = this.#last
    const totals = (this.#last = this.#totals())
    /** @param {keyof typeof totals} name */
    const rateOf = (name) => rounded((totals[name] - before[name]) / seconds)
    const [p50, p99] = this.#durations.take(MEDIAN_AND_P99) ?? [null, null]
    const [turn] = this.#turns.take(P99) ?? [null]
    const idle = (idleMs - this.#lastIdleMs) / 1000 / seconds
    this.#lastMs = nowMs
    this.#lastIdleMs = idleMs
    const { heapUsedBytes, rssBytes } = memoryInUse()
    return {
      at: clock.wallMs(),
      requests: rateOf('requests'),
      errors: rateOf('errors'),
      shed: rateOf('shed'),
      p50: inMs(p50),
      p99: inMs(p99),
      ...this.#gate(),
      loopDelayP99: inMs(turn),
      utilization: rounded(Math.min(1, Math.max(0, 1 - idle))),
      stallMs: this.#parts.started.stalls === undefined ? null : Math.round(totals.stallMs - before.stallMs),
      heapAfterGc: runtime.collections.heapAfterBytes ?? null,
      heapUsed: heapUsedBytes,
      rss: rssBytes,
    }
  }

  #totals() {
    const { admission, recorder, started } = this.#parts
    const { count, errors } = recorder.all.totals
    const shed = admission.stats.shed.reduce((sum, each) => sum + each, 0)
    return { requests: count, errors, shed, stallMs: started.stalls?.totalMs ?? 0 }
  }

  /** With shedding off, the gate counts nothing. */
  #gate() {
    const { admission, recorder } = this.#parts
    const { inFlight, limit, mode, queued } = admission.sample()
    return {
      inFlight: mode === 'off' ? recorder.requests.size : inFlight,
      limit: Number.isFinite(limit) ? Math.floor(limit) : null,
      queued,
    }
  }
}

/** @param {number} value */
const rounded = (value) => Math.round(value * 1000) / 1000
/** @param {number | null} us */
const inMs = (us) => (us === null ? null : us / US_PER_MS)

exports.SecondFigures = SecondFigures
