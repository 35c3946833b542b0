'use strict'
// Quantiles of durations, over the last half minute to minute and since the start, in HDR histograms (2 digits,
// 1 µs to 60 s, 11.3 kB each). One record per value: into the running half minute; when that is over it becomes the
// one before, and what was before is added to the total. So three histograms, no timer, and an idle one costs nothing.
// Also the counts a rate needs, which share the rotation. Half minutes begin by the clock and not with a request: a rate
// over what went by since the first after a pause was 268 a second for one request in two minutes.

const { build } = require('hdr-histogram-js')
const { addHistogram } = require('./slots')

/** @typedef {{ count: number, errors: number, seconds: number, histogram: import('hdr-histogram-js').JsHistogram }} SpanCounts */

const SPAN_MS = 30_000
const MAX_US = 60_000_000
// A 32-bit slot wraps silently. Before a total can get there (4e9 values) it moves to 64-bit slots.
const MAX_SLOT = 2 ** 32 - 1

class Span {
  histogram = newHistogram(32)
  startMs
  count = 0
  errors = 0

  constructor(startMs) {
    this.startMs = startMs
  }

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
  #previous
  #total
  #isWide = false
  #startMs
  #earlier = { count: 0, errors: 0 }

  /** @param {number} startMs when what is measured began to be, which may be long before the first value */
  constructor(startMs) {
    this.#startMs = startMs
    this.#current = new Span(startMs)
  }

  // Hot path: one comparison beside the HDR's own 55 ns.
  record(durationMs, nowMs, isError) {
    if (nowMs - this.#current.startMs >= SPAN_MS) this.#rotate(nowMs)
    const span = this.#current
    recordInto(span.histogram, toMicroseconds(durationMs))
    span.count++
    if (isError) span.errors++
  }

  /** Counts what has no duration worth a quantile, such as a stream. */
  count(nowMs, isError) {
    if (nowMs - this.#current.startMs >= SPAN_MS) this.#rotate(nowMs)
    this.#current.count++
    if (isError) this.#current.errors++
  }

  #rotate(nowMs) {
    const startMs = this.#startOf(this.#spanAt(nowMs))
    // The first value comes late: no histogram for the time before it.
    if (this.#current.count === 0) {
      this.#current.startMs = startMs
      return
    }
    const oldest = this.#previous
    if (oldest !== undefined) this.#keep(oldest)
    this.#previous = this.#current
    this.#current = oldest?.restart(startMs) ?? new Span(startMs)
  }

  #spanAt(nowMs) {
    return Math.floor((nowMs - this.#startMs) / SPAN_MS)
  }

  #startOf(span) {
    return this.#startMs + span * SPAN_MS
  }

  #keep(span) {
    this.#earlier.count += span.count
    this.#earlier.errors += span.errors
    if (span.histogram.totalCount === 0) return
    this.#total ??= newHistogram(32)
    if (!this.#isWide && this.#total.totalCount + span.histogram.totalCount > MAX_SLOT) {
      this.#isWide = true
      this.#total = widened(this.#total)
    }
    this.#total.add(span.histogram)
  }

  /** @returns {SpanCounts} */
  lastMinute(nowMs) {
    return this.addLastMinute(newHistogram(32), nowMs)
  }

  /** @returns {SpanCounts} */
  sinceStart(nowMs) {
    return this.addSinceStart(newHistogram(64), nowMs)
  }

  // The half minute before this one and what has gone by of this one, whether or not anything came in them.
  /** @returns {SpanCounts} the histogram being the one given, with what was recorded added */
  addLastMinute(histogram, nowMs) {
    const sinceMs = this.#startOf(Math.max(0, this.#spanAt(nowMs) - 1))
    const spans = this.#spans().filter(({ startMs }) => startMs >= sinceMs)
    return addSpans(histogram, spans, { count: 0, errors: 0, seconds: (nowMs - sinceMs) / 1000 })
  }

  /** @returns {SpanCounts} */
  addSinceStart(histogram, nowMs) {
    if (this.#total !== undefined) addHistogram(histogram, this.#total)
    const seconds = (nowMs - this.#startMs) / 1000
    return addSpans(histogram, this.#spans(), { ...this.#earlier, seconds })
  }

  #spans() {
    return this.#previous === undefined ? [this.#current] : [this.#previous, this.#current]
  }
}

function addSpans(histogram, spans, { count, errors, seconds }) {
  const sum = { count, errors, seconds, histogram }
  for (const span of spans) {
    addHistogram(histogram, span.histogram)
    sum.count += span.count
    sum.errors += span.errors
  }
  return sum
}

/**
 * What `recordValue` does, with the slot found by shifts: its logarithm and powers of two were 1.6 of the 13
 * thousand instructions we add to a Koa request.
 */
function recordInto(histogram, us) {
  const shift = Math.max(24 - Math.clz32(us), 0)
  histogram.incrementCountAtIndex((shift << 7) + (us >>> shift))
  histogram.updateMinAndMax(us)
  histogram.incrementTotalCount()
}

/** HDR counts NaN and Infinity without a bucket, and throws on negatives: nothing but 1..MAX_US goes in. */
function toMicroseconds(durationMs) {
  const us = Math.round(durationMs * 1000)
  return us >= 1 ? Math.min(us, MAX_US) : 1
}

function newHistogram(bitBucketSize) {
  const histogram = build({
    bitBucketSize,
    lowestDiscernibleValue: 1,
    highestTrackableValue: MAX_US,
    numberOfSignificantValueDigits: 2,
  })
  return /** @type {import('hdr-histogram-js').JsHistogram} */ (histogram)
}

function widened(histogram) {
  const wide = newHistogram(64)
  wide.add(histogram)
  return wide
}

module.exports = { RollingHistogram, newHistogram, recordInto, toMicroseconds }
