'use strict'
// Writes the routes of a worker into its report, with their HDR histograms, and adds up the routes of all
// workers by method and route. Histograms are added by bucket, so a quantile of the fleet is the quantile of
// all its responses. A sum keeps only the positions of each route in the reports. A snapshot reads one
// histogram at a time.

const { newHistogram } = require('../../../core/histogram/hdr-histogram')
const { ADVISED_BOUNDS, countOf, sumOf } = require('../../../core/histogram/buckets')
const { ByteReader, ByteWriter } = require('../../../core/histogram/histogram-bytes')
const { PART_COLUMNS } = require('../../../core/request/request-parts')
const { COUNTERS } = require('../../../core/request/route-series')
const { partSumsOf } = require('../../../core/snapshot/route-parts')
const { ROUTES, blockOf, doublesOf } = require('./report')
const { isSum, isTime } = require('./report-shapes')

/**
 * @import { JsHistogram } from 'hdr-histogram-js'
 * @import { RollingHistogram } from '../../../core/histogram/rolling'
 * @import { Capture } from '../../../core/metrics/capture'
 * @import { Recorder } from '../../../core/request/recorder'
 */

/** @typedef {[method: string, route: string] | []} RouteKey empty for all routes together */

const BLOCK = 32
/**
 * The totals are the counters of the series, the count and seconds of its streams, and the parts of its
 * requests. Each is since the start and over the last minute. Each span has three numbers.
 */
const STREAMS = COUNTERS
const PARTS = STREAMS + 2
const LAST_MINUTE_PARTS = PARTS + PART_COLUMNS
const TOTALS = LAST_MINUTE_PARTS + PART_COLUMNS
const COUNT = 0
const ERRORS = 1
const SINCE = 2
const SPAN = 3
/** An empty histogram, to check the cells of others. */
const EMPTY = newHistogram(64)
const MAX_SPANS = 2
const LONGEST_KEY = 4096

/**
 * Adds a span to a sum. The sum begins when the earlier of both began.
 *
 * @param {Float64Array} sum
 * @param {Float64Array} span
 */
function addSpan(sum, span) {
  sum[COUNT] += span[COUNT]
  sum[ERRORS] += span[ERRORS]
  sum[SINCE] = Math.min(sum[SINCE], span[SINCE])
}

class RouteWriter {
  #out = new ByteWriter()
  #entries = 0

  /**
   * @param {RouteKey} key
   * @param {Float64Array} totals
   * @param {{ since: Float64Array, histogram: JsHistogram }[]} spans since the start, and the last minute if
   *   known
   */
  write(key, totals, spans) {
    const name = Buffer.from(JSON.stringify(key))
    this.#out.writeInteger(name.length)
    this.#out.write(name)
    this.#out.writeDoubles(totals)
    this.#out.writeInteger(spans.length)
    for (const { since, histogram } of spans) {
      this.#out.writeDoubles(since)
      this.#out.writeHistogram(histogram)
    }
    this.#entries++
  }

  /** @returns {Buffer | undefined} a block, once enough routes are written */
  take(isLast = false) {
    if (this.#entries === 0 || (this.#entries < BLOCK && !isLast)) return undefined
    this.#entries = 0
    return blockOf(ROUTES, this.#out.take())
  }
}

/**
 * @param {{ recorder: Recorder }} deps @param {Capture} captured @param {number} nowMs @param {number}
 *   wallMs
 * @returns {Generator<Buffer | undefined>} blocks; undefined for a step without one
 */
function* reportRoutes({ recorder }, captured, nowMs, wallMs) {
  const { counters, series, streams } = captured
  const writer = new RouteWriter()
  const scratch = [newHistogram(64), newHistogram(64)]
  /** @param {RollingHistogram} rolling */
  const spansOf = (rolling) => {
    for (const histogram of scratch) histogram.reset()
    return [rolling.addSinceStart(scratch[0], nowMs), rolling.addLastMinute(scratch[1], nowMs)].map(
      ({ count, errors, seconds, histogram }) => ({
        since: Float64Array.of(count, errors, wallMs - seconds * 1000),
        histogram,
      })
    )
  }
  const totals = new Float64Array(TOTALS)
  writer.write([], totals, spansOf(recorder.all))
  for (const each of series) {
    const { method, route, row, streamRow, latency } = each
    totals.set(counters.subarray(row * COUNTERS, (row + 1) * COUNTERS))
    const hasStreams = streamRow !== undefined && countOf(streams, streamRow, ADVISED_BOUNDS) > 0
    totals[STREAMS] = hasStreams ? countOf(streams, streamRow, ADVISED_BOUNDS) : 0
    totals[STREAMS + 1] = hasStreams ? sumOf(streams, streamRow, ADVISED_BOUNDS) : 0
    const [sinceStart, lastMinute] = partSumsOf(each, captured)
    totals.set(sinceStart, PARTS)
    totals.set(lastMinute, LAST_MINUTE_PARTS)
    writer.write([method, route], totals, spansOf(latency))
    yield writer.take()
  }
  yield writer.take(true)
}

/** The positions of a route in the reports. */
class RouteSum {
  key
  /** The report that was added last. @type {unknown} */
  report
  /** @type {{ body: Buffer, at: number, hasLastMinute: boolean }[]} */
  #positions = []

  /** @param {RouteKey} key */
  constructor(key) {
    this.key = key
  }

  /** @param {Buffer} body @param {number} at @param {boolean} hasLastMinute */
  add(body, at, hasLastMinute) {
    this.#positions.push({ body, at, hasLastMinute })
  }

  /**
   * @param {JsHistogram[]} scratch two empty histograms, for the time since the start and for the last minute
   * @param {number} wallMs
   */
  read(scratch, wallMs) {
    const totals = new Float64Array(TOTALS)
    const spans = scratch.map((histogram) => ({
      since: Float64Array.of(0, 0, wallMs),
      ratePerSecond: 0,
      histogram,
    }))
    for (const { body, at, hasLastMinute } of this.#positions) {
      const reader = new ByteReader(body, at)
      const from = readDoubles(reader, TOTALS)
      const known = hasLastMinute ? TOTALS : LAST_MINUTE_PARTS
      for (let i = 0; i < known; i++) totals[i] += from[i]
      const count = reader.readInteger()
      for (let i = 0; i < count; i++) {
        const since = readDoubles(reader, SPAN)
        if (i > 0 && !hasLastMinute) break
        addSpan(spans[i].since, since)
        spans[i].ratePerSecond += rateOf(since, wallMs)
        reader.addHistogram(spans[i].histogram)
      }
    }
    return { totals, spans }
  }
}

/** @param {Float64Array} since @param {number} wallMs */
function rateOf(since, wallMs) {
  const seconds = (wallMs - since[SINCE]) / 1000
  return seconds > 0 ? since[COUNT] / seconds : 0
}

/** @param {ByteReader} reader @param {number} count */
const readDoubles = (reader, count) => doublesOf(reader.read(count * 8))

/**
 * @param {string} text
 * @returns {RouteKey}
 * @throws {Error} if the text is not a key, or not in our spelling: with two spellings, a route would be
 *   shown twice
 */
function keyIn(text) {
  const key = text.length <= LONGEST_KEY && JSON.parse(text)
  const isKey =
    Array.isArray(key) && [0, 2].includes(key.length) && key.every((each) => typeof each === 'string')
  if (!isKey || JSON.stringify(key) !== text) throw new TypeError('the report has an invalid route key')
  return /** @type {RouteKey} */ (key)
}

/** Skips the numbers of a route. @param {ByteReader} reader @throws {RangeError} if one of them is invalid */
function skipRoute(reader) {
  requireValid(readDoubles(reader, TOTALS))
  const spans = reader.readInteger()
  if (spans > MAX_SPANS) throw new RangeError(`a route has ${spans} spans of time`)
  for (let i = 0; i < spans; i++) {
    const since = readDoubles(reader, SPAN)
    requireValid(since.subarray(COUNT, SINCE))
    if (!isTime(since[SINCE])) throw new RangeError('a route has an invalid start of a span')
    reader.skipHistogram(EMPTY)
  }
}

/** @param {Float64Array} numbers */
function requireValid(numbers) {
  if (!numbers.every(isSum)) throw new RangeError('a route has an invalid count')
}

class RouteSums {
  /** @type {Map<string, RouteSum>} */
  #byKey = new Map()

  /**
   * @param {Buffer} body of a block
   * @param {boolean} hasLastMinute whether the report was written within the last minute
   * @param {unknown} [report] the report that the block belongs to
   * @throws {Error} if the body is invalid
   */
  add(body, hasLastMinute, report = body) {
    for (const reader = new ByteReader(body); !reader.isAtEnd; ) {
      const key = Buffer.from(reader.read(reader.readInteger())).toString()
      let sum = this.#byKey.get(key)
      if (sum === undefined) this.#byKey.set(key, (sum = new RouteSum(keyIn(key))))
      if (sum.report === report) throw new RangeError('the report has a route twice')
      sum.report = report
      sum.add(body, reader.at, hasLastMinute)
      skipRoute(reader)
      if (reader.at > body.length) throw new RangeError('the report ends in the middle of a route')
    }
  }

  /** Yields one route at a time, which is valid until the next. @param {number} wallMs */
  *read(wallMs) {
    const scratch = [newHistogram(64), newHistogram(64)]
    for (const sum of this.#byKey.values()) {
      for (const histogram of scratch) histogram.reset()
      yield { key: sum.key, ...sum.read(scratch, wallMs) }
    }
  }

  /**
   * @param {number} wallMs
   * @returns {Generator<Buffer | undefined>} the sums as blocks of a report, without the last minute
   */
  *report(wallMs) {
    const writer = new RouteWriter()
    for (const { key, totals, spans } of this.read(wallMs)) {
      writer.write(key, totals.fill(0, LAST_MINUTE_PARTS), spans.slice(0, 1))
      yield writer.take()
    }
    yield writer.take(true)
  }
}

exports.COUNT = COUNT
exports.ERRORS = ERRORS
exports.LAST_MINUTE_PARTS = LAST_MINUTE_PARTS
exports.PARTS = PARTS
exports.RouteSums = RouteSums
exports.SINCE = SINCE
exports.STREAMS = STREAMS
exports.reportRoutes = reportRoutes
