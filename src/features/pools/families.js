'use strict'
// The metric families of the pools, by OpenTelemetry's names, and their points. Without a pool they have
// none. A pool that tells only how many connections it has gets no point in the families of times.

const { ADVISED_BOUNDS } = require('../../core/histogram/buckets')
const { conventional } = require('../../core/metrics/conventions')
const { Labels } = require('../../core/metrics/labels')
const { USE_ROW, WAIT_ROW } = require('./pool-values')

/**
 * @import { Family } from '../../core/metrics/family'
 * @import { PoolSample } from './pool-samples'
 */

/** @typedef {{ pools: readonly PoolSample[] }} Captured */

/** As many as an instance may have pools at a time, some times over: names may change while it runs. */
const MOST_KEPT = 100
/** @type {Map<string, Record<'pool' | 'used' | 'idle', Labels>>} */
const labelsOfPool = new Map()

/** @param {string} name */
function labelsOf(name) {
  const known = labelsOfPool.get(name)
  if (known !== undefined) return known
  const pair = { db_client_connection_pool_name: name }
  const labels = {
    pool: new Labels(pair),
    used: new Labels({ ...pair, db_client_connection_state: 'used' }),
    idle: new Labels({ ...pair, db_client_connection_state: 'idle' }),
  }
  if (labelsOfPool.size >= MOST_KEPT) labelsOfPool.clear()
  labelsOfPool.set(name, labels)
  return labels
}

/** @param {Captured} captured */
function* connections({ pools }) {
  for (const { name, used, idle } of pools) {
    yield { labels: labelsOf(name).used, value: used }
    yield { labels: labelsOf(name).idle, value: idle }
  }
}

/** @param {'max' | 'waiting' | 'timeouts'} key @param {(pool: PoolSample) => boolean} isShown */
const figure = (key, isShown) =>
  /** @param {Captured} captured */
  function* ({ pools }) {
    for (const each of pools) if (isShown(each)) yield { labels: labelsOf(each.name).pool, value: each[key] }
  }

/** @param {number} row */
const times = (row) =>
  /** @param {Captured} captured */
  function* ({ pools }) {
    for (const { name, isTimed, buckets } of pools)
      if (isTimed) yield { labels: labelsOf(name).pool, values: buckets, row }
  }

/** Kinds of queries of some pools, some times over. */
const MOST_QUERY_LABELS = 3000
/** @type {Map<string, Labels>} */
const labelsOfQuery = new Map()

/** @param {Record<string, string>} pairs those that are not known are empty */
function queryLabels(pairs) {
  const key = Object.values(pairs).join('\n')
  let labels = labelsOfQuery.get(key)
  if (labels === undefined) {
    if (labelsOfQuery.size >= MOST_QUERY_LABELS) labelsOfQuery.clear()
    labels = new Labels(Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== '')))
    labelsOfQuery.set(key, labels)
  }
  return labels
}

/** @param {Captured} captured */
function* queries({ pools }) {
  for (const { name, queries: asked } of pools) {
    if (asked === undefined) continue
    const { series, system, values } = asked
    for (const { operation, collection = '', error, row } of series) {
      const labels = queryLabels({
        db_system_name: system,
        db_client_connection_pool_name: name,
        db_operation_name: operation,
        db_collection_name: collection,
        error_type: error,
      })
      yield { labels, values, row }
    }
  }
}

/** @type {Family[]} */
const POOL_FAMILIES = [
  {
    ...conventional('db.client.connection.count'),
    across: 'sum',
    help: 'Connections of a pool, by state: used or idle.',
    points: connections,
  },
  {
    ...conventional('db.client.connection.limit'),
    across: 'sum',
    help: 'The most connections that a pool opens.',
    points: figure('max', ({ max }) => max > 0),
  },
  {
    ...conventional('db.client.connection.pending_requests'),
    across: 'sum',
    help: 'Callers that wait for a connection of a pool.',
    points: figure('waiting', () => true),
  },
  {
    ...conventional('db.client.connection.timeouts'),
    help: 'Callers that waited for a connection of a pool until they timed out.',
    points: figure('timeouts', ({ isTimed }) => isTimed),
  },
  {
    ...conventional('db.client.connection.wait_time'),
    bounds: ADVISED_BOUNDS,
    help: 'Time that callers waited for a connection of a pool.',
    points: times(WAIT_ROW),
  },
  {
    ...conventional('db.client.connection.use_time'),
    bounds: ADVISED_BOUNDS,
    help: 'Time from getting a connection of a pool to giving it back.',
    points: times(USE_ROW),
  },
  {
    name: 'db_client_operation_duration_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    convention: ['db.client.operation.duration', 's'],
    help: 'Duration of queries, by operation and table or collection; empty without `queries: true` of a pool.',
    points: queries,
  },
]

module.exports = { POOL_FAMILIES }
