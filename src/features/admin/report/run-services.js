'use strict'
// The pools and the sockets of a run. Counts are those of the run if the counters at its start are known, or
// else those since the start of the process. Latencies of events are those of the last minute, because
// histograms of the time before the run cannot be subtracted. In two cases they cover the time since the
// process started: the run began with the process, or the run ended a while ago.

const MAX_EVENTS = 25
const MAX_HOLDERS = 5

/**
 * @import { PoolHolder, PoolSnapshot, PoolTimesSummary, Snapshot, SocketEventSnapshot } from '../../../../index.js'
 * @import { Totals } from './run-requests'
 */

/** @param {Totals} totals */
function describeServices({ start, end, isNow }) {
  const before = start === 'process' ? undefined : start?.snapshot
  const isRecent = isNow && start !== 'process'
  return {
    pools: end.snapshot.pools.map((pool) => poolOf(pool, earlierOf(pool, before))),
    sockets: socketsOf(end.snapshot.sockets, before?.sockets, isRecent ? 'lastMinute' : 'sinceStart'),
    eventsAreRecent: isRecent,
  }
}

/**
 * Returns the pool at the start of the run, or undefined if it was registered again in the run and so counted
 * from 0.
 *
 * @param {PoolSnapshot} pool
 * @param {Snapshot | undefined} before
 */
function earlierOf({ name, use, timeouts }, before) {
  const earlier = before?.pools.find((each) => each.name === name)
  const isSame =
    earlier !== undefined &&
    earlier.use.sinceStart.count <= use.sinceStart.count &&
    earlier.timeouts <= timeouts
  return isSame ? earlier : undefined
}

/** @param {PoolSnapshot} pool @param {PoolSnapshot | undefined} before */
function poolOf({ name, kind, max, wait, use, timeouts, holders }, before) {
  const held = holders.map((holder) => holdsOf(holder, before)).filter(({ count }) => count > 0)
  const totalMs = held.reduce((sum, { heldMs }) => sum + heldMs, 0)
  return {
    name,
    kind,
    max,
    uses: timesOf(use.sinceStart, before?.use.sinceStart),
    waits: timesOf(wait.sinceStart, before?.wait.sinceStart),
    timeouts: timeouts - (before?.timeouts ?? 0),
    holders: held
      .map((holder) => ({ ...holder, share: holder.heldMs / totalMs }))
      .sort((a, b) => b.heldMs - a.heldMs)
      .slice(0, MAX_HOLDERS),
  }
}

/** @param {PoolHolder} holder @param {PoolSnapshot | undefined} before */
function holdsOf({ method, route, sinceStart }, before) {
  const earlier = before?.holders.find((each) => each.method === method && each.route === route)?.sinceStart
  return {
    method,
    route,
    count: sinceStart.count - (earlier?.count ?? 0),
    heldMs: sinceStart.heldMs - (earlier?.heldMs ?? 0),
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
    // The maximum is of the whole process. A longer time before the run hides the longest time of the run.
    isMostAtMost: before !== undefined && before.count > 0 && all.maxMs <= before.maxMs,
  }
}

/**
 * @param {Snapshot['sockets']} sockets
 * @param {Snapshot['sockets'] | undefined} before
 * @param {'lastMinute' | 'sinceStart'} span
 */
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
      .filter(({ count, shed }) => count + shed > 0)
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_EVENTS),
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

/**
 * @param {SocketEventSnapshot} event
 * @param {SocketEventSnapshot | undefined} before
 * @param {'lastMinute' | 'sinceStart'} span
 */
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
