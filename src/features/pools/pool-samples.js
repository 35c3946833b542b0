'use strict'
// The figures of all pools as their readers need them: points for metrics, a list for the snapshot, and
// counters for the doctor.

const { quantilesOf } = require('../../core/histogram/quantiles')
const { queryName } = require('../../core/readable')

/**
 * @import { RollingHistogram } from '../../core/histogram/rolling'
 * @import { PoolRecord } from './pool-record'
 */

/** @typedef {ReturnType<PoolSamples['sample']>[number]} PoolSample */

/** How many connections are listed. The connections that are held longest come first. */
const MAX_HELD = 10
const MAX_ROUTES = 20
const MINUTE_MS = 60_000

class PoolSamples {
  #records
  #clock

  /** @param {Map<string, PoolRecord>} records @param {import('../../core/clock').Clock} clock */
  constructor(records, clock) {
    this.#records = records
    this.#clock = clock
  }

  /** For metrics. */
  sample() {
    return [...this.#records.values()].map((record) => ({
      name: record.name,
      isTimed: record.isTimed,
      timeouts: record.timeouts,
      buckets: record.buckets.copy(),
      queries: record.queries?.sample(),
      ...record.figures(),
    }))
  }

  /** @returns {import('../../../index.js').PoolSnapshot[]} */
  list() {
    const nowMs = this.#clock.now()
    return [...this.#records.values()].map((record) => {
      const { used, idle, waiting, max } = record.figures()
      return {
        name: record.name,
        kind: record.kind,
        used,
        idle,
        waiting,
        max: max > 0 ? max : null,
        expectedWaitMs:
          record.isTimed && max > 0 && record.pressure.meanUseMs > 0 ? record.pressure.expectedWaitMs : null,
        maxWaitMs:
          record.pressure.isEnforced && record.isTimed ? record.pressure.toleratedNowMs(nowMs) : null,
        timeouts: record.timeouts,
        wait: timesOf(record.waits, nowMs),
        use: timesOf(record.uses, nowMs),
        holders: record.routes.list(nowMs).slice(0, MAX_ROUTES),
        longestHeld: record
          .heldNow(nowMs)
          .sort((a, b) => b.ageMs - a.ageMs)
          .slice(0, MAX_HELD),
        queries: record.queries?.list(nowMs) ?? [],
      }
    })
  }

  /** For the doctor: everything that only counts up, by name. */
  readings() {
    const nowMs = this.#clock.now()
    return new Map(
      [...this.#records.values()].map((record) => [
        record.name,
        {
          asks: record.asks,
          uses: record.uses.totals.count,
          waitMs: record.waitedMs(nowMs),
          useMs: record.useMs,
          contendedMs: record.contendedMs(nowMs),
          timeouts: record.timeouts,
          queries: record.queries?.totals(),
        },
      ])
    )
  }

  /**
   * For the doctor: everything that only counts up, by pool, kind of query and route. A key is the same
   * object in each call.
   */
  totals() {
    return new Map(
      [...this.#records.values()].flatMap(({ name, queries, routes }) => [
        ...routes.all.map((use) => /** @type {const} */ ([use, totalsOf(use, name, undefined)])),
        ...(queries?.all ?? []).flatMap(({ operation, collection, routes: { all } }) =>
          all.map(
            (use) => /** @type {const} */ ([use, totalsOf(use, name, queryName({ operation, collection }))])
          )
        ),
      ])
    )
  }

  /** For the doctor: the state of a pool. @param {string} name */
  stateOf(name) {
    const record = this.#records.get(name)
    if (record === undefined) return undefined
    const nowMs = this.#clock.now()
    const { max, waiting, used } = record.figures()
    const held = record.heldNow(nowMs)
    return {
      kind: record.kind,
      isTimed: record.isTimed,
      max,
      waiting,
      used,
      held: { count: held.length, longestMs: Math.max(0, ...held.map(({ ageMs }) => ageMs)) },
      load: record.load.sample(),
      asksPerRequest: record.routes.asksPerRequest,
      holders: holdersOf(record, held, nowMs),
    }
  }

  /** Ends a slice of the regression of every pool. See core/request/load-slope.js. */
  endSlices() {
    for (const { load } of this.#records.values()) load.endSlice()
  }
}

/**
 * @param {import('./route-uses').RouteUse} use @param {string} pool
 * @param {string | undefined} query kind of query; undefined for uses of connections
 */
function totalsOf({ method, route, held, awaited, awaitedMs }, pool, query) {
  const { count, totalMs } = held.sinceStart()
  return { pool, query, method, route, count, totalMs, awaited, awaitedMs }
}

/**
 * Returns the routes that held connections longest in the last minute. Connections held now count too,
 * because a route that never releases one has no finished use.
 *
 * @param {PoolRecord} record @param {ReturnType<PoolRecord['heldNow']>} held @param {number} nowMs
 */
function holdersOf({ routes }, held, nowMs) {
  const ended = routes
    .list(nowMs)
    .map(({ method, route, lastMinute }) => ({ method, route, heldMs: lastMinute.heldMs }))
  const now = held.map(({ method, route, ageMs }) => ({ method, route, heldMs: Math.min(ageMs, MINUTE_MS) }))
  /** @type {Map<string, typeof now[number]>} */
  const sums = new Map()
  for (const each of [...ended, ...now]) {
    const key = `${each.method} ${each.route}`
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, each)
    else sum.heldMs += each.heldMs
  }
  return [...sums.values()].sort((a, b) => b.heldMs - a.heldMs)
}

/** @param {RollingHistogram} rolling @param {number} nowMs */
const timesOf = (rolling, nowMs) => ({
  lastMinute: summaryOf(rolling.lastMinute(nowMs)),
  sinceStart: summaryOf(rolling.sinceStart(nowMs)),
})

/** @param {ReturnType<RollingHistogram['lastMinute']>} span */
function summaryOf({ count, histogram }) {
  if (count === 0) return { count, meanMs: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 }
  const [p50Ms, p99Ms] = quantilesOf(histogram, [0.5, 0.99]).map((us) => us / 1000)
  return { count, meanMs: histogram.mean / 1000, p50Ms, p99Ms, maxMs: histogram.maxValue / 1000 }
}

exports.PoolSamples = PoolSamples
