'use strict'
// The connection pools, and which routes hold their connections.

const { make } = require('./dom')
const { gridTable } = require('./facts')
const { NONE, count, duration, percent, queryName, routeName } = require('../../../core/readable')
const { Table } = require('./table')

/**
 * @import { PoolHolder, PoolSnapshot, QueryFigures } from '../../../../index.js'
 * @import { Section } from './main'
 */

const HEADS = ['Held by', 'uses', 'mean', 'longest', 'share']
const QUERY_HEADS = ['Query', 'count', 'mean', 'longest', 'mostly for route']

/** @returns {Section} */
function poolsSection() {
  /** @type {Table<PoolSnapshot>} */
  const table = new Table({
    caption: 'Pools of connections',
    columns: [
      { title: 'Pool', isText: true, sort: ({ name }) => name, name: ({ name }) => name },
      { title: 'Kind', isText: true, text: ({ kind }) => kind },
      {
        title: 'in use',
        sort: ({ used }) => used,
        text: ({ used, max }) => (max === null ? count(used) : `${count(used)} of ${count(max)}`),
      },
      { title: 'idle', sort: ({ idle }) => idle, text: ({ idle }) => count(idle) },
      {
        title: 'waiting',
        sort: ({ waiting }) => waiting,
        fill: (cell, { waiting }) => {
          cell.textContent = count(waiting)
          cell.classList.toggle('bad', waiting > 0)
        },
      },
      {
        title: 'wait p99',
        about: 'How long callers waited for a connection in the last minute',
        sort: ({ wait }) => wait.lastMinute.p99Ms,
        text: ({ wait: { lastMinute } }) => (lastMinute.count > 0 ? duration(lastMinute.p99Ms) : NONE),
      },
      {
        title: 'use mean',
        about: 'From getting a connection to giving it back, in the last minute',
        sort: ({ use }) => use.lastMinute.meanMs,
        text: ({ use: { lastMinute } }) => (lastMinute.count > 0 ? duration(lastMinute.meanMs) : NONE),
      },
      {
        title: 'timeouts total',
        about: 'Callers that timed out since the start',
        sort: ({ timeouts }) => timeouts,
        text: ({ timeouts }) => count(timeouts),
      },
    ],
    keyOf: ({ name }) => name,
    empty: "No pool is observed. `spillway.pool('orders', pool)` adds one.",
    detail: ({ holders, queries }) => {
      const total = holders.reduce((sum, { lastMinute }) => sum + lastMinute.heldMs, 0)
      const byRoute = gridTable(
        'By route, in the last minute',
        HEADS,
        holders.map((each) => rowOf(each, total))
      )
      if (queries.length === 0) return byRoute
      const byKind = gridTable('Queries, in the last minute', QUERY_HEADS, queries.map(queryRow))
      return make('div', null, byRoute, byKind)
    },
    sortedBy: 4,
    most: 20,
  })
  return {
    id: 'pools',
    title: 'Pools',
    isWide: true,
    content: [table.element],
    isEmpty: ({ snapshot }) => snapshot.pools.length === 0,
    update: ({ snapshot }) => table.update(snapshot.pools),
  }
}

/** @param {QueryFigures} query */
const queryRow = ({ operation, collection, lastMinute, routes: [first] }) => [
  queryName({ operation, collection }),
  count(lastMinute.count),
  duration(lastMinute.count === 0 ? Number.NaN : lastMinute.meanMs),
  duration(lastMinute.maxMs),
  first === undefined || first.route === null ? NONE : routeName(first),
]

/** @param {PoolHolder} holder @param {number} total */
const rowOf = ({ method, route, lastMinute }, total) => [
  route === null ? 'not known, or in the background' : routeName({ method, route }),
  count(lastMinute.count),
  duration(lastMinute.count === 0 ? Number.NaN : lastMinute.heldMs / lastMinute.count),
  duration(lastMinute.maxMs),
  percent(total === 0 ? 0 : lastMinute.heldMs / total),
]

module.exports = { poolsSection }
