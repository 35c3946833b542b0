'use strict'
// One route in full: its durations, where its time goes, outcomes, errors, stalls, outgoing calls and slow
// requests.

const { placeOf, timesOf } = require('../commands/stalls')
const { NONE, bytes, duration, percent, routeName, timeOfDay } = require('../../core/readable')
const { count, ms, rate } = require('../figures')
const { GAP, printable, wrap } = require('../printable-text')
const { PARTS, PROXY_COLUMN, mostly } = require('../snapshot-tables')
const { tableLines } = require('../text-table')

/**
 * @import { LatencySummary, RequestParts, RouteSnapshot, SlowRequest, Snapshot } from '../../../index.js'
 * @import { Output, Paint } from '../output'
 * @import { Column, Look } from '../text-table'
 * @import { Feed } from './feed'
 */

const INDENT = '  '
const MAX_BAR = 30
const MIN_BAR = 5
/** Width of a part's name, share and mean. */
const FIGURES_WIDTH = 30
/** @type {Record<keyof RequestParts, string>} */
const MEANINGS = {
  queueMs: 'in the queue of the gate',
  runMs: 'its handler ran',
  loopBusyMs: 'the loop was busy with something else',
  gcMs: 'garbage collection',
  waitMs: 'the loop was free: the request awaited something',
  bodyMs: 'from the head to the last byte',
}

/** Durations do not include this time. */
const IN_PROXY = 'before it arrived'

/**
 * @param {RouteSnapshot} route
 * @param {Feed} feed
 * @param {{ out: Output, width: number }} look
 * @returns {string[]}
 */
function routeDetail(route, { snapshot, rates }, { out, width }) {
  const { paint } = out
  const look = { paint, width: width - INDENT.length, end: out.isUnicode ? '…' : '...' }
  /** @param {string[]} lines */
  const wrapped = (lines) => lines.flatMap((line) => wrap(line, look.width))
  const { requests, errors, shed } = rates.of(route)
  return [
    ...wrap(printable(routeName(route)), width).map((line) => paint('bold', line)),
    ...wrap(`${rate(requests)} requests, ${rate(errors)} errors and ${rate(shed)} shed a second now`, width),
    ...section('Durations', durationLines(route, look), paint),
    ...section('Where the time of the last minute went', partLines(route, out, look.width), paint),
    ...section('Since the start', wrapped(sinceStartLines(route)), paint),
    ...section('Errors', wrapped(errorLines(route, snapshot)), paint),
    ...section('Stalls', wrapped(stallLines(route, snapshot)), paint),
    ...section('Outgoing calls, last minute', wrapped(outgoingLines(route, snapshot)), paint),
    ...section('Slowest requests', slowLines(route, snapshot, look), paint),
  ]
}

/** @param {string} title @param {string[]} lines @param {Paint} paint */
const section = (title, lines, paint) =>
  lines.length === 0 ? [] : ['', paint('bold', title), ...lines.map((line) => INDENT + line)]

/** @param {RouteSnapshot} route @param {Look} look */
function durationLines({ lastMinute, sinceStart }, look) {
  const rows = [
    { over: 'last minute', ...lastMinute },
    { over: 'since start', ...sinceStart },
  ]
  /**
   * @param {string} head
   * @param {keyof LatencySummary} key
   * @param {number} [from]
   * @returns {Column<LatencySummary & { over: string }>}
   */
  const quantile = (head, key, from = 0) => ({ head, least: 8, from, of: (row) => ms(row[key]) })
  /** @type {ReturnType<typeof quantile>[]} */
  const columns = [
    { head: 'ms', isText: true, of: ({ over }) => over },
    quantile('p50', 'p50Ms'),
    quantile('p90', 'p90Ms', 72),
    quantile('p95', 'p95Ms', 52),
    quantile('p99', 'p99Ms'),
    quantile('p99.9', 'p999Ms', 62),
    quantile('max', 'maxMs'),
  ]
  return tableLines(columns, rows, look)
}

/** @param {RouteSnapshot} route @param {Output} out @param {number} width */
function partLines({ parts, lastMinute }, { paint, isUnicode }, width) {
  if (parts === null || lastMinute.count === 0) return []
  const names = /** @type {(keyof RequestParts)[]} */ (Object.keys(PARTS))
  const total = names.reduce((sum, name) => sum + parts.lastMinute[name], 0)
  if (total === 0) return []
  const block = isUnicode ? '█' : '#'
  const meaningWidth = Math.max(...Object.values(MEANINGS).map((each) => each.length)) + GAP.length
  const room = width - FIGURES_WIDTH
  const hasMeaning = room >= meaningWidth + MIN_BAR
  const most = Math.max(0, Math.min(MAX_BAR, hasMeaning ? room - meaningWidth : room))
  /** @param {string} name @param {string} share @param {number} sumMs */
  const figures = (name, share, sumMs) =>
    `${name.padEnd(9)} ${share.padStart(7)} ${`${ms(sumMs / lastMinute.count)} ms`.padStart(10)}${GAP}`
  /** @param {string} text */
  const meaning = (text) => (hasMeaning ? GAP + paint('dim', text) : '')
  const lines = names.map((name) => {
    const share = parts.lastMinute[name] / total
    const bar = block.repeat(Math.round(share * most)).padEnd(most)
    return `${figures(PARTS[name], percent(share), parts.lastMinute[name])}${paint('cyan', bar)}${meaning(MEANINGS[name])}`
  })
  const { proxyMs } = parts.lastMinute
  if (proxyMs > 0) lines.push(`${figures('proxy', '', proxyMs)}${' '.repeat(most)}${meaning(IN_PROXY)}`)
  return lines
}

/** @param {RouteSnapshot} route */
function sinceStartLines({
  sinceStart,
  outcomes,
  shed,
  streams,
  firstByteMeanMs,
  requestBytes,
  responseBytes,
}) {
  const others = Object.entries(outcomes)
    .filter(([, times]) => times > 0)
    .map(([outcome, times]) => `${times} ${outcome}`)
  return [
    `${count(sinceStart.count)} requests: ${[...others, `${shed} shed`].join(', ')}`,
    `${bytes(requestBytes)} received, ${bytes(responseBytes)} sent, head after ${duration(firstByteMeanMs)} on average` +
      (streams.count === 0 ? '' : `, ${streams.count} streams`),
  ].map(printable)
}

/** @param {RouteSnapshot} route @param {Snapshot} snapshot */
const errorLines = ({ route }, { errors }) =>
  errors
    .filter((each) => each.route === route)
    .map(({ type, status, count: times }) => printable(`${type} (${status}): ${timesOf(times)}`))

/** @param {RouteSnapshot} route @param {Snapshot} snapshot */
const stallLines = (route, { stalls: { sites } }) =>
  sites
    .filter(isSameRoute(route))
    .map((site) => printable(`${placeOf(site)}: ${timesOf(site.count)}, ${duration(site.totalMs)} in total`))

/** @param {RouteSnapshot} route @param {Snapshot} snapshot */
const outgoingLines = (route, { outgoing }) =>
  outgoing.hosts.flatMap(({ host, routes }) =>
    routes
      .filter(isSameRoute(route))
      .filter(({ lastMinute }) => lastMinute.count > 0)
      .map(({ lastMinute: { count: calls, errors, totalMs, maxMs } }) =>
        printable(
          `${host}: ${calls} calls, ${errors} failed, ${duration(totalMs / calls)} on average, ${duration(maxMs)} at most`
        )
      )
  )

/** @param {RouteSnapshot} route @param {Snapshot} snapshot @param {Look} look */
function slowLines(route, { slowest }, look) {
  const rows = slowest.filter(isSameRoute(route))
  if (rows.length === 0) return []
  /** @type {Column<SlowRequest>[]} */
  const columns = [
    { head: 'at', isText: true, of: ({ at }) => timeOfDay(at) },
    { head: 'ms', least: 7, of: ({ durationMs }) => ms(durationMs) },
    PROXY_COLUMN,
    { head: 'status', from: 50, of: ({ status }) => status ?? NONE },
    { head: 'outcome', isText: true, of: ({ outcome }) => outcome },
    { head: 'mostly', isText: true, of: ({ parts }) => mostly(parts) },
    {
      head: 'id',
      isText: true,
      from: 70,
      isFlexible: true,
      of: ({ requestId, traceId }) => requestId ?? traceId ?? NONE,
    },
  ]
  return tableLines(columns, rows, look)
}

/**
 * @param {{ method: string | null, route: string | null }} a
 * @returns {(b: { method: string | null, route: string | null }) => boolean}
 */
function isSameRoute(a) {
  return (b) => b.method === a.method && b.route === a.route
}

module.exports = { routeDetail }
