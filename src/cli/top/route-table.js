'use strict'
// The table of the routes of a service, and its sort orders.

const { percent, routeName } = require('../../core/readable')
const { ms, rate } = require('../figures')
const { mostly } = require('../snapshot-tables')
const { layOut } = require('../text-table')

/**
 * @import { RouteSnapshot } from '../../../index.js'
 * @import { Column, Look } from '../text-table'
 * @import { Feed, SnapshotRates } from './feed'
 * @typedef {{ route: RouteSnapshot, name: string, rates: ReturnType<SnapshotRates['of']> }} Row
 * @typedef {Column<Row> & { sort?: string, by?: (row: Row) => number }} RouteColumn
 *   sort: its name as a sort order; by: the value to sort by, highest first
 */

const least = 6

/** @type {readonly RouteColumn[]} */
const COLUMNS = [
  { head: 'ROUTE', isText: true, isFlexible: true, sort: 'route', of: ({ name }) => name },
  {
    head: 'REQ/S',
    least,
    sort: 'requests',
    by: ({ rates }) => rates.requests,
    of: ({ rates }) => rate(rates.requests),
  },
  {
    head: 'P50 MS',
    least,
    sort: 'p50',
    from: 56,
    by: (row) => row.route.lastMinute.p50Ms,
    of: (row) => ms(row.route.lastMinute.p50Ms),
  },
  {
    head: 'P95 MS',
    least,
    sort: 'p95',
    from: 100,
    by: (row) => row.route.lastMinute.p95Ms,
    of: (row) => ms(row.route.lastMinute.p95Ms),
  },
  {
    head: 'P99 MS',
    least,
    sort: 'p99',
    by: (row) => row.route.lastMinute.p99Ms,
    of: (row) => ms(row.route.lastMinute.p99Ms),
  },
  { head: 'MAX MS', least, from: 110, of: (row) => ms(row.route.lastMinute.maxMs) },
  {
    head: 'ERRORS',
    least,
    sort: 'errors',
    by: (row) => row.route.lastMinute.errorRatio,
    of: (row) => percent(row.route.lastMinute.errorRatio),
    style: (row) =>
      row.route.lastMinute.errorRatio >= 0.05
        ? 'red'
        : row.route.lastMinute.errorRatio > 0
          ? 'yellow'
          : undefined,
  },
  {
    head: 'SHED/S',
    least,
    sort: 'shed',
    from: 72,
    by: ({ rates }) => rates.shed ?? 0,
    of: ({ rates }) => rate(rates.shed),
    style: ({ rates }) => ((rates.shed ?? 0) > 0 ? 'yellow' : undefined),
  },
  {
    head: 'LOOP',
    least,
    sort: 'loop',
    from: 60,
    by: ({ rates }) => rates.loopMs ?? 0,
    of: ({ rates }) => percent(loopShare(rates)),
  },
  {
    head: 'MOSTLY',
    isText: true,
    least: 14,
    from: 116,
    of: ({ route }) => mostly(route.parts?.lastMinute ?? null),
  },
]

/** @param {Row['rates']} rates */
const loopShare = ({ loopMs }) => (loopMs === undefined ? undefined : loopMs / 1000)

/** The sort orders, in the sequence that the key cycles through. */
const SORTS = COLUMNS.flatMap(({ sort }) => (sort === undefined ? [] : [sort]))
const FIRST_SORT = 'requests'

/** @param {Feed} feed @param {string} sort @returns {Row[]} */
function sortedRows({ snapshot, rates }, sort) {
  const rows = snapshot.routes.map((route) => ({ route, name: routeName(route), rates: rates.of(route) }))
  const by = COLUMNS.find((column) => column.sort === sort)?.by
  /** @param {Row} a @param {Row} b */
  const byName = (a, b) => (a.name < b.name ? -1 : 1)
  if (by === undefined) return rows.sort(byName)
  // Routes without requests in the last minute all have quantiles of 0, so their total and name decide the
  // order.
  return rows.sort(
    (a, b) => by(b) - by(a) || b.route.sinceStart.count - a.route.sinceStart.count || byName(a, b)
  )
}

/**
 * @param {readonly Row[]} rows
 * @param {Look & { sort: string, width: number }} look
 */
function routeTable(rows, { sort, ...look }) {
  // The column of the sort order is shown on narrow terminals too.
  const columns = COLUMNS.map((column) =>
    column.sort === sort ? { ...column, head: `${column.head}*`, from: 0 } : column
  )
  return layOut(columns, rows, look)
}

module.exports = { FIRST_SORT, SORTS, routeTable, sortedRows }
