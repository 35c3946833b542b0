'use strict'
// Tables of pools with their holders, and of sockets with their events.

const { NONE, count, duration, percent, routeName } = require('../../../core/readable')
const { atMost, coversOf, makeFacts, makeSection, makeTable } = require('./table')
const { html } = require('./markup')

/**
 * @import { Run } from './run'
 * @import { Times } from './times'
 */

/** @param {string} title */
const text = (title) => ({ title, isText: true })

/** @param {Run} run @param {Times} times */
function makePools(run, times) {
  const { pools } = run
  if (pools.length === 0) return null
  const rows = pools.map(({ name, kind, max, uses, waits, timeouts }) => [
    name,
    kind,
    max === null ? NONE : count(max),
    count(uses.count),
    duration(uses.meanMs),
    atMost(uses),
    duration(waits.meanMs),
    atMost(waits),
    count(timeouts),
  ])
  const heads = [
    text('Pool'),
    text('kind'),
    'connections',
    'uses',
    'use, mean',
    'longest',
    'wait, mean',
    'longest',
    'timeouts',
  ]
  const holders = pools.flatMap(({ name, holders: each }) =>
    each.map(({ method, route, count: uses, heldMs, share }) => [
      route === null ? 'not known, or in the background' : routeName({ method, route }),
      name,
      count(uses),
      duration(heldMs / uses),
      percent(share),
    ])
  )
  return makeSection(
    'pools',
    'Pools',
    coversOf(run, times)[run.eventsCover],
    makeTable({ caption: 'Pools of connections', heads, rows }),
    holders.length > 0 &&
      makeTable({
        caption: 'Held by',
        heads: [text('Route'), text('pool'), 'uses', 'mean', 'share of the time'],
        rows: holders,
        isSmall: true,
      })
  )
}

/** @param {Run} run @param {Times} times */
function makeSockets(run, times) {
  const { sockets, eventsAreRecent } = run
  const { open, opened, closed, refused, received, sent, events } = sockets
  if (open + opened + received + sent + refused.length === 0) return null
  const latencies = eventsAreRecent ? 'the last minute' : 'the time since the process started'
  const rows = events.map(({ event, count: messages, errored, shed, p50Ms, p99Ms, ackP99Ms }) => [
    event,
    count(messages),
    duration(p50Ms),
    duration(p99Ms),
    duration(ackP99Ms),
    percent(errored / messages),
    count(shed),
  ])
  return makeSection(
    'sockets',
    'Sockets',
    `${coversOf(run, times)[run.eventsCover]} Latencies of events are those of ${latencies}.`,
    html`<div class="beside">${makeFacts('Connections and messages', [
      ['open at the end', count(open)],
      ['opened', count(opened)],
      ...closed.map(({ reason, count: times }) => fact(`closed: ${reason.replaceAll('_', ' ')}`, times)),
      ...refused.map(({ reason, count: times }) => fact(`refused: ${reason}`, times)),
      ['messages received', count(received)],
      ['messages sent', count(sent)],
    ])}${
      events.length > 0 &&
      makeTable({
        caption: 'Events',
        heads: [text('Event'), 'messages', 'p50', 'p99', 'ack p99', 'failed', 'rejected'],
        rows,
      })
    }</div>`
  )
}

/** @param {string} name @param {number} times @returns {[name: string, value: string]} */
const fact = (name, times) => [name, count(times)]

module.exports = { makePools, makeSockets }
