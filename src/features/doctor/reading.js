'use strict'
// One reading of everything that only counts up: the difference of two readings is what happened between
// them. A reading takes 0.2 ms, or 4 ms with a thousand routes. The hot path counts nothing extra for it.

const { countOf, sumOf } = require('../../core/histogram/buckets')
const { ABORTED, ERRORED, OUTCOMES, TIMED_OUT } = require('../../core/request/outcome')
const { NO_STATUS } = require('../../core/request/request-record')
const { LOOP, PART_COLUMNS, UNREAD, partsIn } = require('../../core/request/request-parts')
const { COUNTERS, FIRST_BYTE_COUNT, FIRST_BYTE_SUM } = require('../../core/request/route-series')
const { schedulerWait } = require('../../core/process/scheduler-wait')
const { stallTotals } = require('./feature-figures')

/**
 * @import { CollectionKind } from '../../../index.js'
 * @import { ConnectionEvents } from '../../core/http/connection-events'
 * @import { CpuThrottling } from './cpu-throttling'
 * @import { LongTurns } from './doctor'
 * @import { ProxiedConnections } from './proxied-connections'
 * @import { ThreadPoolWait } from './thread-pool-wait'
 * @import { Recorder } from '../../core/request/recorder'
 */

/**
 * The columns of `routes`, which has one row per series. The parts of the series' requests follow, in the
 * order of core/request/request-parts.js.
 */
const COLUMNS = Object.freeze({
  count: 0,
  errors: 1,
  aborted: 2,
  ms: 3,
  firstBytes: 4,
  firstByteMs: 5,
  // Requests without a status. Nearly all of them were aborted.
  unanswered: 6,
  unansweredMs: 7,
})
const FIRST_PART = Object.keys(COLUMNS).length
const WIDTH = FIRST_PART + PART_COLUMNS

/**
 * @typedef {ReturnType<typeof takeReading>} Reading
 * @typedef {ReturnType<typeof routeBetween>} RouteSums
 * @typedef {import('../../core/snapshot/snapshot').Deps & import('./feature-figures').OtherDeps
 *   & { entrance: { connectionEvents: ConnectionEvents } }} Deps
 */

/**
 * @param {Deps} deps
 * @param {{ cpuThrottling: CpuThrottling, longTurns: LongTurns, proxies: ProxiedConnections,
 *   threadPool: ThreadPoolWait, readScheduler?: typeof schedulerWait }} own what only the doctor measures
 */
function takeReading(deps, { cpuThrottling, longTurns, proxies, threadPool, readScheduler = schedulerWait }) {
  const { admission, clock, failures, recorder, runtime, startedFeatures } = deps
  const { shed, wouldShed } = admission.sample()
  return {
    atMs: clock.now(),
    ended: recorder.requests.ended,
    messages: startedFeatures.sockets?.connections.received ?? 0,
    events: startedFeatures.sockets?.events.totals() ?? new Map(),
    ...processOf(runtime),
    scheduler: readScheduler(),
    throttling: cpuThrottling.sample(),
    longTurns: longTurns.sample(),
    proxies: proxies.sample(),
    threadPool: threadPool.sample(),
    shed: countsByReason(shed),
    wouldShed: countsByReason(wouldShed),
    routes: routesOf(recorder),
    stallTotals: stallTotals(deps),
    pools: startedFeatures.pools?.samples.readings(),
    outgoing: startedFeatures.outgoing?.totals(),
    wasted: startedFeatures.waste?.sample(),
    poolUses: startedFeatures.pools?.samples.totals(),
    errors: new Map(failures.table.sample().map(({ row, count }) => [row, count])),
  }
}

/** @param {Deps['runtime']} runtime */
function processOf({ collections, utilization }) {
  const { loopActiveSeconds, cpuUserSeconds, cpuSystemSeconds } = utilization.sample()
  const { kinds, buckets, bounds, heapAfterBytes } = collections.sample()
  /** @param {CollectionKind} kind */
  const msOf = (kind) => sumOf(buckets, kinds.indexOf(kind), bounds) * 1000
  const ms = kinds.map(msOf)
  return {
    loopActiveMs: loopActiveSeconds * 1000,
    cpuMs: (cpuUserSeconds + cpuSystemSeconds) * 1000,
    gc: { ms: ms.reduce((sum, each) => sum + each, 0), majorMs: msOf('major') + msOf('incremental') },
    heapAfterBytes,
  }
}

/** @param {readonly { reason: string, count: number }[]} rows */
function countsByReason(rows) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const { reason, count } of rows) counts[reason] = (counts[reason] ?? 0) + count
  return counts
}

/** @param {Recorder} recorder */
function routesOf({ timeParts, routes: { bounds, series, tables } }) {
  const { values: counters } = tables.counters
  const durations = tables.durations.copy()
  const partRows = timeParts.copy()
  const rows = new Float64Array(series.length * WIDTH)
  for (let i = 0; i < series.length; i++) {
    const start = series[i].row * COUNTERS
    const at = i * WIDTH
    for (let outcome = 0; outcome < OUTCOMES.length; outcome++)
      rows[at + COLUMNS.count] += counters[start + outcome]
    rows[at + COLUMNS.errors] = counters[start + ERRORED] + counters[start + TIMED_OUT]
    rows[at + COLUMNS.aborted] = counters[start + ABORTED]
    for (const { row, status } of series[i].statuses) {
      if (row === undefined) continue
      const ms = sumOf(durations, row, bounds) * 1000
      rows[at + COLUMNS.ms] += ms
      if (status !== NO_STATUS) continue
      rows[at + COLUMNS.unanswered] += countOf(durations, row, bounds)
      rows[at + COLUMNS.unansweredMs] += ms
    }
    rows[at + COLUMNS.firstBytes] = counters[start + FIRST_BYTE_COUNT]
    rows[at + COLUMNS.firstByteMs] = counters[start + FIRST_BYTE_SUM] * 1000
    const { partsRow } = series[i]
    if (partsRow === undefined) continue
    const firstPart = partsRow * PART_COLUMNS
    rows.set(partRows.subarray(firstPart, firstPart + PART_COLUMNS), at + FIRST_PART)
  }
  return rows
}

/**
 * Returns the differences of one series between two readings. The earlier reading may lack the series.
 *
 * @param {Pick<Reading, 'routes'>} earlier @param {Pick<Reading, 'routes'>} later @param {number} index
 */
function routeBetween(earlier, later, index) {
  /** @param {number} column */
  const between = (column) => {
    const cell = index * WIDTH + column
    return later.routes[cell] - (earlier.routes[cell] ?? 0)
  }
  /** @param {keyof typeof COLUMNS} name */
  const at = (name) => between(COLUMNS[name])
  /** @param {number} part */
  const partAt = (part) => between(FIRST_PART + part)
  return {
    count: at('count'),
    errors: at('errors'),
    aborted: at('aborted'),
    ms: at('ms'),
    firstBytes: at('firstBytes'),
    firstByteMs: at('firstByteMs'),
    unanswered: at('unanswered'),
    unansweredMs: at('unansweredMs'),
    parts: partsIn(partAt),
    unreadMs: partAt(UNREAD),
    loopMs: partAt(LOOP),
  }
}

/** An empty reading, from before anything was counted. */
const NOTHING = Object.freeze({ routes: new Float64Array(0) })

/** Number of looks in an hour. */
const LOOKS = 360
/** A route that takes this many times as long counts as slower, as in slow-dependency.js. */
const MUCH = 3
const FEWEST = 5

/**
 * The usual duration of a route: a mean over the looks of about the last hour. While a route is much slower,
 * its usual duration changes only slowly. So a fault of half an hour does not become usual.
 */
class UsualDurations {
  /**
   * By series or row. The mean is of logarithms, so that one slow look does not outweigh many.
   *
   * @type {WeakMap<object, { looks: number, log: number }>}
   */
  #usual = new WeakMap()

  /**
   * Records the mean duration between two readings.
   *
   * @param {object} key
   * @param {number} count
   * @param {number} meanMs
   */
  onLook(key, count, meanMs) {
    if (count < FEWEST || !(meanMs > 0)) return
    const usual = this.#usual.get(key) ?? { looks: 0, log: 0 }
    this.#usual.set(key, usual)
    const step = Math.log(meanMs) - usual.log
    if (usual.looks > 0 && step > Math.log(MUCH)) usual.log += step / LOOKS
    else usual.log += step / Math.min(++usual.looks, LOOKS)
  }

  /** @param {object} key @returns {number | undefined} milliseconds; undefined before the first look */
  of(key) {
    const usual = this.#usual.get(key)
    return usual === undefined || usual.looks === 0 ? undefined : Math.exp(usual.log)
  }
}

exports.MUCH = MUCH
exports.NOTHING = NOTHING
exports.UsualDurations = UsualDurations
exports.routeBetween = routeBetween
exports.takeReading = takeReading
