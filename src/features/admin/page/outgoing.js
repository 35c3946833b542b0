'use strict'
// Calls to other servers, by host and by the route that made the call.

const { make } = require('./dom')
const { factTable, gridTable } = require('./facts')
const { CALL_PARTS, count, duration, mostOfCalls, percent, routeName } = require('../../../core/readable')
const { Table } = require('./table')

/**
 * @import { OutgoingCallSums, OutgoingHost, OutgoingHostSums, OutgoingRoute } from '../../../../index.js'
 * @import { Section } from './main'
 */

/** @param {OutgoingCallSums} calls */
const meanOf = ({ count: calls, totalMs }) => (calls === 0 ? Number.NaN : totalMs / calls)
/** @param {OutgoingCallSums} calls */
const failedOf = ({ count: calls, errors }) => (calls === 0 ? 0 : errors / calls)
const HEADS = ['Asked by', 'calls', 'mean', 'longest', 'failed']

/** @returns {Section} */
function outgoingSection() {
  /** @type {Table<OutgoingHost>} */
  const table = new Table({
    caption: 'Outgoing calls of the last minute, by host',
    columns: [
      { title: 'Host', isText: true, sort: ({ host }) => host, name: ({ host }) => host },
      {
        title: 'calls',
        sort: ({ lastMinute }) => lastMinute.count,
        text: ({ lastMinute }) => count(lastMinute.count),
      },
      {
        title: 'mean',
        sort: ({ lastMinute }) => meanOf(lastMinute) || 0,
        text: ({ lastMinute }) => duration(meanOf(lastMinute)),
      },
      {
        title: 'longest',
        sort: ({ lastMinute }) => lastMinute.maxMs,
        text: ({ lastMinute }) => duration(lastMinute.maxMs),
      },
      {
        title: 'in sum',
        sort: ({ lastMinute }) => lastMinute.totalMs,
        text: ({ lastMinute }) => duration(lastMinute.totalMs),
      },
      {
        title: 'mostly',
        about: 'The largest part of the time of the calls',
        isText: true,
        // Non-breaking spaces keep the text in one line.
        text: ({ lastMinute }) => mostOfCalls(lastMinute).replaceAll(' ', '\u00a0'),
      },
      {
        title: 'failed',
        sort: ({ lastMinute }) => failedOf(lastMinute),
        fill: (cell, { lastMinute }) => {
          cell.textContent = percent(failedOf(lastMinute))
          cell.classList.toggle('bad', failedOf(lastMinute) >= 0.01)
        },
      },
    ],
    keyOf: ({ host }) => host,
    empty: 'No call yet. Calls by fetch, undici and node:http are measured automatically.',
    detail: makeDetail,
    sortedBy: 4,
    most: 10,
  })
  return {
    id: 'outgoing',
    title: 'Outgoing calls',
    content: [table.element],
    isEmpty: ({ snapshot }) => snapshot.outgoing.hosts.length === 0,
    update: ({ snapshot }) => table.update(snapshot.outgoing.hosts),
  }
}

/** @param {OutgoingHost} host */
const makeDetail = ({ lastMinute, routes }) =>
  make(
    'div',
    { class: 'details' },
    gridTable('By route', HEADS, routes.map(rowOf)),
    factTable('Mean of a call', [
      ...CALL_PARTS.map(
        ([key, name]) =>
          /** @type {[string, string]} */ ([name, duration(lastMinute[key] / lastMinute.count)])
      ),
      ['other: waiting for a pool, and bodies', duration(otherOf(lastMinute) / lastMinute.count)],
      ['calls that opened a connection', percent(lastMinute.connections / lastMinute.count)],
    ])
  )

/** @param {OutgoingHostSums} sums */
const otherOf = ({ connectMs, firstByteMs, lookupMs, totalMs }) =>
  Math.max(0, totalMs - lookupMs - connectMs - firstByteMs)

/** @param {OutgoingRoute} route */
const rowOf = ({ method, route, lastMinute }) => [
  route === null ? 'not known, or in the background' : routeName({ method, route }),
  count(lastMinute.count),
  duration(meanOf(lastMinute)),
  duration(lastMinute.maxMs),
  percent(failedOf(lastMinute)),
]

module.exports = { outgoingSection }
