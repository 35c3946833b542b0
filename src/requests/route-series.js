'use strict'
// Everything counted of one method and route: outcomes, bytes, first bytes, quantiles, and by status the exact
// buckets. Numbers live in tables shared by all series; this holds the row numbers and what labels they carry.
// 34 kB in all, of which the three HDR histograms are 33.9. What has no quantiles is a `Series`.

const { RollingHistogram } = require('../histograms/rolling')
const { OUTCOMES, UPGRADED, isFailure } = require('./outcome')

const REQUEST_BYTES = OUTCOMES.length
const RESPONSE_BYTES = REQUEST_BYTES + 1
const FIRST_BYTE_COUNT = RESPONSE_BYTES + 1
const FIRST_BYTE_SUM = FIRST_BYTE_COUNT + 1
/** Guessed, by its URL: see shed-routes.js. */
const SHED = FIRST_BYTE_SUM + 1
const COUNTERS = SHED + 1
const MIXED = -1

class Series {
  method
  route
  /** The index of the one its requests came by, or MIXED. */
  scheme
  row
  statuses = []
  streamRow
  nativeRow
  #tables
  #last
  #byStatus = new Map()

  constructor(tables, method, route) {
    this.#tables = tables
    this.method = method
    this.route = route
    this.row = tables.counters.add()
  }

  // Hot path: at most one map look-up, and none while the status is the one before.
  count(request) {
    if (request.scheme !== this.scheme) this.#noteScheme(request.scheme)
    const { values } = this.#tables.counters
    const start = this.row * COUNTERS
    values[start + request.outcome]++
    values[start + REQUEST_BYTES] += request.requestBytes
    values[start + RESPONSE_BYTES] += request.responseBytes
    if (request.firstByteMs >= 0) {
      values[start + FIRST_BYTE_COUNT]++
      values[start + FIRST_BYTE_SUM] += request.firstByteMs / 1000
    }
    if (hasNoDuration(request)) {
      if (request.isStream) this.#recordStream(request.durationMs / 1000)
      return
    }
    const { row } = this.#last?.status === request.status ? this.#last : this.#statusOf(request.status)
    const { durations, exemplars, natives } = this.#tables
    const seconds = request.durationMs / 1000
    const bucket = durations.record(row, seconds)
    if (request.trace !== undefined) exemplars.put(row, bucket, request.trace, seconds)
    if (natives !== undefined) natives.record((this.nativeRow ??= natives.add()), seconds)
  }

  #noteScheme(scheme) {
    this.scheme = this.scheme === undefined ? scheme : MIXED
  }

  #recordStream(seconds) {
    this.streamRow ??= this.#tables.streams.add()
    this.#tables.streams.record(this.streamRow, seconds)
  }

  #statusOf(status) {
    let found = this.#byStatus.get(status)
    if (found === undefined) {
      found = { status, row: this.#tables.durations.add() }
      this.#byStatus.set(status, found)
      this.statuses.push(found)
    }
    this.#last = found
    return found
  }
}

class RouteSeries extends Series {
  latency

  constructor(tables, method, route, startedMs) {
    super(tables, method, route)
    // A rate is over the time the instance runs: over that since its first request a new route had 118 a second.
    this.latency = new RollingHistogram(startedMs)
  }

  // Hot path: bench/overhead.js.
  record(request, nowMs) {
    this.count(request)
    const isError = isFailure(request.outcome)
    if (hasNoDuration(request)) this.latency.count(nowMs, isError)
    else this.latency.record(request.durationMs, nowMs, isError)
  }
}

/** That of a stream is apart, and a connection handed over has none. */
const hasNoDuration = ({ isStream, outcome }) => isStream || outcome === UPGRADED

module.exports = {
  COUNTERS,
  FIRST_BYTE_COUNT,
  FIRST_BYTE_SUM,
  REQUEST_BYTES,
  RESPONSE_BYTES,
  RouteSeries,
  SHED,
  Series,
}
