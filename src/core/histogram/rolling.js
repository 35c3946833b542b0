'use strict'
// Keeps durations and counts over the last 30 to 60 seconds, and since the start. An HDR histogram has 2
// significant digits, covers 1 µs to 60 s, and takes 11.3 kB. A value is recorded into the current half
// minute. The first value after the end of the current half minute begins a new one. The half minute that has
// ended becomes the previous one, and the one before that is added to the total. So no timer is needed. Half
// minutes begin at fixed times and not with a request. So a rate after a pause includes the pause.

const { addHistogram, newHistogram, recordInto, toMicroseconds } = require('./hdr-histogram')

/**
 * @import { JsHistogram } from 'hdr-histogram-js'
 * @typedef {{ count: number, errors: number, seconds: number, histogram: JsHistogram }} SpanCounts
 */

const SPAN_MS = 30_000
// A 32-bit cell wraps silently, so a total moves to 64-bit cells before it has this many values.
const MAX_CELL = 2 ** 32 - 1

class Span {
  histogram = newHistogram(32)
  startMs
  count = 0
  errors = 0

  /** @param {number} startMs */
  constructor(startMs) {
    this.startMs = startMs
  }

  /** @param {number} startMs */
  restart(startMs) {
    this.histogram.reset()
    this.startMs = startMs
    this.count = 0
    this.errors = 0
    return this
  }
}

class RollingHistogram {
  #current
  /** @type {Span | undefined} */
  #previous
  /** @type {JsHistogram | undefined} */
  #total
  #isWide = false
  #startMs
  #earlier = { count: 0, errors: 0 }

  /** @param {number} startMs when the measured thing began to exist, perhaps long before the first value */
  constructor(startMs) {
    this.#startMs = startMs
    this.#current = new Span(startMs)
  }

  // Hot path: one comparison, in addition to the histogram's 55 ns.
  /** @param {number} durationMs @param {number} nowMs @param {boolean} isError */
  record(durationMs, nowMs, isError) {
    if (nowMs - this.#current.startMs >= SPAN_MS) this.#rotate(nowMs)
    const span = this.#current
    recordInto(span.histogram, toMicroseconds(durationMs))
    span.count++
    if (isError) span.errors++
  }

  /**
   * Counts a request that belongs in no quantile, such as a stream.
   *
   * @param {number} nowMs
   * @param {boolean} isError
   */
  count(nowMs, isError) {
    if (nowMs - this.#current.startMs >= SPAN_MS) this.#rotate(nowMs)
    this.#current.count++
    if (isError) this.#current.errors++
  }

  /** @param {number} nowMs */
  #rotate(nowMs) {
    const startMs = this.#startOf(this.#spanAt(nowMs))
    // Nothing was recorded so far, so there is nothing to rotate.
    if (this.#current.count === 0) {
      this.#current.startMs = startMs
      return
    }
    const oldest = this.#previous
    if (oldest !== undefined) this.#keep(oldest)
    this.#previous = this.#current
    this.#current = oldest?.restart(startMs) ?? new Span(startMs)
  }

  /** @param {number} nowMs */
  #spanAt(nowMs) {
    return Math.floor((nowMs - this.#startMs) / SPAN_MS)
  }

  /** @param {number} span */
  #startOf(span) {
    return this.#startMs + span * SPAN_MS
  }

  /** @param {Span} span */
  #keep(span) {
    this.#earlier.count += span.count
    this.#earlier.errors += span.errors
    if (span.histogram.totalCount === 0) return
    this.#total ??= newHistogram(32)
    if (!this.#isWide && this.#total.totalCount + span.histogram.totalCount > MAX_CELL) {
      this.#isWide = true
      this.#total = widened(this.#total)
    }
    this.#total.add(span.histogram)
  }

  /** Everything counted since the start. */
  get totals() {
    let { count, errors } = this.#earlier
    for (const span of this.#spans()) {
      count += span.count
      errors += span.errors
    }
    return { count, errors }
  }

  /** The half minutes that still have their own histogram, the older first. */
  get spans() {
    return this.#spans()
  }

  /** @param {number} nowMs @returns {SpanCounts} */
  lastMinute(nowMs) {
    return this.addLastMinute(newHistogram(32), nowMs)
  }

  /** @param {number} nowMs @returns {SpanCounts} */
  sinceStart(nowMs) {
    return this.addSinceStart(newHistogram(64), nowMs)
  }

  // Covers the previous half minute and the current one so far, with or without values.
  /**
   * @param {JsHistogram} histogram
   * @param {number} nowMs
   * @returns {SpanCounts} with the histogram given, which the values were added to
   */
  addLastMinute(histogram, nowMs) {
    const sinceMs = this.#startOf(Math.max(0, this.#spanAt(nowMs) - 1))
    const spans = this.#spans().filter(({ startMs }) => startMs >= sinceMs)
    return addSpans(histogram, spans, { count: 0, errors: 0, seconds: (nowMs - sinceMs) / 1000 })
  }

  /** @param {JsHistogram} histogram @param {number} nowMs @returns {SpanCounts} */
  addSinceStart(histogram, nowMs) {
    if (this.#total !== undefined) addHistogram(histogram, this.#total)
    const seconds = (nowMs - this.#startMs) / 1000
    return addSpans(histogram, this.#spans(), { ...this.#earlier, seconds })
  }

  #spans() {
    return this.#previous === undefined ? [this.#current] : [this.#previous, this.#current]
  }
}

/**
 * @param {JsHistogram} histogram
 * @param {readonly Span[]} spans
 * @param {Omit<SpanCounts, 'histogram'>} before
 */
function addSpans(histogram, spans, { count, errors, seconds }) {
  const sum = { count, errors, seconds, histogram }
  for (const span of spans) {
    addHistogram(histogram, span.histogram)
    sum.count += span.count
    sum.errors += span.errors
  }
  return sum
}

/** @param {JsHistogram} histogram */
function widened(histogram) {
  const wide = newHistogram(64)
  wide.add(histogram)
  return wide
}

exports.RollingHistogram = RollingHistogram
