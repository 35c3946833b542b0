'use strict'
// The limits of routes: how many requests run, wait, and were rejected.

const { NONE, count, duration } = require('../../../core/readable')
const { Table } = require('./table')

/**
 * @import { LimitSnapshot } from '../../../../index.js'
 * @import { Section } from './main'
 */

/** @returns {Section} */
function limitsSection() {
  /** @type {Table<LimitSnapshot>} */
  const table = new Table({
    caption: 'Limits of routes',
    columns: [
      { title: 'Limit', isText: true, sort: ({ name }) => name, name: ({ name }) => name },
      {
        title: 'running',
        sort: ({ running }) => running,
        text: ({ running, maxConcurrent }) => `${count(running)} of ${count(maxConcurrent)}`,
      },
      {
        title: 'waiting',
        sort: ({ queued }) => queued,
        fill: (cell, { queued, maxQueue }) => {
          cell.textContent = maxQueue === null ? count(queued) : `${count(queued)} of ${count(maxQueue)}`
          cell.classList.toggle('bad', queued > 0)
        },
      },
      { title: 'rejected', sort: ({ rejected }) => rejected, text: ({ rejected }) => count(rejected) },
      {
        title: 'would reject',
        about: 'Requests that would have been rejected, in mode observe',
        sort: ({ wouldReject }) => wouldReject,
        text: ({ wouldReject }) => count(wouldReject),
      },
      {
        title: 'held',
        about: 'Mean time that the latest requests occupied a slot',
        sort: ({ heldMs }) => heldMs,
        text: ({ heldMs }) => (heldMs === 0 ? NONE : duration(heldMs)),
      },
      { title: 'admitted', sort: ({ admitted }) => admitted, text: ({ admitted }) => count(admitted) },
      {
        title: 'disconnected',
        about: 'Clients that disconnected while their request waited',
        sort: ({ abandoned }) => abandoned,
        text: ({ abandoned }) => count(abandoned),
      },
    ],
    keyOf: ({ name }) => name,
    empty:
      "No route is limited. `spillway.limit({ name: 'report', maxConcurrent: 5 })` makes a middleware that limits one.",
    sortedBy: 2,
    most: 50,
  })
  return {
    id: 'limits',
    title: 'Limits',
    isWide: true,
    content: [table.element],
    isEmpty: ({ snapshot }) => snapshot.bulkheads.length === 0,
    update: ({ snapshot }) => table.update(snapshot.bulkheads),
  }
}

module.exports = { limitsSection }
