'use strict'
// The pools and the sockets of a run. Counts are those of the run where its start is known, else since the start of the process. Latencies
// of events are those of the last minute: histograms of the time before the run cannot be taken off.

const MOST_EVENTS = 25
const MOST_HOLDERS = 5

/** @import { PoolSnapshot, PoolTimesSummary, Snapshot, SocketEventSnapshot } from '../../../index.js' */

/** @param {import('./run-requests').Totals} totals */
function describeServices({ start, end, isNow }) {
  const before = start === 'process' ? undefined : start?.snapshot
  const isRecent = isNow && start !== 'process'
  return {
    pools: end.snapshot.pools.map((pool) =>
      poolOf(
        pool,
        before?.pools.find(({ name }) => name === pool.name)
      )
    ),
    sockets: socketsOf(end.snapshot.sockets, before?.sockets, isRecent ? 'lastMinute' : 'sinceStart'),
    eventsAreRecent: isRecent,
  }
}

/** @param {PoolSnapshot} pool @param {PoolSnapshot | undefined} before */
function poolOf({ name, kind, max, wait, use, timeouts, holders }, before) {
  return {
    name,
    kind,
    max,
    uses: timesOf(use.sinceStart, before?.use.sinceStart),
    waits: timesOf(wait.sinceStart, before?.wait.sinceStart),
    timeouts: timeouts - (before?.timeouts ?? 0),
    holders: holders
      .map(({ method, route, sinceStart }) => {
        const earlier = before?.holders.find((each) => each.method === method && each.route === route)
        return {
          method,
          route,
          count: sinceStart.count - (earlier?.sinceStart.count ?? 0),
          heldMs: sinceStart.heldMs - (earlier?.sinceStart.heldMs ?? 0),
        }
      })
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.heldMs - a.heldMs)
      .slice(0, MOST_HOLDERS),
  }
}

/** @param {PoolTimesSummary} all @param {PoolTimesSummary} [before] */
function timesOf(all, before) {
  const count = all.count - (before?.count ?? 0)
  const totalMs = all.count * all.meanMs - (before === undefined ? 0 : before.count * before.meanMs)
  return {
    count,
    meanMs: count > 0 ? Math.max(0, totalMs) / count : 0,
    maxMs: all.maxMs,
    // A longest one of before the run may hide a shorter one in it.
    isMostAtMost: before !== undefined && before.count > 0 && all.maxMs <= before.maxMs,
  }
}

/** @param {Snapshot['sockets']} sockets @param {Snapshot['sockets'] | undefined} before @param {'lastMinute' | 'sinceStart'} span */
function socketsOf({ connections, messages, events }, before, span) {
  const earlier = before?.connections
  return {
    open: connections.open,
    opened: connections.opened - (earlier?.opened ?? 0),
    closed: countsOf(connections.closed, earlier?.closed),
    refused: countsOf(connections.refused, earlier?.refused),
    received: messages.received - (before?.messages.received ?? 0),
    sent: messages.sent - (before?.messages.sent ?? 0),
    events: events
      .map((each) =>
        eventOf(
          each,
          before?.events.find(({ event }) => event === each.event),
          span
        )
      )
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
      .slice(0, MOST_EVENTS),
  }
}

/** @param {Record<string, number>} counts @param {Record<string, number>} [before] */
const countsOf = (counts, before = {}) =>
  Object.entries(counts)
    .map(([reason, count]) => ({
      reason,
      count: count - (Object.hasOwn(before, reason) ? before[reason] : 0),
    }))
    .filter(({ count }) => count > 0)

/** @param {SocketEventSnapshot} event @param {SocketEventSnapshot | undefined} before @param {'lastMinute' | 'sinceStart'} span */
function eventOf({ event, outcomes, acks, ...times }, before, span) {
  const [completed, errored, shed] = /** @type {const} */ (['completed', 'errored', 'shed']).map(
    (outcome) => outcomes[outcome] - (before?.outcomes[outcome] ?? 0)
  )
  return {
    event,
    count: completed + errored,
    errored,
    shed,
    p50Ms: times[span]?.p50Ms ?? null,
    p99Ms: times[span]?.p99Ms ?? null,
    ackP99Ms: acks?.[span].p99Ms ?? null,
  }
}

module.exports = { describeServices }
