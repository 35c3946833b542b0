'use strict'
// Socket.IO and ws: connections and messages, and the events of the last minute.

const { make, setChildren } = require('./dom')
const { gridTable } = require('./facts')
const { bytes, count, duration, number, percent } = require('../../../core/readable')
const { Table } = require('./table')

/**
 * @import { SocketEventSnapshot, SocketsSnapshot } from '../../../../index.js'
 * @import { Section } from './main'
 */

/** @param {SocketEventSnapshot} event */
const failedOf = ({ outcomes: { completed, errored } }) =>
  completed + errored === 0 ? 0 : errored / (completed + errored)

/** @returns {Section} */
function socketsSection() {
  const connections = make('div', { class: 'details' })
  /** @type {Table<SocketEventSnapshot>} */
  const table = new Table({
    caption: 'Events of the last minute',
    columns: [
      { title: 'Event', isText: true, sort: ({ event }) => event, text: ({ event }) => event },
      {
        title: 'per second',
        sort: ({ lastMinute }) => lastMinute?.ratePerSecond ?? 0,
        text: ({ lastMinute }) => number(lastMinute?.ratePerSecond),
      },
      {
        title: 'p50',
        sort: ({ lastMinute }) => lastMinute?.p50Ms ?? 0,
        text: ({ lastMinute }) => duration(lastMinute?.p50Ms),
      },
      {
        title: 'p99',
        about: 'From receipt to the end of the listeners',
        sort: ({ lastMinute }) => lastMinute?.p99Ms ?? 0,
        text: ({ lastMinute }) => duration(lastMinute?.p99Ms),
      },
      {
        title: 'ack p99',
        about: 'From receipt to the acknowledgement',
        sort: ({ acks }) => acks?.lastMinute.p99Ms ?? 0,
        text: ({ acks }) => duration(acks?.lastMinute.p99Ms),
      },
      {
        title: 'failed total',
        about: 'Share of all messages since the start',
        sort: failedOf,
        fill: (cell, event) => {
          cell.textContent = percent(failedOf(event))
          cell.classList.toggle('bad', failedOf(event) >= 0.01)
        },
      },
    ],
    keyOf: ({ event }) => event,
    empty: 'No message yet. `spillway.sockets(io)` measures a server of Socket.IO or ws.',
    sortedBy: 1,
    most: 10,
  })
  return {
    id: 'sockets',
    title: 'Sockets',
    content: [connections, table.element],
    isEmpty: ({ snapshot: { sockets } }) =>
      sockets.connections.transports.length + sockets.events.length === 0,
    update({ snapshot: { sockets } }) {
      const made = sockets.connections.transports.length === 0 ? [] : connectionTables(sockets)
      setChildren(connections, made.map((node) => node.textContent).join('\n'), () => made)
      table.update(sockets.events)
    },
  }
}

/** @param {SocketsSnapshot} sockets */
function connectionTables({ connections: { transports, closed, refused }, messages }) {
  const why = [
    ...Object.entries(closed).map(([reason, times]) => [`closed: ${reason.replace('_', ' ')}`, count(times)]),
    ...Object.entries(refused).map(([reason, times]) => [`refused: ${reason}`, count(times)]),
  ]
  return [
    gridTable(
      'Connections',
      ['Transport', 'open', 'opened'],
      transports.map(({ transport, open, opened }) => [transport, count(open), count(opened)])
    ),
    gridTable(
      'Messages',
      ['', 'messages', 'bytes'],
      [
        ['received', count(messages.received), bytes(messages.receivedBytes)],
        ['sent', count(messages.sent), bytes(messages.sentBytes)],
      ]
    ),
    ...(why.length > 0 ? [gridTable('Ended', ['Why', 'connections'], why)] : []),
  ]
}

module.exports = { socketsSection }
