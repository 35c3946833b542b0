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
]

module.exports = { POOL_FAMILIES }
