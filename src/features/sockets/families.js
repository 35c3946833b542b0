'use strict'
// The metrics of sockets: connections, messages, and events by name.

const { ADVISED_BOUNDS } = require('../../core/histogram/buckets')
const { Labels } = require('../../core/metrics/labels')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { SocketsSample } from './sockets'
 */

const SENT = new Labels({ direction: 'sent' })
const RECEIVED = new Labels({ direction: 'received' })

/** Names of events, reasons and outcomes are bounded. @type {Map<string, Labels>} */
const known = new Map()

/** @param {...string} pairs names and values in turn */
function labelsOf(...pairs) {
  const key = pairs.join('\n')
  let labels = known.get(key)
  if (labels === undefined) {
    /** @type {Record<string, string>} */
    const of = {}
    for (let i = 0; i < pairs.length; i += 2) of[pairs[i]] = pairs[i + 1]
    known.set(key, (labels = new Labels(of)))
  }
  return labels
}

/** @param {SocketsSample} sample */
const connections = ({ transports }) =>
  transports.map(({ transport, open }) => ({ labels: labelsOf('transport', transport), value: open }))

/** @param {SocketsSample} sample */
const connectionsOpened = ({ transports }) =>
  transports
    .filter(({ opened }) => opened > 0)
    .map(({ transport, opened }) => ({ labels: labelsOf('transport', transport), value: opened }))

/** @param {'closed' | 'refused'} list */
const byReason = (list) => (/** @type {SocketsSample} */ sample) =>
  sample[list].map(({ reason, count }) => ({ labels: labelsOf('reason', reason), value: count }))

/** @param {'received' | 'receivedBytes'} received @param {'sent' | 'sentBytes'} sent */
const byDirection =
  (received, sent) =>
  (/** @type {SocketsSample} */ { isUsed, messages }) => {
    if (!isUsed) return []
    return [
      { labels: RECEIVED, value: messages[received] },
      { labels: SENT, value: messages[sent] },
    ]
  }

/** @param {SocketsSample} sample */
const socketEvents = ({ events }) =>
  events.flatMap(({ name, outcomes }) =>
    outcomes.map(({ outcome, count }) => ({
      labels: labelsOf('event', name, 'outcome', outcome),
      value: count,
    }))
  )

/** @param {'durationRow' | 'ackRow'} row @param {'durations' | 'acks'} table */
const histogramOf = (row, table) =>
  function* (/** @type {SocketsSample} */ sample) {
    for (const event of sample.events) {
      if (event[row] === undefined) continue
      yield { labels: labelsOf('event', event.name), values: sample[table], row: event[row] }
    }
  }

/** @type {FeatureFamily<SocketsSample>[]} */
const SOCKET_FAMILIES = [
  {
    name: 'spillway_socket_connections',
    type: 'gauge',
    help: 'Open connections of Socket.IO and ws, by transport.',
    across: 'sum',
    points: connections,
  },
  {
    name: 'spillway_socket_connections_opened_total',
    type: 'counter',
    help: 'Connections of Socket.IO and ws that were opened, by their first transport.',
    points: connectionsOpened,
  },
  {
    name: 'spillway_socket_connections_closed_total',
    type: 'counter',
    help: 'Connections of Socket.IO and ws that were closed, by reason.',
    points: byReason('closed'),
  },
  {
    name: 'spillway_socket_connections_refused_total',
    type: 'counter',
    help: 'Connections of Socket.IO and ws that were answered with 503, by reason.',
    points: byReason('refused'),
  },
  {
    name: 'spillway_socket_messages_total',
    type: 'counter',
    help: 'Messages of Socket.IO and ws, acknowledgements included, by direction.',
    points: byDirection('received', 'sent'),
  },
  {
    name: 'spillway_socket_message_bytes_total',
    type: 'counter',
    help: 'Bytes of the messages of Socket.IO and ws, without frames and compression, by direction.',
    points: byDirection('receivedBytes', 'sentBytes'),
  },
  {
    name: 'spillway_socket_events_total',
    type: 'counter',
    help: 'Messages received, by event and outcome: completed, errored, blocked by a middleware, shed.',
    points: socketEvents,
  },
  {
    name: 'spillway_socket_event_duration_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Time from the receipt of a message to the end of its listeners, by event.',
    points: histogramOf('durationRow', 'durations'),
  },
  {
    name: 'spillway_socket_event_ack_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Time from the receipt of a message to its acknowledgement, by event.',
    points: histogramOf('ackRow', 'acks'),
  },
]

module.exports = { SOCKET_FAMILIES }
