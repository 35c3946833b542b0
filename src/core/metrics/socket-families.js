'use strict'
// The metric families of sockets: see families.js.

const { ADVISED_BOUNDS } = require('../histogram/buckets')
const {
  connections,
  connectionsClosed,
  connectionsOpened,
  connectionsRefused,
  eventAcks,
  eventDurations,
  socketBytes,
  socketEvents,
  socketMessages,
} = require('./socket-points')

/** @type {import('./points').Family[]} */
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
    points: connectionsClosed,
  },
  {
    name: 'spillway_socket_connections_refused_total',
    type: 'counter',
    help: 'Connections of Socket.IO and ws that were answered with 503, by reason.',
    points: connectionsRefused,
  },
  {
    name: 'spillway_socket_messages_total',
    type: 'counter',
    help: 'Messages of Socket.IO and ws, acknowledgements included, by direction.',
    points: socketMessages,
  },
  {
    name: 'spillway_socket_message_bytes_total',
    type: 'counter',
    help: 'Bytes of those messages, without frames and compression, by direction.',
    points: socketBytes,
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
    points: eventDurations,
  },
  {
    name: 'spillway_socket_event_ack_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Time from the receipt of a message to its acknowledgement, by event.',
    points: eventAcks,
  },
]

module.exports = { SOCKET_FAMILIES }
