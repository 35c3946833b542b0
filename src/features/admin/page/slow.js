'use strict'
// The slowest requests of the last minutes with the parts of their time, and the requests that have been in
// flight the longest.

const { make } = require('./dom')
const { factTable } = require('./facts')
const { NONE, duration, routeName, timeOfDay } = require('../../../core/readable')
const { fillBar, makeLegend, makePartsTable } = require('./parts')
const { Table } = require('./table')

/**
 * @import { RequestInFlight, SlowRequest } from '../../../../index.js'
 * @import { Section } from './main'
 */

/** @returns {Section} */
function slowSection() {
  let longestMs = 1
  /** @type {Table<SlowRequest>} */
  const table = new Table({
    caption: 'The slowest requests of the last minutes',
    columns: [
      { title: 'Request', isText: true, name: routeName },
      { title: 'at', text: ({ at }) => timeOfDay(at) },
      {
        title: 'status',
        text: ({ status, outcome }) =>
          outcome === 'completed' ? String(status) : `${status ?? NONE} ${outcome}`,
      },
      { title: 'took', sort: ({ durationMs }) => durationMs, text: ({ durationMs }) => duration(durationMs) },
      {
        title: 'Parts',
        isText: true,
        fill: (cell, { durationMs, parts }) => {
          cell.classList.add('wide')
          fillBar(cell, parts, durationMs / longestMs)
        },
      },
      {
        title: 'Trace or request id',
        isText: true,
        text: ({ traceId, requestId }) => String(traceId ?? requestId ?? NONE),
      },
    ],
    keyOf: ({ at, method, route, durationMs, requestId }) =>
      `${at} ${method} ${route} ${durationMs} ${requestId}`,
    empty: 'No request has ended in the last minutes.',
    detail: makeDetail,
    sortedBy: 3,
  })
  return {
    id: 'slow',
    title: 'Slow requests',
    isWide: true,
    about: makeLegend(),
    content: [table.element],
    isEmpty: ({ snapshot }) => snapshot.slowest.length === 0,
    update({ snapshot: { slowest } }) {
      longestMs = Math.max(1, ...slowest.map(({ durationMs }) => durationMs))
      table.update(slowest)
    },
  }
}

/** @param {SlowRequest} request */
const makeDetail = ({ parts, unreadMs, proxyMs, firstByteMs, loopDelayMs, queueMs, traceId, requestId }) =>
  make(
    'div',
    { class: 'details' },
    parts === null ? null : makePartsTable(parts),
    factTable('More', [
      ['first byte', duration(firstByteMs)],
      ['in the queue', duration(queueMs)],
      ['longest loop turn in this time', duration(loopDelayMs)],
      ['waited unread in the socket, at most', duration(unreadMs)],
      ['in the proxy, before arrival', duration(proxyMs)],
      ['trace id', String(traceId ?? NONE)],
      ['request id', String(requestId ?? NONE)],
    ])
  )

/** @returns {Section} */
function oldestSection() {
  const table = new Table({
    caption: 'The requests that have been in flight the longest',
    columns: [
      { title: 'Request', isText: true, text: routeName },
      { title: 'State', isText: true, text: ({ state }) => state },
      { title: 'for', text: ({ ageMs }) => duration(ageMs) },
    ],
    keyOf: (/** @type {RequestInFlight & { position: number }} */ { position }) => String(position),
    empty: 'No request is in flight.',
  })
  return {
    id: 'oldest',
    title: 'In flight the longest',
    content: [table.element],
    isEmpty: ({ snapshot }) => snapshot.oldest.length === 0,
    update: ({ snapshot }) => table.update(snapshot.oldest.map((each, position) => ({ ...each, position }))),
  }
}

module.exports = { oldestSection, slowSection }
