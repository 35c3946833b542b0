'use strict'
// A snapshot as sections of text. A section without content is left out.

const { stallLines } = require('./commands/stalls')
const { bytes, duration, percent, span, timeOfDay } = require('../core/readable')
const { count, rate } = require('./figures')
const { GAP, printable, wrap } = require('./printable-text')
const {
  ERROR_COLUMNS,
  EVENT_COLUMNS,
  LIMIT_COLUMNS,
  OLDEST_COLUMNS,
  OUTGOING_COLUMNS,
  POOL_COLUMNS,
  QUERY_COLUMNS,
  ROUTE_COLUMNS,
  SLOWEST_COLUMNS,
  number,
  text,
} = require('./snapshot-tables')
const { tableLines } = require('./text-table')

/**
 * @import { AdmissionSnapshot, HeapTrendSnapshot, LatencySummary } from '../../index.js'
 * @import { RouteSnapshot, Snapshot, SocketsSnapshot } from '../../index.js'
 * @import { Output } from './output'
 * @import { Column, Look } from './text-table'
 * @typedef {Look & { url: string, width: number }} SectionLook
 */

const INDENT = '  '

/**
 * @param {Snapshot} snapshot
 * @param {{ out: Output, url: string }} where
 * @returns {string[]}
 */
function snapshotLines(snapshot, { out, url }) {
  const { paint } = out
  const look = { url, paint, width: out.lineWidth - INDENT.length, end: out.isUnicode ? '…' : '...' }
  const sections = Object.entries(SECTIONS)
    .map(([title, linesOf]) => ({ title, lines: linesOf(snapshot, look) }))
    .filter(({ lines }) => lines.length > 0)
  return [
    headLine(snapshot, url),
    ...sections.flatMap(({ title, lines }) => [
      '',
      paint('bold', title),
      ...lines.map((line) => INDENT + line),
    ]),
  ]
}

/** @param {Snapshot} snapshot @param {string} url */
function headLine({ at, uptimeSeconds, releases: { current } }, url) {
  const release = [current.version, current.revision].filter(Boolean).join(' ')
  return printable(
    `${url}, ${release === '' ? '' : `release ${release}, `}up ${span(uptimeSeconds)}, at ${timeOfDay(at)}`
  )
}

/** @typedef {[name: string, of: (summary: LatencySummary) => string]} SummaryRow */

const LATENCIES = /** @type {const} */ (['p50Ms', 'p90Ms', 'p95Ms', 'p99Ms', 'p999Ms', 'maxMs'])

/** Pairs of a name and a value, aligned. @param {string[][]} rows @param {Pick<SectionLook, 'width'>} look */
function pairs(rows, { width }) {
  const indent = ' '.repeat(Math.max(...rows.map(([name]) => name.length)) + GAP.length)
  return rows.flatMap(([name, value]) =>
    wrap(printable(value), width - indent.length).map(
      (line, index) => (index === 0 ? name.padEnd(indent.length) : indent) + line
    )
  )
}

/** @type {Record<string, (snapshot: Snapshot, look: SectionLook) => string[]>} */
const SECTIONS = {
  Requests: ({ requests }, look) => summaryTable(requests, look),
  'Routes, last minute': ({ routes }, look) =>
    routes.length === 0 ? [] : tableLines(ROUTE_COLUMNS, byRate(routes), look),
  Gate: ({ admission, requests }, look) =>
    pairs(
      [
        [
          'mode',
          `${admission.mode}${admission.isOverloaded ? ', has rejected requests in the last 10 s' : ''}`,
        ],
        ['in flight', `${requests.inFlight}${limitOf(admission)}`],
        ['queued', count(admission.queued)],
        ['a request costs', duration(admission.costMs)],
        ['admitted', count(admission.admitted)],
        ...admission.shed.map((each) => [`shed, ${each.reason}`, `${each.count} of class ${each.priority}`]),
        ...admission.wouldShed.map((each) => [
          `would shed, ${each.reason}`,
          `${each.count} of class ${each.priority}`,
        ]),
      ],
      look
    ),
  Process: ({ runtime: { loop, cpu, heap, memory, collections } }, look) =>
    pairs(
      [
        [
          'event loop',
          `${percent(loop.utilization)} busy; turns: p50 ${duration(loop.delayMs.p50)}, p99 ${duration(loop.delayMs.p99)}, max ${duration(loop.delayMs.max)}`,
        ],
        ['CPU', `${percent(cpu.utilization)} of a core`],
        [
          'heap',
          `${bytes(heap.usedBytes)} used, ${bytes(heap.afterGcBytes)} after the last major collection, limit ${bytes(heap.limitBytes)}`,
        ],
        ['heap trend', trendOf(heap.trend)],
        [
          'memory',
          `${bytes(memory.rssBytes)} resident, limit ${bytes(memory.limitBytes)}, ${bytes(memory.externalBytes)} outside the heap`,
        ],
        [
          'collections',
          Object.entries(collections)
            .filter(([, { count: times }]) => times > 0)
            .map(([kind, { count: times, totalMs }]) => `${kind} ${times} (${duration(totalMs)})`)
            .join(', '),
        ],
      ],
      look
    ),
  'Outgoing calls, last minute': ({ outgoing }, look) =>
    outgoing.hosts.length === 0 ? [] : tableLines(OUTGOING_COLUMNS, outgoing.hosts, look),
  Sockets: ({ sockets }, look) =>
    sockets.connections.opened + sockets.connections.open === 0 ? [] : pairs(socketRows(sockets), look),
  'Events of sockets, last minute': ({ sockets }, look) =>
    sockets.events.length === 0 ? [] : tableLines(EVENT_COLUMNS, sockets.events, look),
  Pools: ({ pools }, look) => (pools.length === 0 ? [] : tableLines(POOL_COLUMNS, pools, look)),
  'Queries, last minute': ({ pools }, look) => {
    // A service with another version of spillway may send no queries.
    const queries = pools.flatMap(({ name, queries: each }) =>
      (each ?? []).map((query) => ({ ...query, pool: name }))
    )
    return queries.length === 0 ? [] : tableLines(QUERY_COLUMNS, queries, look)
  },
  Limits: ({ bulkheads }, look) => (bulkheads.length === 0 ? [] : tableLines(LIMIT_COLUMNS, bulkheads, look)),
  'Slowest requests': ({ slowest }, look) =>
    slowest.length === 0 ? [] : tableLines(SLOWEST_COLUMNS, slowest, look),
  'Longest in flight': ({ oldest }, look) =>
    oldest.length === 0 ? [] : tableLines(OLDEST_COLUMNS, oldest, look),
  Errors: ({ errors }, look) => (errors.length === 0 ? [] : tableLines(ERROR_COLUMNS, errors, look)),
  Stalls: ({ stalls }, look) => (stalls.count === 0 ? [] : stallLines(stalls, look)),
  "Off under Node's permission model": ({ forbidden = [] }, look) =>
    forbidden.length === 0
      ? []
      : pairs(
          forbidden.map(({ feature, grants }) => [feature, grants.join(' ')]),
          look
        ),
  'Also counted': (snapshot, look) => {
    const rows = [
      ...counts('process', snapshot.processErrors),
      ...counts('warning', snapshot.warnings.counts),
      ...counts('client error', snapshot.clientErrors),
      ...counts('inside Spillway', snapshot.internalErrors),
    ]
    return rows.length === 0 ? [] : pairs(rows, look)
  },
}

/** @param {Snapshot['requests']} requests @param {Look} look */
function summaryTable({ lastMinute, sinceStart }, { paint }) {
  /** @type {SummaryRow[]} */
  const rows = [
    ['count', ({ count: total }) => count(total)],
    ['per second', ({ ratePerSecond }) => rate(ratePerSecond)],
    ['errors', ({ errorRatio }) => percent(errorRatio)],
    ...LATENCIES.map(
      (name) => /** @type {SummaryRow} */ ([latencyName(name), (summary) => duration(summary[name])])
    ),
  ]
  /** @type {Column<SummaryRow>[]} */
  const columns = [
    text('', ([name]) => name),
    number('last minute', ([, of]) => of(lastMinute)),
    number('since start', ([, of]) => of(sinceStart)),
  ]
  return tableLines(columns, rows, { paint })
}

/** @param {string} name such as p999Ms */
const latencyName = (name) => (name === 'p999Ms' ? 'p99.9' : name.replace('Ms', ''))

/** @param {readonly RouteSnapshot[]} routes */
const byRate = (routes) =>
  [...routes].sort(
    (a, b) =>
      b.lastMinute.ratePerSecond - a.lastMinute.ratePerSecond || b.sinceStart.count - a.sinceStart.count
  )

/** @param {AdmissionSnapshot} admission */
const limitOf = ({ limit, limitedBy }) =>
  limit === null ? ', no limit now' : ` of ${limit}, limited by ${limitedBy}`

/** @param {HeapTrendSnapshot} trend */
function trendOf({ verdict, megabytesPerHour, secondsToLimit }) {
  if (verdict === 'unknown') return 'not known yet'
  if (verdict === 'none') return 'does not grow'
  const end = secondsToLimit === null ? '' : `, full in ${span(secondsToLimit)}`
  return `grows by ${Math.round(/** @type {number} */ (megabytesPerHour))} MB an hour${end}`
}

/** @param {string} what @param {Readonly<Record<string, number>>} record */
const counts = (what, record) =>
  Object.entries(record)
    .filter(([, times]) => times > 0)
    .map(([name, times]) => [`${what}: ${printable(name)}`, count(times)])

/** @param {Readonly<Partial<Record<string, number>>>} counts */
const sentence = (counts) =>
  Object.entries(counts)
    .map(([reason, times]) => `${reason.replaceAll('_', ' ')} ${count(times)}`)
    .join(', ')

/** @param {SocketsSnapshot} sockets */
function socketRows({ connections: { open, opened, transports, closed, refused, held, room }, messages }) {
  const by = transports.map(({ transport, open: now }) => `${transport} ${count(now)}`).join(', ')
  return [
    ['open', `${count(open)} (${by}), ${count(opened)} opened`],
    ...(Object.keys(closed).length > 0 ? [['closed', sentence(closed)]] : []),
    ...(Object.keys(refused).length > 0 ? [['refused', sentence(refused)]] : []),
    ['held', count(held)],
    ['loop time left for new ones', percent(Math.max(0, room))],
    ['received', `${count(messages.received)} (${bytes(messages.receivedBytes)})`],
    ['sent', `${count(messages.sent)} (${bytes(messages.sentBytes)})`],
  ]
}

module.exports = { snapshotLines }
