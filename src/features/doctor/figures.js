'use strict'
// Builds the record of figures that the doctor's rules judge: what happened between two readings, and the
// current state. A figure that this process cannot measure is undefined, and a rule that needs this figure
// makes no claim.

const { newHistogram } = require('../../core/histogram/hdr-histogram')
const { quantilesOf } = require('../../core/histogram/quantiles')
const { cpuLimitOnce } = require('../../core/process/cpu-limit')
const {
  callsBetween,
  eventsBetween,
  poolsOf,
  previousRelease,
  stallsSince,
  warningsOf,
  wastedBetween,
} = require('./feature-figures')
const {
  proxiesBetween,
  schedulerBetween,
  threadPoolBetween,
  throttlingBetween,
  turnsBetween,
} = require('./process-figures')
const { NOTHING, routeBetween } = require('./reading')
const { waitingRequests } = require('./waiting-requests')

/**
 * @import { JsHistogram } from 'hdr-histogram-js'
 * @import { RollingHistogram } from '../../core/histogram/rolling'
 * @import { Recorder } from '../../core/request/recorder'
 * @import { Deps, Reading, RouteSums, UsualDurations } from './reading'
 * @import { UsualErrors } from './usual-errors'
 */

/** Quantiles take 70 µs per route, so only the routes with the most request time get them. */
const MAX_QUANTILES = 20

/**
 * @typedef {(ms: number) => number} ShareOf returns a time as a share of the time between the readings
 *
 * @typedef {object} RouteFigures
 * @property {string} method
 * @property {string} route
 * @property {boolean} [isLeftOut] whether `ignore.log` leaves out requests of it: it waits on purpose
 * @property {number} count
 * @property {number} errors 5xx, cut off or timed out
 * @property {number} aborted
 * @property {{ count: number, meanMs: number }} gaveUp aborted before an answer began
 * @property {number} answeredMs mean duration of the answered requests; NaN without any
 * @property {number} timeShare of the time of all requests
 * @property {number} meanMs
 * @property {number} firstByteMs mean, until the answer began; NaN if most requests were not answered
 * @property {number} leastWaitMs mean, until the answer began or a client gave up: a lower bound of the wait
 * @property {number | undefined} usualMs usual mean of the last hour; undefined before the first look
 * @property {{ count: number, errors: number }} before counts from the start of the process to the earlier
 *   reading
 * @property {{ release: string, count: number, errorRatio: number } | undefined} previous figures of the
 *   previous release
 * @property {{ count: number, elasticity: number, correlation: number }} load see core/request/load-slope.js
 * @property {{ p50Ms: number, p99Ms: number, maxMs: number } | undefined} quantiles
 * @property {number | undefined} loopShare share of the time for which the loop ran the route's handlers,
 *   until each first returned
 * @property {Record<string, number> | undefined} parts milliseconds of
 *   `queueMs runMs loopBusyMs gcMs waitMs bodyMs`
 * @property {number | undefined} unreadMs upper bound of the total time that the route's requests were unread
 *   in the kernel
 *
 * @typedef {object} Turns
 * @property {number} count
 * @property {number} share of the time
 * @property {number} requests requests that ended in these turns
 *
 * @typedef {{ verdict: 'unknown', confidence?: undefined } | { verdict: 'none' | 'growing',
 *   bytesPerSecond: number, confidence: number, windowSeconds: number, secondsToLimit: number | undefined }}
 *   Trend see core/process/heap-trend.js
 *
 * @typedef {object} Figures all shares are shares of the time, from 0 to 1, unless something else is named
 * @property {number} seconds between the two readings
 * @property {{ count: number, errors: number, inFlight: number }} requests without rejected requests
 * @property {RouteFigures[]} routes with a request in these seconds; the one with the most request time first
 * @property {Pick<RouteFigures, 'method' | 'route' | 'count' | 'errors' | 'before'>[]} events of sockets,
 *   with a message in these seconds
 * @property {{ utilization: number, longestMs: number, long: Turns, veryLong: Turns }} loop long: from 20 ms;
 *   veryLong: from 50 ms
 * @property {{ used: number, limit: number }} cpu in CPUs
 * @property {{ runShare: number, waitShare: number, foreignShare: number } | undefined} scheduler shares of
 *   the loop's thread: on a CPU, waiting for a CPU, and waiting while other processes ran
 * @property {{ periods: number, throttledPeriods: number, share: number } | undefined} throttling by the CPU
 *   limit of the container
 * @property {{ seconds: number, fullShare: number, waitMs: number, threads: number }} threadPool seconds:
 *   time observed; fullShare: share of this time with a wait of 50 ms or more; waitMs: mean of these waits
 * @property {{ looked: number, proxied: number, kept: number, idleCloses: number, unusedCloses: number,
 *   keptMs: number }} proxies counts of sampled requests, see proxied-connections.js. keptMs: how long their
 *   server keeps an idle connection; 0 for ever
 * @property {{ share: number, majorShare: number }} gc
 * @property {{ afterGcBytes: number | undefined, limitBytes: number, recent: readonly { atMs: number,
 *   bytes: number }[], trend: Trend }} heap
 * @property {{ limitBytes: number, rssBytes: number, externalBytes: number, externalTrend: Trend }} memory
 *   `externalBytes`: outside the heap
 * @property {{ mode: string, rejected: number, reasons: Record<string, number>, wouldReject: number,
 *   queued: number }} admission
 *   `reasons`: counts of rejected requests by reason. In mode `observe`, of those that would be rejected
 * @property {Overload | undefined} overload the time while requests were rejected; undefined without
 *   rejections
 * @property {import('./waiting-requests').Unanswered[]} unanswered requests that have been in flight for 30
 *   seconds or more
 * @property {ReturnType<typeof waitingRequests>['oldest']} oldest request without an answer, from five
 *   seconds on
 * @property {ReturnType<typeof waitingRequests>['clients']} clients
 * @property {{ method: string, route: string, durationMs: number }[]} gaveUp the slowest of the requests
 *   whose client disconnected before an answer began
 * @property {{ route: string, status: number, type: string, count: number, place: string | null }[]}
 *   errorKinds the most frequent first
 * @property {{ sites: StallFigures[] } | undefined} stalls of these seconds, the costliest first
 * @property {CallFigures[] | undefined} outgoing calls to other hosts, the costliest first
 * @property {{ lastMs: number, leastMs: number } | undefined} [cost] loop time per request: in the last ten
 *   seconds, and the least of all spans of ten seconds
 * @property {UseFigures[] | undefined} poolUses uses of pools that were given to `pool()`, the costliest
 *   first
 * @property {WasteFigures[] | undefined} [wasted] work for requests that nobody waited for any more
 * @property {import('./feature-figures').PoolFigures[]} [pools] pools that were given to `pool()`
 * @property {import('./feature-figures').Warnings | undefined} warnings of the process since its start
 *
 * @typedef {object} Overload the spans between two readings, at most ten seconds each, that had a rejection.
 *   Shares are shares of these spans.
 * @property {number} utilization of the loop
 * @property {{ method: string, route: string, loopShare: number }[]} routes the costliest first; empty if
 *   parts are not measured
 *
 * @typedef {object} WasteFigures
 * @property {string} method
 * @property {string} route
 * @property {number} requests whose work went on after their end
 * @property {number} loopMs without waits for a CPU
 * @property {number} poolMs time for which they held connections
 * @property {number} loopShare of the time
 * @property {number} connections mean number of connections that they held
 *
 * @typedef {object} StallFigures a site as in the snapshot, and `ms`, its cost in these seconds
 * @property {string} cause
 * @property {string | null} function
 * @property {string | null} file
 * @property {number | null} line
 * @property {string | null} method
 * @property {string | null} route
 * @property {string | null} origin
 * @property {string | null} call
 * @property {number | null} bodyBytes
 * @property {string | null} package
 * @property {readonly string[]} frames
 * @property {number} count since the start
 * @property {number} totalMs since the start
 * @property {number} ms
 *
 * @typedef {object} CallSums sums of calls, or of uses of a pool, by route
 * @property {string | null} method null if the request is not known
 * @property {string | null} route
 * @property {number} count
 * @property {number} totalMs
 * @property {number} [errors] calls that failed; undefined for uses of a pool
 * @property {number} [failedStatus] status of the last failed call; 0 without an answer
 * @property {number} awaited calls that ended before their request did
 * @property {number} awaitedMs lower bound of the time while requests had one of these calls in progress
 * @property {CallParts | undefined} [parts] of `totalMs`
 * @property {{ agent: number, sockets: number } | undefined} [waitedFor] id of the agent whose
 *   sockets calls waited for, and its limit of sockets: 0 if not known. undefined for several agents
 *
 * @typedef {{ waitMs: number, connections: number, lookupMs: number, connectMs: number,
 *   firstByteMs: number }} CallParts `waitMs`: the wait for a free socket; `connections`: connections that
 *   were opened for the calls
 *
 * @typedef {{ usualMs: number | undefined }} UsualCall usual mean of the last hour; undefined before the
 *   first look
 * @typedef {CallSums & UsualCall & { host: string, usualErrors?: number | undefined }} CallFigures
 *   `usualErrors`: usual share of failed calls; undefined before the first look
 * @typedef {CallSums & UsualCall & { pool: string, query?: string | undefined }} UseFigures
 *   `query`: kind of query, such as `find orders`; undefined for uses of connections
 */

/**
 * @param {Deps} deps
 * @param {{ readings: readonly Reading[], now: Reading, usual: UsualDurations,
 *   usualErrors?: UsualErrors, recent: readonly { atMs: number, bytes: number }[],
 *   cost?: Figures['cost'] }} given `readings`: the earlier readings, the oldest first
 * @returns {Figures}
 */
function figuresOf(deps, { cost, readings, now, usual, usualErrors, recent }) {
  const [earlier] = readings
  const { clock, recorder, requestLog, runtime } = deps
  const nowMs = clock.now()
  const elapsedMs = Math.max(1, now.atMs - earlier.atMs)
  /** @type {ShareOf} */
  const shareOf = (ms) => Math.min(1, Math.max(0, ms / elapsedMs))
  const memory = runtime.memory.sample()
  const previous = previousRelease(deps)
  const scheduler = schedulerBetween(earlier, now, shareOf)
  const routes = routesOf(recorder, { earlier, now, usual, shareOf, previous }, nowMs)
  return {
    seconds: elapsedMs / 1000,
    requests: {
      count: sumOf(routes, 'count'),
      errors: sumOf(routes, 'errors'),
      inFlight: recorder.requests.size,
    },
    routes,
    loop: {
      utilization: shareOf(now.loopActiveMs - earlier.loopActiveMs),
      longestMs: runtime.loopDelay.sample(nowMs).max * 1000,
      long: turnsBetween(earlier.longTurns.long, now.longTurns.long, shareOf),
      veryLong: turnsBetween(earlier.longTurns.veryLong, now.longTurns.veryLong, shareOf),
    },
    cpu: { used: (now.cpuMs - earlier.cpuMs) / elapsedMs, limit: cpuLimitOnce() },
    scheduler,
    throttling: throttlingBetween(earlier.throttling, now.throttling, shareOf),
    threadPool: threadPoolBetween(earlier.threadPool, now.threadPool),
    proxies: proxiesBetween(earlier.proxies, now.proxies),
    gc: {
      share: shareOf(now.gc.ms - earlier.gc.ms),
      majorShare: shareOf(now.gc.majorMs - earlier.gc.majorMs),
    },
    heap: {
      afterGcBytes: now.heapAfterBytes,
      limitBytes: memory.heapLimitBytes,
      recent,
      trend: /** @type {Trend} */ (runtime.heapTrend.sample(nowMs, memory.heapLimitBytes)),
    },
    memory: {
      limitBytes: memory.limitBytes,
      rssBytes: memory.rssBytes,
      externalBytes: memory.externalBytes,
      externalTrend: /** @type {Trend} */ (runtime.externalTrend.sample(nowMs, memory)),
    },
    admission: admissionOf(deps, earlier, now),
    overload: overloadIn(deps, [...readings, now]),
    ...waitingRequests(deps),
    gaveUp: requestLog.slow
      .sample(nowMs)
      .filter(
        ({ outcome, firstByteMs, endedMs }) =>
          outcome === 'aborted' && firstByteMs === null && endedMs > earlier.atMs
      )
      .map(({ method, route, durationMs }) => ({ method, route, durationMs })),
    events: eventsBetween(earlier.events, now.events),
    errorKinds: errorKinds(earlier, now),
    stalls: stallsSince(deps, earlier.stallTotals),
    outgoing: callsBetween(earlier.outgoing, now.outgoing, usual)?.map((call) => ({
      ...call,
      usualErrors: usualErrors?.of(call.key),
    })),
    wasted: wastedBetween(earlier, now, scheduler),
    poolUses: callsBetween(earlier.poolUses, now.poolUses, usual),
    cost,
    pools: poolsOf(deps, [...readings, now]),
    warnings: warningsOf(deps),
  }
}

/**
 * @param {Recorder} recorder
 * @param {{ earlier: Reading, now: Reading, usual: UsualDurations, shareOf: ShareOf,
 *   previous: ReturnType<typeof previousRelease> }} readings
 * @param {number} nowMs
 * @returns {RouteFigures[]}
 */
function routesOf({ timeParts, routes }, { earlier, now, usual, shareOf, previous }, nowMs) {
  const known = now.routes.length > 0 ? routes.series : []
  const counted = known
    .map((each, index) => ({ series: each, index, sum: routeBetween(earlier, now, index) }))
    .filter(({ sum }) => sum.count > 0)
    .sort((a, b) => b.sum.ms - a.sum.ms)
  const totalMs = counted.reduce((ms, { sum }) => ms + sum.ms, 0)
  const histogram = newHistogram(32)
  return counted.map(({ series, index, sum }, rank) => {
    const { method, route, latency, load } = series
    const { count, errors } = routeBetween(NOTHING, earlier, index)
    return {
      method,
      route,
      isLeftOut: series.isLeftOutOfLog,
      count: sum.count,
      errors: sum.errors,
      aborted: sum.aborted,
      gaveUp: {
        count: Math.min(sum.aborted, sum.unanswered),
        meanMs: sum.unanswered > 0 ? sum.unansweredMs / sum.unanswered : 0,
      },
      answeredMs: sum.firstBytes > 0 ? (sum.ms - sum.unansweredMs) / sum.firstBytes : Number.NaN,
      timeShare: totalMs > 0 ? sum.ms / totalMs : 0,
      meanMs: sum.ms / sum.count,
      firstByteMs: sum.firstBytes >= sum.count / 2 ? sum.firstByteMs / sum.firstBytes : Number.NaN,
      leastWaitMs: (sum.firstByteMs + sum.unansweredMs) / Math.max(1, sum.firstBytes + sum.unanswered),
      usualMs: usual.of(known[index]),
      before: { count: count || 0, errors: errors || 0 },
      previous: previous(method, route),
      load: load.sample(),
      quantiles: rank < MAX_QUANTILES ? quantilesIn(histogram, latency, nowMs) : undefined,
      ...(timeParts.isOn ? partsOf(sum, shareOf) : NO_PARTS),
    }
  })
}

/** @param {RouteSums} sums @param {ShareOf} shareOf */
const partsOf = ({ loopMs, parts, unreadMs }, shareOf) => ({ loopShare: shareOf(loopMs), parts, unreadMs })
const NO_PARTS = { loopShare: undefined, parts: undefined, unreadMs: undefined }

/** @param {JsHistogram} histogram @param {RollingHistogram} latency @param {number} nowMs */
function quantilesIn(histogram, latency, nowMs) {
  histogram.reset()
  latency.addLastMinute(histogram, nowMs)
  if (histogram.totalCount === 0) return undefined
  const [p50, p99] = quantilesOf(histogram, [0.5, 0.99])
  return { p50Ms: p50 / 1000, p99Ms: p99 / 1000, maxMs: histogram.maxValue / 1000 }
}

/** @param {Deps} deps @param {Reading} earlier @param {Reading} now */
function admissionOf({ admission }, earlier, now) {
  const { mode, queued } = admission.sample()
  const shed = countsBetween(earlier.shed, now.shed)
  const wouldShed = countsBetween(earlier.wouldShed, now.wouldShed)
  /** @param {Record<string, number>} counts */
  const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)
  return {
    mode,
    queued,
    reasons: mode === 'observe' ? wouldShed : shed,
    rejected: total(shed),
    wouldReject: total(wouldShed),
  }
}

/**
 * Looks only at spans with rejections, because the rest of the minute may be idle.
 *
 * @param {Deps} deps
 * @param {readonly Reading[]} readings
 * @returns {Overload | undefined}
 */
function overloadIn({ admission, recorder: { timeParts, routes } }, readings) {
  const key = admission.sample().mode === 'observe' ? 'wouldShed' : 'shed'
  const spans = readings
    .slice(1)
    .map((later, i) => ({ earlier: readings[i], later }))
    .filter(({ earlier, later }) => Object.keys(countsBetween(earlier[key], later[key])).length > 0)
  if (spans.length === 0) return undefined
  /** @param {(span: typeof spans[number]) => number} of */
  const sum = (of) => spans.reduce((total, span) => total + of(span), 0)
  const elapsedMs = Math.max(
    1,
    sum(({ earlier, later }) => later.atMs - earlier.atMs)
  )
  const utilization = Math.min(
    1,
    sum(({ earlier, later }) => later.loopActiveMs - earlier.loopActiveMs) / elapsedMs
  )
  const shown = timeParts.isOn ? routes.series : []
  return {
    utilization,
    routes: shown
      .map(({ method, route }, index) => {
        const loopMs = sum(({ earlier, later }) => routeBetween(earlier, later, index).loopMs || 0)
        // A request counts in the span of its end, although it may have run before. So the share is bounded.
        return { method, route, loopShare: Math.min(utilization, loopMs / elapsedMs) }
      })
      .filter(({ loopShare }) => loopShare > 0)
      .sort((a, b) => b.loopShare - a.loopShare),
  }
}

/** @param {Record<string, number>} earlier @param {Record<string, number>} later */
function countsBetween(earlier, later) {
  return Object.fromEntries(
    Object.entries(later)
      .map(([name, count]) => /** @type {[string, number]} */ ([name, count - (earlier[name] ?? 0)]))
      .filter(([, count]) => count > 0)
  )
}

/** @param {Reading} earlier @param {Reading} now */
function errorKinds(earlier, now) {
  return [...now.errors]
    .map(([row, count]) => ({ row, count: count - (earlier.errors.get(row) ?? 0) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .map(({ row: { route, status, type, place }, count }) => ({ route, status, type, count, place }))
}

/** @param {RouteFigures[]} rows @param {'count' | 'errors'} key */
const sumOf = (rows, key) => rows.reduce((sum, row) => sum + row[key], 0)

module.exports = { figuresOf }
