'use strict'
// The last ten minutes in 72 kB, with one point per second. Recording begins with `start()`. A point is taken
// in the first loop turn after its second has ended. No timer wakes an idle process, so a second without a
// loop turn has no point. The columns of the heat maps are taken together with the points.

const { LatencyHeat } = require('./latency-heat')
const { RecentValues } = require('../../core/histogram/recent-values')
const { memoryInUse } = require('../../core/process/memory')

/**
 * @import { LivePoint } from '../../../index.js'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { Instance } from '../../instance'
 */

const MEDIAN_AND_P99 = [0.5, 0.99]
const P99 = [0.99]
const US_PER_MS = 1000

/** @typedef {Pick<Instance, 'admission' | 'clock' | 'recorder' | 'runtime' | 'startedFeatures'>} Deps */

/**
 * Takes the figures of the past second. Rates come from counters that exist anyway, and quantiles from the
 * histograms. The state of the gate and of the memory is the current one.
 */
class SecondFigures {
  #deps
  #durations
  #turns
  #last
  #lastMs
  #lastIdleMs

  /** @param {Deps} deps */
  constructor(deps) {
    this.#deps = deps
    this.#durations = new RecentValues(deps.recorder.all)
    this.#turns = new RecentValues(deps.runtime.loopDelay.turns)
    this.#last = this.#totals()
    this.#lastMs = deps.clock.now()
    this.#lastIdleMs = deps.clock.idleMs()
  }

  /**
   * @param {number} nowMs
   * @param {number} idleMs
   * @returns {LivePoint} the figures since the last call
   */
  take(nowMs, idleMs) {
    const { clock, runtime } = this.#deps
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
      stallMs:
        this.#deps.startedFeatures.stalls === undefined ? null : Math.round(totals.stallMs - before.stallMs),
      heapAfterGc: runtime.collections.heapAfterBytes ?? null,
      heapUsed: heapUsedBytes,
      rss: rssBytes,
    }
  }

  #totals() {
    const { admission, recorder, startedFeatures } = this.#deps
    const { count, errors } = recorder.all.totals
    const { rejected } = admission.stats
    return { requests: count, errors, shed: rejected, stallMs: startedFeatures.stalls?.totalMs ?? 0 }
  }

  /** With shedding off, the gate does not count requests in flight, so the recorder's count is used. */
  #gate() {
    const { admission, recorder } = this.#deps
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

const SECOND_MS = 1000
const MAX_POINTS = 600
const SPAN_MS = MAX_POINTS * SECOND_MS

/** @type {readonly (keyof LivePoint)[]} */
const COLUMNS = Object.freeze([
  'at',
  'requests',
  'errors',
  'shed',
  'p50',
  'p99',
  'inFlight',
  'limit',
  'queued',
  'loopDelayP99',
  'utilization',
  'stallMs',
  'heapAfterGc',
  'heapUsed',
  'rss',
])

class History {
  /** When the next point is due. Infinity before `start()`. */
  dueMs = Number.POSITIVE_INFINITY
  /** Called with each point. @type {(point: LivePoint, nowMs: number) => void} */
  onPoint = () => {}
  /** The latencies of each route. */
  heat
  #deps
  /** @type {SecondFigures | undefined} */
  #figures
  /** A ring buffer with one row for each point. */
  #rows = new Float64Array(0)
  #count = 0

  /** @param {Deps & { internalErrors: InternalErrors }} deps */
  constructor(deps) {
    this.#deps = deps
    this.heat = new LatencyHeat(deps)
  }

  start() {
    if (this.#figures !== undefined) return
    this.#rows = new Float64Array(MAX_POINTS * COLUMNS.length)
    this.#figures = new SecondFigures(this.#deps)
    this.dueMs = this.#deps.clock.now() + SECOND_MS
    this.heat.start()
  }

  // Hot path: at the end of a loop turn, at most every 10 ms.
  /** @param {number} nowMs @param {number} idleMs */
  onInterval(nowMs, idleMs) {
    if (nowMs >= this.dueMs) this.#deps.internalErrors.guard('history', () => this.#add(nowMs, idleMs))
  }

  /** @param {number} nowMs @param {number} idleMs */
  #add(nowMs, idleMs) {
    // After a pause, the next second begins now.
    this.dueMs = nowMs - this.dueMs < SECOND_MS ? this.dueMs + SECOND_MS : nowMs + SECOND_MS
    const figures = /** @type {SecondFigures} */ (this.#figures)
    const point = figures.take(nowMs, idleMs)
    const start = (this.#count++ % MAX_POINTS) * COLUMNS.length
    for (const [i, name] of COLUMNS.entries()) this.#rows[start + i] = point[name] ?? Number.NaN
    this.heat.onPoint(nowMs)
    this.onPoint(point, nowMs)
  }

  /** @returns {LivePoint[]} of the last ten minutes, the oldest first */
  points() {
    const sinceMs = this.#deps.clock.wallMs() - SPAN_MS
    const points = []
    for (let i = Math.max(0, this.#count - MAX_POINTS); i < this.#count; i++) {
      const point = this.#pointAt(i % MAX_POINTS)
      if (point.at >= sinceMs) points.push(point)
    }
    return points
  }

  /** @param {number} row @returns {LivePoint} */
  #pointAt(row) {
    const start = row * COLUMNS.length
    return /** @type {LivePoint} */ (
      /** @type {unknown} */ (
        Object.fromEntries(
          COLUMNS.map((name, i) => {
            const value = this.#rows[start + i]
            return [name, Number.isNaN(value) ? null : value]
          })
        )
      )
    )
  }

  close() {
    this.dueMs = Number.POSITIVE_INFINITY
    this.onPoint = () => {}
    this.heat.close()
  }
}

exports.COLUMNS = COLUMNS
exports.MAX_POINTS = MAX_POINTS
exports.SECOND_MS = SECOND_MS
exports.History = History
