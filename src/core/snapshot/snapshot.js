'use strict'
// Builds `snapshot()`: the current state as one frozen plain object. Durations are in milliseconds, sizes in
// bytes. A quantile without samples is 0. Totals come from the capture, `lastMinute` and `sinceStart` from
// the recorder's histograms.

const { forbiddenFeatures } = require('../environment/permissions')
const { quantilesOf } = require('../histogram/quantiles')
const { ADVISED_BOUNDS, countOf, sumOf } = require('../histogram/buckets')
const {
  COUNTERS,
  FIRST_BYTE_COUNT,
  FIRST_BYTE_SUM,
  REQUEST_BYTES,
  RESPONSE_BYTES,
  SHED_COLUMN,
} = require('../request/route-series')
const { OUTCOMES } = require('../request/outcome')
const { NO_PARTS, partSumsOf, routePartsOf } = require('./route-parts')

/**
 * @import { AdmissionSnapshot, HeapTrendSnapshot } from '../../../index.js'
 * @import { LatencySummary, RequestInFlight, RouteSnapshot } from '../../../index.js'
 * @import { RuntimeSnapshot, SlowRequest, Snapshot } from '../../../index.js'
 * @import { Admission } from '../gate/admission'
 * @import { SpanCounts } from '../histogram/rolling'
 * @import { RequestLog } from '../log/request-log'
 * @import { Recorder } from '../request/recorder'
 * @import { RequestRecord } from '../request/request-record'
 * @import { RouteSeries } from '../request/route-series'
 */

const RATIOS = [0.5, 0.9, 0.95, 0.99, 0.999]
/** How many of the oldest requests are shown. */
const MAX_SHOWN = 10

/**
 * @typedef {import('../metrics/capture').Capture} Capture
 * @typedef {import('../metrics/capture').Deps & {
 *   requestLog: RequestLog,
 *   startedAtMs: number, isOfFleet: boolean, options: import('../../../index.js').ResolvedOptions,
 * }} Deps
 * @typedef {import('../request/slow-requests').SlowRequest & {
 *   req: { id?: string | number | undefined }, trace?: { trace_id?: string } | undefined,
 * }} Slow
 */

/** @param {Deps} deps @param {Capture} captured @returns {Snapshot} */
function takeSnapshot(deps, captured) {
  const { clock, features, recorder, requestLog, startedAtMs, warnings } = deps
  const nowMs = clock.now()
  const snapshot = {
    at: new Date(clock.wallMs()).toISOString(),
    uptimeSeconds: (nowMs - startedAtMs) / 1000,
    requests: {
      inFlight: captured.inFlight.reduce((sum, count) => sum + count, 0),
      lastMinute: summaryOf(recorder.all.lastMinute(nowMs)),
      sinceStart: summaryOf(recorder.all.sinceStart(nowMs)),
    },
    routes: captured.series.map((series) => routeOf(series, captured, nowMs)),
    routesFolded: captured.folded,
    oldest: listOldest(recorder),
    processErrors: /** @type {Snapshot['processErrors']} */ (Object.fromEntries(captured.processErrors)),
    clientErrors: Object.fromEntries(captured.clientErrors),
    warnings: warnings.list(),
    slowest: requestLog.slow.sample(nowMs).map(slowOf),
    admission: admissionOf(captured, deps.admission),
    runtime: runtimeOf(captured),
    errors: captured.errors.map(({ row: { route, status, type, lastAtMs, ...last }, count }) => ({
      route,
      status,
      type,
      count,
      lastAt: new Date(lastAtMs).toISOString(),
      method: last.method,
      message: last.message,
      place: last.place,
    })),
    internalErrors: Object.fromEntries(captured.internalErrors),
    forbidden: forbiddenFeatures(deps),
  }
  return deepFreeze({
    ...snapshot,
    .../** @type {Omit<Snapshot, keyof typeof snapshot>} */ (features.sections(captured, snapshot)),
  })
}

/**
 * Lists requests without a response first, so that long event streams do not hide a request that hangs.
 * Leaves out data of the client: URL, headers and body.
 *
 * @param {Recorder} recorder
 * @returns {RequestInFlight[]}
 */
function listOldest(recorder) {
  /** @type {RequestRecord[]} */
  const waiting = []
  /** @type {RequestRecord[]} */
  const answering = []
  for (const request of recorder.requests) {
    // A long poll is meant to wait, and each client has one.
    if (request.isLongPoll) continue
    const list = request.hasAnswer ? answering : waiting
    if (list.length < MAX_SHOWN) list.push(request)
    if (waiting.length === MAX_SHOWN) break
  }
  return [...waiting, ...answering].slice(0, MAX_SHOWN).map((request) => recorder.describe(request))
}

/** @param {RouteSeries} series @param {Capture} captured @param {number} nowMs @returns {RouteSnapshot} */
function routeOf(series, captured, nowMs) {
  const { counters, streams } = captured
  const { streamRow } = series
  return {
    method: series.method,
    route: series.route,
    lastMinute: summaryOf(series.latency.lastMinute(nowMs)),
    sinceStart: summaryOf(series.latency.sinceStart(nowMs)),
    ...countersOf(counters, series.row * COUNTERS),
    streams:
      streamRow === undefined
        ? { count: 0, totalSeconds: 0 }
        : {
            count: countOf(streams, streamRow, ADVISED_BOUNDS),
            totalSeconds: sumOf(streams, streamRow, ADVISED_BOUNDS),
          },
    ...(captured.hasParts ? routePartsOf(...partSumsOf(series, captured)) : NO_PARTS),
  }
}

/** @param {Slow} recorded @returns {SlowRequest} */
function slowOf({ req, trace, at, method, route, status, outcome, ...slow }) {
  const { durationMs, queueMs, firstByteMs, loopDelayMs, parts, unreadMs, proxyMs } = slow
  return {
    at,
    method,
    route,
    status,
    outcome: /** @type {SlowRequest['outcome']} */ (outcome),
    durationMs,
    queueMs,
    firstByteMs,
    loopDelayMs,
    parts,
    unreadMs,
    proxyMs,
    requestId: req.id ?? null,
    traceId: trace?.trace_id ?? null,
  }
}

/**
 * Reads the counters of one series, which begin at `start`.
 *
 * @param {Float64Array} counters
 * @param {number} start
 */
function countersOf(counters, start) {
  const firstBytes = counters[start + FIRST_BYTE_COUNT]
  return {
    outcomes: /** @type {RouteSnapshot['outcomes']} */ (
      Object.fromEntries(OUTCOMES.map((name, i) => [name, counters[start + i]]))
    ),
    firstByteMeanMs: firstBytes === 0 ? 0 : (counters[start + FIRST_BYTE_SUM] / firstBytes) * 1000,
    requestBytes: counters[start + REQUEST_BYTES],
    responseBytes: counters[start + RESPONSE_BYTES],
    shed: counters[start + SHED_COLUMN],
  }
}

/** @param {SpanCounts} counted @returns {LatencySummary} */
function summaryOf({ count, errors, seconds, histogram }) {
  const [p50Ms, p90Ms, p95Ms, p99Ms, p999Ms] = quantilesOf(histogram, RATIOS).map((us) => us / 1000)
  return {
    count,
    ratePerSecond: seconds > 0 ? count / seconds : 0,
    errorRatio: count > 0 ? errors / count : 0,
    p50Ms,
    p90Ms,
    p95Ms,
    p99Ms,
    p999Ms,
    maxMs: histogram.totalCount === 0 ? 0 : histogram.maxValue / 1000,
  }
}

/** Advice needs at least this many admitted requests. */
const MIN_ADMITTED = 1000

/** @param {Capture} captured @param {Admission} given @returns {AdmissionSnapshot} */
function admissionOf({ admission, loopDelay }, { lastRejections }) {
  const { mode, isOverloaded, inFlight, queued, limit, limitedBy, costMs, admitted, abandoned } = admission
  return {
    mode,
    isOverloaded,
    inFlight,
    queued,
    limit: Number.isFinite(limit) ? Math.floor(limit) : null,
    limitedBy: limitedBy ?? null,
    costMs,
    admitted,
    abandoned,
    shed: admission.shed,
    wouldShed: admission.wouldShed,
    rejected: lastRejections.list(),
    answeredLate: admission.answeredLate,
    advice: admitted < MIN_ADMITTED ? null : adviceOf(admission, loopDelay),
  }
}

/**
 * Advises twice the p99 of the loop delay, and twice the highest number of requests in flight, so that only
 * unusual load exceeds these limits. The least delay advised, 20 ms, tolerates one slow handler. The p99 is
 * in seconds.
 * @param {Capture['admission']} admission @param {Capture['loopDelay']} loopDelay
 */
const adviceOf = ({ peakInFlight }, loopDelay) => ({
  maxEventLoopDelay: Math.max(20, Math.ceil(loopDelay.p99 * 2000)),
  maxConcurrent: Math.max(10, 2 * peakInFlight),
})

/** @param {Capture['heapTrend']} trend @returns {HeapTrendSnapshot} */
function trendOf({ verdict, bytesPerSecond, confidence, windowSeconds, secondsToLimit }) {
  return {
    verdict,
    megabytesPerHour: bytesPerSecond === undefined ? null : (bytesPerSecond * 3600) / 1e6,
    confidence: confidence ?? null,
    windowSeconds: windowSeconds ?? null,
    secondsToLimit: secondsToLimit ?? null,
  }
}

/** @param {Capture} captured @returns {RuntimeSnapshot} */
function runtimeOf({ loopDelay, utilization, memory, collections, heapTrend }) {
  return {
    loop: {
      delayMs: /** @type {RuntimeSnapshot['loop']['delayMs']} */ (
        Object.fromEntries(Object.entries(loopDelay).map(([key, value]) => [key, value * 1000]))
      ),
      utilization: utilization.loopRatio,
    },
    cpu: {
      utilization: utilization.cpuRatio,
      userSeconds: utilization.cpuUserSeconds,
      systemSeconds: utilization.cpuSystemSeconds,
    },
    heap: {
      usedBytes: memory.heapUsedBytes,
      totalBytes: memory.heapTotalBytes,
      limitBytes: memory.heapLimitBytes,
      afterGcBytes: collections.heapAfterBytes ?? null,
      trend: trendOf(heapTrend),
      spaces: memory.spaces,
    },
    memory: { rssBytes: memory.rssBytes, limitBytes: memory.limitBytes, externalBytes: memory.externalBytes },
    collections: /** @type {RuntimeSnapshot['collections']} */ (
      Object.fromEntries(collections.kinds.map((kind, row) => [kind, pausesOf(collections, row)]))
    ),
  }
}

/** @param {Capture['collections']} collections @param {number} row */
const pausesOf = ({ buckets, bounds }, row) => ({
  count: countOf(buckets, row, bounds),
  totalMs: sumOf(buckets, row, bounds) * 1000,
})

/** @template T @param {T} value */
function deepFreeze(value) {
  if (typeof value !== 'object' || value === null) return value
  for (const each of Object.values(value)) deepFreeze(each)
  return Object.freeze(value)
}

module.exports = { countersOf, deepFreeze, summaryOf, takeSnapshot }
