'use strict'
// The section `sockets` of a snapshot.

const { summaryOf } = require('../../core/snapshot/snapshot')

/**
 * @import { SocketsSnapshot } from '../../../index.js'
 * @import { SocketsSample } from './sockets'
 */

/**
 * @param {SocketsSample} captured
 * @param {number} nowMs
 * @returns {SocketsSnapshot}
 */
function socketsSection({ transports, closed, refused, held, room, messages, events, folded }, nowMs) {
  return {
    connections: {
      open: transports.reduce((sum, { open }) => sum + open, 0),
      opened: transports.reduce((sum, { opened }) => sum + opened, 0),
      transports,
      closed: /** @type {SocketsSnapshot['connections']['closed']} */ (countsIn(closed)),
      refused: countsIn(refused),
      held,
      room,
    },
    messages,
    events: events
      .map(({ name, outcomes, latency, ackLatency }) => ({
        event: name,
        outcomes: {
          completed: 0,
          errored: 0,
          blocked: 0,
          shed: 0,
          ...Object.fromEntries(outcomes.map(({ outcome, count }) => [outcome, count])),
        },
        lastMinute: latency === undefined ? null : summaryOf(latency.lastMinute(nowMs)),
        sinceStart: latency === undefined ? null : summaryOf(latency.sinceStart(nowMs)),
        acks:
          ackLatency === undefined
            ? null
            : {
                lastMinute: summaryOf(ackLatency.lastMinute(nowMs)),
                sinceStart: summaryOf(ackLatency.sinceStart(nowMs)),
              },
      }))
      .sort((a, b) => (b.sinceStart?.count ?? 0) - (a.sinceStart?.count ?? 0)),
    folded,
  }
}

/** @param {readonly { reason: string, count: number }[]} list */
const countsIn = (list) => Object.fromEntries(list.map(({ reason, count }) => [reason, count]))

module.exports = { socketsSection }
