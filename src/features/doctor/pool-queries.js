'use strict'
// The kind of query that takes most of a pool's time, with `queries: true`. If it is far slower than the
// other queries, it is the cause. The connections that it takes then do not count as the load of the pool.

const { queryName } = require('../../core/readable')

/**
 * @import { PoolFigures } from './feature-figures'
 * @typedef {object} LongestQuery
 * @property {string} name
 * @property {number} share of the time of all queries
 * @property {number} meanMs
 * @property {number} totalMs
 * @property {number | undefined} othersMs mean of the other queries; undefined without any
 * @property {boolean} isSlow
 */

const MOST = 0.5
/** A scan takes longer than a read by an index by more than this factor, except in small collections. */
const FAR_SLOWER = 5
/** For quicker queries an index gains little. */
const MIN_MS = 50
/** The limit if there are no other queries to compare with. Reads by an index take a few milliseconds. */
const MIN_ALONE_MS = 100

/** Kinds of pools that take `queries: true`. */
const WITH_QUERIES = new Set(['mongodb', 'mysql2', 'pg'])

/** Whether the pool would take `queries: true`, and is without it. @param {PoolFigures} pool */
const mayShowQueries = ({ kind, queries }) => queries === undefined && WITH_QUERIES.has(String(kind))

/** @param {PoolFigures} pool @returns {LongestQuery | undefined} */
function longestQuery({ queries: [first, ...others] = [], useMs }) {
  if (first === undefined) return undefined
  const { count, totalMs } = first
  const othersTotalMs = others.reduce((sum, each) => sum + each.totalMs, 0)
  const share = totalMs / (totalMs + othersTotalMs)
  if (!(share >= MOST)) return undefined
  const meanMs = totalMs / count
  const othersMs =
    others.length === 0 ? undefined : othersTotalMs / others.reduce((sum, each) => sum + each.count, 0)
  const isLong = meanMs >= (othersMs === undefined ? MIN_ALONE_MS : Math.max(MIN_MS, FAR_SLOWER * othersMs))
  return {
    name: queryName(first),
    share,
    meanMs,
    totalMs,
    othersMs,
    isSlow: isLong && totalMs >= MOST * useMs,
  }
}

module.exports = { longestQuery, mayShowQueries }
