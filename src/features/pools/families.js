'use strict'
// The metric families of the pools, by OpenTelemetry's names, and their points. Without a pool the families
// have no points. A pool whose adapter only sees the number of connections has no points in the families of
// times.

const { ADVISED_BOUNDS } = require('../../core/histogram/buckets')
const { conventional } = require('../../core/metrics/conventions')
const { Labels } = require('../../core/metrics/labels')
const { USE_ROW, WAIT_ROW } = require('./pool-values')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { PoolSample } from './pool-samples'
 */

/**
 * Bound of the cache. It is several times the most pools of an instance, because names may change while it
 * runs.
 */
const MAX_KEPT = 100
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
  if (labelsOfPool.size >= MAX_KEPT) labelsOfPool.clear()
  labelsOfPool.set(name, labels)
  return labels
}

/** @param {readonly PoolSample[]} pools */
function* connections(pools) {
  for (const { name, used, idle } of pools) {
    yield { labels: labelsOf(name).used, value: used }
    yield { labels: labelsOf(name).idle, value: idle }
  }
}

/** @param {'max' | 'waiting' | 'timeouts'} key @param {(pool: PoolSample) => boolean} isShown */
const figure = (key, isShown) =>
  /** @param {readonly PoolSample[]} pools */
  function* (pools) {
    for (const each of pools) if (isShown(each)) yield { labels: labelsOf(each.name).pool, value: each[key] }
  }

/** @param {number} row */
const times = (row) =>
  /** @param {readonly PoolSample[]} pools */
  function* (pools) {
    for (const { name, isTimed, buckets } of pools)
      if (isTimed) yield { labels: labelsOf(name).pool, values: buckets, row }
  }

/** Bound of the cache: several times the kinds of queries of some pools. */
const MAX_QUERY_LABELS = 3000
/** @type {Map<string, Labels>} */
const labelsOfQuery = new Map()

/** @param {Record<string, string>} pairs unknown values are empty texts */
function queryLabels(pairs) {
  const key = Object.values(pairs).join('\n')
  let labels = labelsOfQuery.get(key)
  if (labels === undefined) {
    if (labelsOfQuery.size >= MAX_QUERY_LABELS) labelsOfQuery.clear()
    labels = new Labels(Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== '')))
    labelsOfQuery.set(key, labels)
  }
  return labels
}

/** @param {readonly PoolSample[]} pools */
function* queries(pools) {
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

/** @type {FeatureFamily<readonly PoolSample[]>[]} */
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
    help: 'Maximum number of connections of a pool.',
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
    help: 'Duration of queries, by operation and table or collection. Empty unless a pool has `queries: true`.',
    points: queries,
  },
]

module.exports = { POOL_FAMILIES }
