'use strict'
// The points of sockets: connections, messages, and events by name. None until `sockets()` is called.

const { Labels } = require('./labels')

const SENT = new Labels({ direction: 'sent' })
const RECEIVED = new Labels({ direction: 'received' })

/** Names of events, reasons and outcomes are bounded. */
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

const connections = ({ sockets }) =>
  sockets.transports.map(({ transport, open }) => ({ labels: labelsOf('transport', transport), value: open }))

const connectionsOpened = ({ sockets }) =>
  sockets.transports
    .filter(({ opened }) => opened > 0)
    .map(({ transport, opened }) => ({ labels: labelsOf('transport', transport), value: opened }))

const byReason = (list) => (captured) =>
  captured.sockets[list].map(({ reason, count }) => ({ labels: labelsOf('reason', reason), value: count }))

const byDirection = (received, sent) => (captured) => {
  const { isUsed, messages } = captured.sockets
  if (!isUsed) return []
  return [
    { labels: RECEIVED, value: messages[received] },
    { labels: SENT, value: messages[sent] },
  ]
}

const socketEvents = ({ sockets }) =>
  sockets.events.flatMap(({ name, outcomes }) =>
    outcomes.map(({ outcome, count }) => ({
      labels: labelsOf('event', name, 'outcome', outcome),
      value: count,
    }))
  )

const histogramOf = (row, table) =>
  function* (captured) {
    for (const event of captured.sockets.events) {
      if (event[row] === undefined) continue
      yield { labels: labelsOf('event', event.name), values: captured.sockets[table], row: event[row] }
    }
  }

module.exports = {
  connections,
  connectionsClosed: byReason('closed'),
  connectionsOpened,
  connectionsRefused: byReason('refused'),
  eventAcks: histogramOf('ackRow', 'acks'),
  eventDurations: histogramOf('durationRow', 'durations'),
  socketBytes: byDirection('receivedBytes', 'sentBytes'),
  socketEvents,
  socketMessages: byDirection('received', 'sent'),
}
