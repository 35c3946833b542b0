'use strict'
// `spillway top` in a pipe: prints the health and the table of routes once. With `--watch` it prints one line
// a second for as long as somebody reads.

const { EXIT } = require('../command-error')
const { bytes, duration, percent, timeOfDay } = require('../../core/readable')
const { rate } = require('../figures')
const { jsonLines, printable } = require('../printable-text')
const { tableLines } = require('../text-table')
const { Feed } = require('./feed')
const { routeTable, sortedRows } = require('./route-table')

/**
 * @import { Diagnosis } from '../../../index.js'
 * @import { Context } from '../command-line'
 * @import { Output } from '../output'
 * @import { Column } from '../text-table'
 */

/** @param {Context} context @param {string} sort */
async function plainTop({ client, clock, values, out, err }, sort) {
  const feed = new Feed({ client, clock })
  await feed.open()
  if (feed.note !== undefined) (values.json ? err : out).print([feed.note, ''])
  out.print(values.json ? stateLines(feed, out) : snapshotTable(feed, { out, url: client.url, sort }))
  return EXIT.done
}

/** @param {Feed} feed @param {{ out: Output, url: string, sort: string }} look */
function snapshotTable(feed, { out, url, sort }) {
  const { paint, lineWidth } = out
  const { head, rows } = routeTable(sortedRows(feed, sort), { sort, paint, width: lineWidth })
  const { requests, admission, runtime } = feed.snapshot
  const { lastMinute, inFlight } = requests
  return [
    printable(`${url}: ${feed.diagnosis.summary}`),
    `Last minute: ${rate(lastMinute.ratePerSecond)} requests/s, p50 ${duration(lastMinute.p50Ms)}, p99 ${duration(lastMinute.p99Ms)}, errors ${percent(lastMinute.errorRatio)}.`,
    `Now: ${inFlight} in flight, ${admission.queued} queued, loop ${percent(runtime.loop.utilization)} busy, heap ${bytes(runtime.heap.usedBytes)}.`,
    '',
    head,
    ...rows,
  ]
}

/** @param {Feed} feed @param {{ isScreen: boolean }} out */
const stateLines = ({ snapshot, diagnosis }, out) => jsonLines({ snapshot, diagnosis }, out)

/** One line a second. @param {Context} context */
async function watchLines({ client, clock, values, out, err, signals }) {
  const feed = new Feed({ client, clock })
  await feed.open()
  const line = values.json ? () => stateLines(feed, { isScreen: false }) : () => [watchLine(feed, out)]
  const print = () => {
    if (feed.loss === undefined) out.print(line())
    else err.print([printable(`spillway: ${feed.lostSeconds} s without an answer: ${feed.loss.message}`)])
  }
  if (!values.json) out.print([watchHead(out)])
  print()
  await new Promise((resolve) => {
    signals.on('SIGINT', () => resolve(undefined))
    feed.start(print)
  })
  feed.stop()
  return EXIT.done
}

/** @type {Column<Feed>[]} */
const WATCH_COLUMNS = [
  { head: 'time', isText: true, least: 8, of: ({ snapshot }) => timeOfDay(snapshot.at) },
  { head: 'req/s', least: 7, of: ({ rates }) => rate(rates.all.requests) },
  { head: 'p50', least: 8, of: ({ snapshot }) => duration(snapshot.requests.lastMinute.p50Ms) },
  { head: 'p99', least: 8, of: ({ snapshot }) => duration(snapshot.requests.lastMinute.p99Ms) },
  { head: 'errors/s', least: 8, of: ({ rates }) => rate(rates.all.errors) },
  { head: 'shed/s', least: 7, of: ({ rates }) => rate(rates.all.shed) },
  { head: 'in flight', least: 9, of: ({ snapshot }) => snapshot.requests.inFlight },
  { head: 'loop', least: 6, of: ({ snapshot }) => percent(snapshot.runtime.loop.utilization) },
  { head: 'heap', least: 8, of: ({ snapshot }) => bytes(snapshot.runtime.heap.usedBytes) },
  { head: 'health', isText: true, of: ({ diagnosis }) => healthWords(diagnosis) },
]

/** @param {Output} out */
const watchHead = ({ paint }) => tableLines(WATCH_COLUMNS, [], { paint })[0]
/** @param {Feed} feed @param {Output} out */
const watchLine = (feed, { paint }) => tableLines(WATCH_COLUMNS, [feed], { paint })[1]

/** @param {Diagnosis} diagnosis */
function healthWords({ healthy, findings }) {
  if (healthy === null) return 'unknown'
  return healthy ? 'healthy' : findings.map(({ problem }) => problem).join(', ')
}

module.exports = { plainTop, watchLines }
