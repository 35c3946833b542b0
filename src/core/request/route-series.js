'use strict'
// All that is counted for one method and route: outcomes, bytes, first bytes, quantiles, and exact buckets by
// status. The numbers live in tables that all series share; a series holds its row numbers. A `RouteSeries`
// takes 34 kB, nearly all for its three HDR histograms. A plain `Series` has no quantiles.

const { RollingHistogram } = require('../histogram/rolling')
const { LoadSlope } = require('./load-slope')
const { OUTCOMES, UPGRADED, errorTypeIndex, isFailure } = require('./outcome')

/**
 * @import { Buckets } from '../histogram/buckets'
 * @import { BodySizes } from './body-sizes'
 * @import { Rows } from '../histogram/rows'
 * @import { Exemplars } from './exemplars'
 * @import { RequestRecord } from './request-record'
 */

const REQUEST_BYTES = OUTCOMES.length
const RESPONSE_BYTES = REQUEST_BYTES + 1
const FIRST_BYTE_COUNT = RESPONSE_BYTES + 1
const FIRST_BYTE_SUM = FIRST_BYTE_COUNT + 1
/** Rejected requests whose URL matches the route: see route-table.js. */
const SHED_COLUMN = FIRST_BYTE_SUM + 1
const COUNTERS = SHED_COLUMN + 1
const MIXED = -1

/**
 * @typedef {object} SeriesTables what all series of an instance share
 * @property {BodySizes | undefined} bodySizes
 * @property {Rows} counters
 * @property {Buckets} durations
 * @property {Exemplars} exemplars
 * @property {import('../histogram/native').NativeBuckets | undefined} natives
 * @property {Buckets} streams
 *
 * @typedef {object} StatusRow the requests with one status, error and scheme
 * @property {number} key
 * @property {number} status
 * @property {number} errorType an index into ERROR_TYPES
 * @property {number} scheme an index into SCHEMES
 * @property {number | undefined} row the row of the durations; undefined if all were streams
 * @property {number | undefined} sizesRow the row of the body sizes
 */

class Series {
  method
  route
  /** The index of the scheme that all its requests used, or MIXED. @type {number | undefined} */
  scheme
  row
  /** Whether `ignore.log` has named a request of it. */
  isLeftOutOfLog = false
  /** @type {StatusRow[]} */
  statuses = []
  /** @type {number | undefined} */
  streamRow
  /** @type {number | undefined} */
  nativeRow
  #tables
  /** @type {StatusRow | undefined} */
  #last
  /** @type {Map<number, StatusRow>} */
  #byKey = new Map()

  /** @param {SeriesTables} tables @param {string} method @param {string} route */
  constructor(tables, method, route) {
    this.#tables = tables
    this.method = method
    this.route = route
    this.row = tables.counters.add()
  }

  // Hot path: at most one map look-up, and none if the status is the same as before.
  /** @param {RequestRecord} request */
  count(request) {
    if (request.scheme !== this.scheme) this.#mergeScheme(request.scheme)
    const { values } = this.#tables.counters
    const start = this.row * COUNTERS
    values[start + request.outcome]++
    values[start + REQUEST_BYTES] += request.requestBytes
    values[start + RESPONSE_BYTES] += request.responseBytes
    if (request.firstByteMs >= 0) {
      values[start + FIRST_BYTE_COUNT]++
      values[start + FIRST_BYTE_SUM] += request.firstByteMs / 1000
    }
    const { bodySizes, durations, exemplars, natives } = this.#tables
    if (bodySizes !== undefined && request.outcome !== UPGRADED)
      bodySizes.record(this.#rowsOf(request), request)
    if (hasNoDuration(request)) {
      if (request.isStream) this.#recordStream(request.durationMs / 1000)
      return
    }
    const rows = this.#rowsOf(request)
    const row = (rows.row ??= durations.add())
    const seconds = request.durationMs / 1000
    const bucket = durations.record(row, seconds)
    if (request.trace !== undefined) exemplars.put(row, bucket, request.trace, seconds)
    if (natives !== undefined) natives.record((this.nativeRow ??= natives.add()), seconds)
  }

  /** @param {number} scheme */
  #mergeScheme(scheme) {
    this.scheme = this.scheme === undefined ? scheme : MIXED
  }

  /** @param {number} seconds */
  #recordStream(seconds) {
    this.streamRow ??= this.#tables.streams.add()
    this.#tables.streams.record(this.streamRow, seconds)
  }

  /** @param {RequestRecord} request */
  #rowsOf({ outcome, scheme, status }) {
    const errorType = errorTypeIndex(outcome, status)
    const key = (status << 3) | (errorType << 1) | scheme
    if (this.#last?.key === key) return this.#last
    let found = this.#byKey.get(key)
    if (found === undefined) {
      found = { key, status, errorType, scheme, row: undefined, sizesRow: undefined }
      this.#byKey.set(key, found)
      this.statuses.push(found)
    }
    this.#last = found
    return found
  }
}

class RouteSeries extends Series {
  latency
  load = new LoadSlope()
  /**
   * The row in the table of request-parts.js; undefined until the first request has ended.
   *
   * @type {number | undefined}
   */
  partsRow = undefined

  /** @param {SeriesTables} tables @param {string} method @param {string} route @param {number} startedMs */
  constructor(tables, method, route, startedMs) {
    super(tables, method, route)
    // Rates are measured from the instance's start. If they were measured from the first request, a new route
    // would show a far too high rate.
    this.latency = new RollingHistogram(startedMs)
  }

  // Hot path, once a request (bench/overhead).
  /** @param {RequestRecord} request @param {number} nowMs */
  record(request, nowMs) {
    this.count(request)
    const isError = isFailure(request.outcome)
    if (hasNoDuration(request)) this.latency.count(nowMs, isError)
    else this.latency.record(request.durationMs, nowMs, isError)
  }
}

/**
 * Streams have their own histogram, and an upgraded connection has no duration.
 *
 * @param {RequestRecord} request
 */
const hasNoDuration = ({ isStream, outcome }) => isStream || outcome === UPGRADED

exports.COUNTERS = COUNTERS
exports.FIRST_BYTE_COUNT = FIRST_BYTE_COUNT
exports.FIRST_BYTE_SUM = FIRST_BYTE_SUM
exports.REQUEST_BYTES = REQUEST_BYTES
exports.RESPONSE_BYTES = RESPONSE_BYTES
exports.RouteSeries = RouteSeries
exports.SHED_COLUMN = SHED_COLUMN
exports.Series = Series
