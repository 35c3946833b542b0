'use strict'
// The routes of a worker in its report, with their HDR histograms, and those of all workers by method and route. Slots
// are added to slots, so that a quantile of the fleet is that of all its answers, never a mean of quantiles. Read when a
// snapshot asks: until then each route is a list of places in the reports, and only one histogram is in memory.

const { newHistogram } = require('../histograms/rolling')
const { ADVISED_BOUNDS, countOf, sumOf } = require('../histograms/buckets')
const { ByteReader, ByteWriter, slotsOf } = require('../histograms/slots')
const { COUNTERS } = require('../requests/route-series')
const { ROUTES, blockOf, doublesOf } = require('./report')

const BLOCK = 32
/** The counters of the series, count and seconds of its streams; then of each span. */
const STREAMS = COUNTERS
const TOTALS = COUNTERS + 2
const COUNT = 0
const ERRORS = 1
const SINCE = 2
const SPAN = 3
const HISTOGRAM_SLOTS = slotsOf(newHistogram(64))

/** The counts of both, since the earlier of the two. */
function addSpan(sum, span) {
  sum[COUNT] += span[COUNT]
  sum[ERRORS] += span[ERRORS]
  sum[SINCE] = Math.min(sum[SINCE], span[SINCE])
}

class RouteWriter {
  #out = new ByteWriter()
  #entries = 0

  /**
   * @param {[method: string, route: string] | []} key none for all routes together
   * @param {Float64Array} totals
   * @param {{ since: Float64Array, histogram: any }[]} spans since the start, and the last minute if any
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

  /** @returns {Buffer | undefined} a block, when there is enough for one */
  take(isLast = false) {
    if (this.#entries === 0 || (this.#entries < BLOCK && !isLast)) return undefined
    this.#entries = 0
    return blockOf(ROUTES, this.#out.take())
  }
}

/** @returns {Generator<Buffer | undefined>} blocks, with pauses between */
function* reportRoutes({ recorder }, { counters, series, streams }, nowMs, wallMs) {
  const writer = new RouteWriter()
  const scratch = [newHistogram(64), newHistogram(64)]
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
  for (const { method, route, row, streamRow, latency } of series) {
    totals.set(counters.subarray(row * COUNTERS, (row + 1) * COUNTERS))
    const hasStreams = streamRow !== undefined && countOf(streams, streamRow, ADVISED_BOUNDS) > 0
    totals[STREAMS] = hasStreams ? countOf(streams, streamRow, ADVISED_BOUNDS) : 0
    totals[STREAMS + 1] = hasStreams ? sumOf(streams, streamRow, ADVISED_BOUNDS) : 0
    writer.write([method, route], totals, spansOf(latency))
    yield writer.take()
  }
  yield writer.take(true)
}

/** Where a route stands in the reports. */
class RouteSum {
  key
  /** @type {{ body: Buffer, at: number, hasLastMinute: boolean }[]} */
  #places = []

  constructor(key) {
    this.key = key
  }

  add(body, at, hasLastMinute) {
    this.#places.push({ body, at, hasLastMinute })
  }

  /**
   * @param {any[]} scratch two empty histograms: since the start, the last minute
   * @param {number} wallMs
   */
  read(scratch, wallMs) {
    const totals = new Float64Array(TOTALS)
    const spans = scratch.map((histogram) => ({
      since: Float64Array.of(0, 0, wallMs),
      ratePerSecond: 0,
      histogram,
    }))
    for (const { body, at, hasLastMinute } of this.#places) {
      const reader = new ByteReader(body, at)
      const from = readDoubles(reader, TOTALS)
      for (let i = 0; i < TOTALS; i++) totals[i] += from[i]
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

function rateOf(since, wallMs) {
  const seconds = (wallMs - since[SINCE]) / 1000
  return seconds > 0 ? since[COUNT] / seconds : 0
}

const readDoubles = (reader, count) => doublesOf(reader.read(count * 8))

/** @throws {Error} of another shape */
function keyIn(text) {
  const key = JSON.parse(text)
  const isKey =
    Array.isArray(key) && [0, 2].includes(key.length) && key.every((each) => typeof each === 'string')
  if (!isKey) throw new TypeError('the name of a route is of another shape')
  return key
}

class RouteSums {
  #byKey = new Map()

  /** @throws {Error} where it is of another shape @param {Buffer} body of a block @param {boolean} hasLastMinute whether it was written within the last minute */
  add(body, hasLastMinute) {
    for (const reader = new ByteReader(body); !reader.isAtEnd; ) {
      const key = Buffer.from(reader.read(reader.readInteger())).toString()
      let sum = this.#byKey.get(key)
      if (sum === undefined) this.#byKey.set(key, (sum = new RouteSum(keyIn(key))))
      sum.add(body, reader.at, hasLastMinute)
      reader.read(TOTALS * 8)
      for (let spans = reader.readInteger(); spans > 0; spans--) {
        reader.read(SPAN * 8)
        reader.skipHistogram(HISTOGRAM_SLOTS)
      }
      if (reader.at > body.length) throw new RangeError('a route ends before its last byte')
    }
  }

  /** One at a time: what is yielded is good until the next. */
  *read(wallMs) {
    const scratch = [newHistogram(64), newHistogram(64)]
    for (const sum of this.#byKey.values()) {
      for (const histogram of scratch) histogram.reset()
      yield { key: sum.key, ...sum.read(scratch, wallMs) }
    }
  }

  /** @returns {Generator<Buffer | undefined>} as a report again: of those that are gone, without their last minute */
  *report(wallMs) {
    const writer = new RouteWriter()
    for (const { key, totals, spans } of this.read(wallMs)) {
      writer.write(key, totals, spans.slice(0, 1))
      yield writer.take()
    }
    yield writer.take(true)
  }
}

module.exports = { COUNT, ERRORS, RouteSums, SINCE, STREAMS, reportRoutes }
