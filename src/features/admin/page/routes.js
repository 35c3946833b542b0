'use strict'
// The routes, and the latency of a route in detail.

const { byId, make, setText } = require('./dom')
const { gridTable, factTable } = require('./facts')
const { NONE, bytes, count, duration, number, percent, routeName } = require('../../../core/readable')
const { HeatMap } = require('./heat-map')
const { fillBar, makeLegend, makePartsTable } = require('./parts')
const { Table } = require('./table')

/**
 * @import { LatencySummary, RouteSnapshot } from '../../../../index.js'
 * @import { Section } from './main'
 * @import { Column } from './table'
 */

const QUANTILES = /** @type {const} */ (['p50Ms', 'p90Ms', 'p95Ms', 'p99Ms', 'p999Ms', 'maxMs'])
/** A route that takes this share of the time or more makes others wait. */
const COSTLY = 0.2
/** The limit of the doctor's rule. A few per cent are normal, because people close pages. */
const MANY_GAVE_UP = 0.1
const HEADS = ['', 'requests', 'a second', 'errors', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'max']

/** The share of the time for which the route's code ran on the loop. @param {RouteSnapshot} route */
function loopShareOf({ loopMs, lastMinute }) {
  if (loopMs === null) return Number.NaN
  return lastMinute.count === 0
    ? 0
    : ((loopMs.lastMinute / lastMinute.count) * lastMinute.ratePerSecond) / 1000
}

/**
 * The share of the route's requests whose client disconnected before an answer.
 *
 * @param {RouteSnapshot} route
 */
const gaveUpOf = ({ gaveUp, lastMinute }) =>
  gaveUp === null || lastMinute.count === 0 ? Number.NaN : Math.min(1, gaveUp.lastMinute / lastMinute.count)

/** @param {string} title @param {typeof QUANTILES[number]} key @returns {Column<RouteSnapshot>} */
const latency = (title, key) => ({
  title,
  sort: ({ lastMinute }) => lastMinute[key],
  text: ({ lastMinute }) => latencyText(lastMinute, key),
})
/** @param {LatencySummary} summary @param {typeof QUANTILES[number]} key */
const latencyText = (summary, key) => (summary.count === 0 ? NONE : duration(summary[key]))

/** @returns {Column<RouteSnapshot>[]} */
const columns = () => [
  { title: 'Route', isText: true, sort: routeName, name: routeName },
  {
    title: 'loop time',
    about: "The share of the last minute for which the route's code ran on the event loop",
    sort: (route) => loopShareOf(route) || 0,
    fill: (cell, route) => {
      const share = loopShareOf(route)
      cell.textContent = percent(share)
      cell.classList.toggle('bad', share >= COSTLY)
    },
  },
  {
    title: 'a second',
    about: 'Requests a second, over the last minute',
    sort: ({ lastMinute }) => lastMinute.ratePerSecond,
    text: ({ lastMinute }) => number(lastMinute.ratePerSecond),
  },
  latency('p50', 'p50Ms'),
  latency('p95', 'p95Ms'),
  latency('p99', 'p99Ms'),
  {
    title: 'errors',
    about: 'The share of requests that failed, over the last minute',
    sort: ({ lastMinute }) => lastMinute.errorRatio,
    fill: (cell, { lastMinute }) => {
      cell.textContent = lastMinute.count === 0 ? NONE : percent(lastMinute.errorRatio)
      cell.classList.toggle('bad', lastMinute.errorRatio >= 0.01)
    },
  },
  {
    title: 'gave up',
    about: 'The share of requests whose client disconnected before an answer began, over the last minute',
    sort: (route) => gaveUpOf(route) || 0,
    fill: (cell, route) => {
      const share = gaveUpOf(route)
      cell.textContent = percent(share)
      cell.classList.toggle('bad', share >= MANY_GAVE_UP)
    },
  },
  {
    title: 'shed total',
    about: 'Rejected requests since the start, estimated',
    sort: ({ shed }) => shed,
    text: ({ shed }) => count(shed),
  },
  {
    title: 'Where the time goes',
    isText: true,
    fill: (cell, { parts }) => {
      cell.classList.add('wide')
      fillBar(cell, parts?.lastMinute)
    },
  },
]

/** @param {RouteSnapshot} route */
function makeDetail(route) {
  const { lastMinute, sinceStart, outcomes, parts, streams } = route
  /** @param {string} name @param {LatencySummary} summary */
  const rowOf = (name, summary) => [
    name,
    count(summary.count),
    number(summary.ratePerSecond),
    summary.count === 0 ? NONE : percent(summary.errorRatio),
    ...QUANTILES.map((key) => latencyText(summary, key)),
  ]
  return make(
    'div',
    { class: 'details' },
    gridTable('Latency', HEADS, [rowOf('last minute', lastMinute), rowOf('since the start', sinceStart)]),
    makeScale(lastMinute, sinceStart),
    parts === null ? null : makePartsTable(parts.lastMinute, lastMinute.count),
    factTable(
      'Outcomes',
      Object.entries(outcomes).map(([name, value]) => [name.replace('_', ' '), count(value)])
    ),
    factTable('Answers', [
      ['mean time to the first byte', duration(route.firstByteMeanMs)],
      ['received', bytes(route.requestBytes)],
      ['sent', bytes(route.responseBytes)],
      ['streams', count(streams.count)],
    ])
  )
}

const DECADES = [0.1, 1, 10, 100, 1000, 10_000, 100_000]
/** @param {number} ms */
const positionOf = (ms) => {
  const [first, last] = [DECADES[0], DECADES[DECADES.length - 1]].map(Math.log10)
  return Math.min(1, Math.max(0, (Math.log10(Math.max(ms, 1e-9)) - first) / (last - first)))
}

/**
 * Draws the quantiles on a logarithmic scale: where most answers are, and how slow the slowest are.
 *
 * @param {LatencySummary} lastMinute @param {LatencySummary} sinceStart
 */
function makeScale(lastMinute, sinceStart) {
  /** @type {[name: string, summary: LatencySummary][]} */
  const rows = [
    ['last minute', lastMinute],
    ['since the start', sinceStart],
  ]
  return make(
    'div',
    { class: 'scale', 'aria-hidden': 'true' },
    ...rows.map(([name, summary]) =>
      make('div', { class: 'scale-row' }, make('span', null, name), makeStrip(summary))
    ),
    make('div', { class: 'scale-row' }, make('span'), makeTicks())
  )
}

/** @param {LatencySummary} summary */
function makeStrip({ count: requests, p50Ms, p90Ms, p99Ms, maxMs }) {
  const strip = make('span', { class: 'strip' })
  if (requests === 0) return strip
  /** @param {string} name @param {number} from @param {number} to */
  const band = (name, from, to) =>
    strip.append(
      make('span', {
        class: name,
        title: `${duration(from)} to ${duration(to)}`,
        style: { left: `${positionOf(from) * 100}%`, width: `${(positionOf(to) - positionOf(from)) * 100}%` },
      })
    )
  band('to-max', p99Ms, maxMs)
  band('to-p99', p90Ms, p99Ms)
  band('to-p90', p50Ms, p90Ms)
  strip.append(
    make('span', {
      class: 'median',
      title: `p50 ${duration(p50Ms)}`,
      style: { left: `${positionOf(p50Ms) * 100}%` },
    })
  )
  return strip
}

const makeTicks = () =>
  make(
    'span',
    { class: 'ticks' },
    ...DECADES.slice(1, -1).map((ms) =>
      make('span', { style: { left: `${positionOf(ms) * 100}%` } }, duration(ms))
    )
  )

/** @returns {Section} */
function routesSection() {
  /** @type {Table<RouteSnapshot>} */
  const table = new Table({
    caption: 'Routes, over the last minute',
    columns: columns(),
    keyOf: routeName,
    empty: 'No request yet. A route appears with its first answer.',
    detail: makeDetail,
    lasting: (route) => new HeatMap(route),
    sortedBy: 1,
    most: 12,
    filter: 'Filter routes',
  })
  return {
    id: 'routes',
    title: 'Routes',
    isWide: true,
    about: makeLegend(),
    content: [table.element],
    update({ snapshot, fleet }) {
      const { worker } = fleet?.workers[1] === undefined ? { worker: undefined } : fleet.workers[0]
      setText(byId('routes-title'), worker === undefined ? 'Routes' : `Routes of worker ${worker}`)
      table.update(snapshot.routes)
    },
  }
}

module.exports = { loopShareOf, routesSection }
