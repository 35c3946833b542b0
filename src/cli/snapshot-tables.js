'use strict'
// Columns of the tables in a snapshot as text, and the parts of a request's time.

const { NONE, duration, mostOfCalls, percent, queryName, routeName, timeOfDay } = require('../core/readable')
const { count, ms, rate } = require('./figures')

/**
 * @import { ErrorCount, LimitSnapshot, OutgoingHost, PoolSnapshot, QueryFigures } from '../../index.js'
 * @import { RequestInFlight, RequestParts, RouteSnapshot, SlowRequest, SocketEventSnapshot } from '../../index.js'
 * @import { Column } from './text-table'
 */

/**
 * @template Row
 * @param {string} head
 * @param {(row: Row) => unknown} of
 * @param {Partial<Column<Row>>} [more]
 * @returns {Column<Row>}
 */
const text = (head, of, more) => ({ head, of, isText: true, ...more })

/** @type {typeof text} */
const number = (head, of, more) => ({ head, of, ...more })

/**
 * `total` counts since the start. All other figures are of the last minute.
 *
 * @type {Column<RouteSnapshot>[]}
 */
const ROUTE_COLUMNS = [
  text('route', routeName, { isFlexible: true }),
  number('count', (route) => count(route.lastMinute.count), { from: 78 }),
  number('per s', (route) => rate(route.lastMinute.ratePerSecond)),
  number('p50 ms', (route) => ms(route.lastMinute.p50Ms), { from: 56 }),
  number('p95 ms', (route) => ms(route.lastMinute.p95Ms), { from: 68 }),
  number('p99 ms', (route) => ms(route.lastMinute.p99Ms)),
  number('errors', (route) => percent(route.lastMinute.errorRatio), {
    style: (route) => (route.lastMinute.errorRatio > 0 ? 'red' : undefined),
  }),
  number('shed total', (route) => count(route.shed), { from: 56 }),
]

/** @type {Column<OutgoingHost>[]} */
const OUTGOING_COLUMNS = [
  text('host', ({ host }) => host, { isFlexible: true }),
  number('calls', ({ lastMinute }) => count(lastMinute.count)),
  number('errors', ({ lastMinute }) => count(lastMinute.errors), { from: 40 }),
  number('mean ms', ({ lastMinute }) =>
    lastMinute.count === 0 ? NONE : ms(lastMinute.totalMs / lastMinute.count)
  ),
  number('max ms', ({ lastMinute }) => ms(lastMinute.maxMs), { from: 48 }),
  text('mostly', ({ lastMinute }) => mostOfCalls(lastMinute), { from: 64 }),
]

/** @type {Column<SocketEventSnapshot>[]} */
const EVENT_COLUMNS = [
  text('event', ({ event }) => event, { isFlexible: true }),
  number('per s', ({ lastMinute }) => rate(lastMinute?.ratePerSecond ?? 0)),
  number('p50 ms', ({ lastMinute }) => (lastMinute === null ? NONE : ms(lastMinute.p50Ms)), { from: 56 }),
  number('p99 ms', ({ lastMinute }) => (lastMinute === null ? NONE : ms(lastMinute.p99Ms))),
  number('ack p99', ({ acks }) => (acks === null ? NONE : ms(acks.lastMinute.p99Ms)), { from: 64 }),
  number('errors total', ({ outcomes }) => count(outcomes.errored), {
    style: ({ outcomes }) => (outcomes.errored > 0 ? 'red' : undefined),
  }),
  number('shed total', ({ outcomes }) => count(outcomes.shed), { from: 50 }),
]

/** A connection held for longer says more about a pool than the route that has used it most. */
const LONG_HELD_MS = 1000

/** @param {PoolSnapshot} pool */
function holderOf({ holders: [most], longestHeld: [longest] }) {
  const holder = longest !== undefined && longest.ageMs >= LONG_HELD_MS ? longest : most
  return holder === undefined || holder.route === null ? NONE : routeName(holder)
}

/** @type {Column<PoolSnapshot>[]} */
const POOL_COLUMNS = [
  text('pool', ({ name }) => name, { isFlexible: true }),
  text('kind', ({ kind }) => kind, { from: 76 }),
  number('used', ({ used, max }) => `${count(used)}${max === null ? '' : ` of ${count(max)}`}`),
  number('idle', ({ idle }) => count(idle), { from: 90 }),
  number('waiting', ({ waiting }) => count(waiting)),
  number('wait p99 ms', ({ wait: { lastMinute } }) => (lastMinute.count > 0 ? ms(lastMinute.p99Ms) : NONE), {
    from: 50,
  }),
  number('use mean ms', ({ use: { lastMinute } }) => (lastMinute.count > 0 ? ms(lastMinute.meanMs) : NONE), {
    from: 100,
  }),
  number('timeouts total', ({ timeouts }) => count(timeouts), { from: 66 }),
  text('held by', holderOf),
]

/** @type {Column<QueryFigures & { pool: string }>[]} */
const QUERY_COLUMNS = [
  text('query', queryName, { isFlexible: true }),
  text('pool', ({ pool }) => pool, { from: 76 }),
  number('count', ({ lastMinute }) => count(lastMinute.count)),
  number('mean ms', ({ lastMinute }) => ms(lastMinute.meanMs)),
  number('max ms', ({ lastMinute }) => ms(lastMinute.maxMs), { from: 66 }),
  number('errors', ({ lastMinute }) => count(lastMinute.errors), { from: 90 }),
  text('most by', ({ routes: [first] }) =>
    first === undefined || first.route === null ? NONE : routeName(first)
  ),
]

/** @type {Column<LimitSnapshot>[]} */
const LIMIT_COLUMNS = [
  text('limit', ({ name }) => name, { isFlexible: true }),
  number('running', ({ running, maxConcurrent }) => `${count(running)} of ${count(maxConcurrent)}`),
  number('waiting', ({ queued }) => count(queued)),
  number('held mean ms', ({ heldMs }) => ms(heldMs), { from: 66 }),
  number('admitted', ({ admitted }) => count(admitted), { from: 76 }),
  number('rejected', ({ rejected }) => count(rejected)),
  number('would reject', ({ wouldReject }) => count(wouldReject), { from: 100 }),
]

/** Durations do not include this time. @type {Column<SlowRequest>} */
const PROXY_COLUMN = number('proxy ms', ({ proxyMs }) => ms(proxyMs), {
  isKnown: ({ proxyMs = null }) => proxyMs !== null,
  from: 56,
})

/** @type {Column<SlowRequest>[]} */
const SLOWEST_COLUMNS = [
  text('route', routeName, { isFlexible: true }),
  number('ms', ({ durationMs }) => ms(durationMs)),
  PROXY_COLUMN,
  number('status', ({ status }) => status ?? NONE, { from: 66 }),
  text('outcome', ({ outcome }) => outcome, { from: 60 }),
  text('mostly', ({ parts }) => mostly(parts)),
  text('at', ({ at }) => timeOfDay(at), { from: 50 }),
  text('id', ({ requestId, traceId }) => requestId ?? traceId ?? '', { from: 110 }),
]

/** @type {Column<RequestInFlight>[]} */
const OLDEST_COLUMNS = [
  text('route', routeName, { isFlexible: true }),
  text('state', ({ state }) => state),
  number('age', ({ ageMs }) => duration(ageMs)),
]

/** @type {Column<ErrorCount>[]} */
const ERROR_COLUMNS = [
  text('route', ({ route }) => route, { isFlexible: true }),
  number('status', ({ status }) => status),
  text('type', ({ type }) => type),
  number('count', ({ count: times }) => count(times)),
]

/** @type {Record<keyof RequestParts, string>} */
const PARTS = {
  queueMs: 'queue',
  runMs: 'run',
  loopBusyMs: 'loop busy',
  gcMs: 'gc',
  waitMs: 'wait',
  bodyMs: 'body',
}

/** The largest part of a time, such as 'wait 83 %'. @param {RequestParts | null} parts */
function mostly(parts) {
  if (parts === null) return NONE
  const known = /** @type {(keyof RequestParts)[]} */ (Object.keys(PARTS))
  const total = known.reduce((sum, name) => sum + parts[name], 0)
  if (total === 0) return NONE
  const largest = known.reduce((most, name) => (parts[name] > parts[most] ? name : most))
  return `${PARTS[largest]} ${percent(parts[largest] / total)}`
}

module.exports = {
  ERROR_COLUMNS,
  EVENT_COLUMNS,
  LIMIT_COLUMNS,
  OLDEST_COLUMNS,
  OUTGOING_COLUMNS,
  PARTS,
  POOL_COLUMNS,
  PROXY_COLUMN,
  QUERY_COLUMNS,
  ROUTE_COLUMNS,
  SLOWEST_COLUMNS,
  mostly,
  number,
  text,
}
