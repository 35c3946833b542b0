'use strict'
// Tables of other events: stalls, errors, outgoing calls, rejections and collections.

const {
  NONE,
  bytes,
  count,
  duration,
  mostOfCalls,
  number,
  percent,
  routeName,
  span,
} = require('../../../core/readable')
const { errorText, shortPlace } = require('../page/error-words')
const { callOf, fileOf, nameOf, originOf } = require('../page/stall-words')
const { atMost, coversOf, makeFacts, makeSection, makeTable } = require('./table')
const { html } = require('./markup')

/**
 * @import { ShedCount } from '../../../../index.js'
 * @import { Run } from './run'
 * @import { Times } from './times'
 */

/** @param {string} title */
const text = (title) => ({ title, isText: true })

/** @param {Run} run @param {Times} times */
const coverOf = (run, times) => coversOf(run, times)[run.eventsCover]

/** @param {Run} run @param {Times} times */
function makeStalls(run, times) {
  const { stalls } = run
  const about =
    run.eventsCover === 'run'
      ? coverOf(run, times)
      : 'Places that blocked the event loop in this run, with their counts since the process started.'
  if (stalls.length === 0)
    return makeSection(
      'stalls',
      'Stalls of the event loop',
      about,
      html`<p>Nothing blocked the event loop for longer than the threshold.</p>`
    )
  const rows = stalls.map((site) => [
    nameOf(site),
    html`<code>${fileOf(site)}</code>${site.package !== null && ` through ${site.package}`}${callOf(site) !== '' && ` ${callOf(site)}`}`,
    originOf(site),
    site.cause.replace('-', ' '),
    count(site.count),
    duration(site.totalMs),
    atMost(site),
    times.time(site.lastAt),
  ])
  const heads = [
    text('Function'),
    text('where'),
    text('in'),
    text('cause'),
    'stalls',
    'in sum',
    'longest',
    'last',
  ]
  const stacks = uniqueStacks(stalls)
  return makeSection(
    'stalls',
    'Stalls of the event loop',
    about,
    makeTable({ caption: 'Stalls, by code location', heads, rows }),
    stacks.length > 0 &&
      html`<h3>Stacks</h3><ol class="stacks">${stacks.map(
        (site) =>
          html`<li><p>${nameOf(site)} in ${originOf(site)}</p><ul>${site.frames.map((frame) => html`<li><code>${frame}</code></li>`)}</ul></li>`
      )}</ol>`
  )
}

/**
 * Returns the sites with different stacks. Several rows may have the same stack.
 *
 * @param {Run['stalls']} stalls
 */
const uniqueStacks = (stalls) =>
  [...new Map(stalls.map((site) => [site.frames.join('\n'), site])).values()].filter(
    ({ frames }) => frames.length > 0
  )

/** @param {Run} run @param {Times} times */
function makeErrors(run, times) {
  const { errors, otherErrors } = run
  const table =
    errors.length > 0 &&
    makeTable({
      caption: 'Errors by route and type',
      heads: [text('Route'), text('error'), text('thrown at'), 'status', 'errors', 'last'],
      rows: errors.map((error) => [
        routeName(error),
        errorText(error),
        error.place === null ? NONE : html`<code>${shortPlace(error.place)}</code>`,
        String(error.status),
        count(error.count),
        times.time(error.lastAt),
      ]),
    })
  const others =
    otherErrors.length > 0 &&
    makeTable({
      caption: 'Outside of routes',
      heads: [text('What'), 'times'],
      rows: otherErrors.map(({ name, count: times }) => [name, count(times)]),
      isSmall: true,
    })
  return makeSection(
    'errors',
    'Errors',
    coverOf(run, times),
    table,
    others,
    !table && !others && html`<p>None.</p>`
  )
}

/** @param {Run} run @param {Times} times */
function makeOutgoing(run, times) {
  if (run.outgoing.length === 0) return null
  const rows = run.outgoing.map(({ host, count: calls, errors, totalMs, maxMs, isMostAtMost, ...parts }) => [
    host,
    count(calls),
    duration(totalMs / calls),
    atMost({ isMostAtMost, maxMs }),
    duration(totalMs),
    mostOfCalls({ totalMs, ...parts }),
    percent(errors / calls),
  ])
  const heads = [text('Host'), 'calls', 'mean', 'longest', 'in sum', text('mostly'), 'failed']
  return makeSection(
    'outgoing',
    'Outgoing calls',
    coverOf(run, times),
    makeTable({ caption: 'Calls to other servers', heads, rows })
  )
}

/** @param {Run} run @param {Times} times */
function makeRejections(run, times) {
  const { mode, rejected, wouldReject } = run
  /** @param {ShedCount[]} list @param {string} what */
  const rowsOf = (list, what) =>
    list.map(({ reason, priority, count: requests }) => [reason, priority, what, count(requests)])
  const rows = [...rowsOf(rejected, 'rejected'), ...rowsOf(wouldReject, 'would be rejected')]
  return makeSection(
    'rejections',
    'Shed requests',
    `${coverOf(run, times)} Mode ${mode}.`,
    rows.length === 0
      ? html`<p>No request was rejected.</p>`
      : makeTable({
          caption: 'Rejected, by reason',
          heads: [text('Reason'), text('class'), text('what'), 'requests'],
          rows,
          isSmall: true,
        })
  )
}

const VERDICTS = { none: 'does not grow', growing: 'grows', unknown: 'not known' }

/** @param {Run} run @param {Times} times */
function makeMemory(run, times) {
  const { collections, heap } = run
  const { verdict, megabytesPerHour, secondsToLimit } = heap.trend
  const rows = collections.map(({ kind, count: collected, totalMs }) => [
    kind,
    count(collected),
    duration(totalMs),
  ])
  return makeSection(
    'memory',
    'Memory',
    coverOf(run, times),
    html`<div class="beside">${makeFacts('Heap after a major collection', [
      ['when the run began', bytes(heap.before)],
      ['when it ended', bytes(heap.after)],
      ['limit', bytes(heap.limitBytes)],
      ['trend', VERDICTS[verdict] ?? NONE],
      ['growth', megabytesPerHour === null ? NONE : `${number(megabytesPerHour)} MB/h`],
      ['full in', span(secondsToLimit)],
      ['memory of the machine or container', bytes(heap.memoryLimitBytes)],
    ])}${makeTable({ caption: 'Collections', heads: [text('Kind'), 'collections', 'in sum'], rows, isSmall: true })}</div>`
  )
}

module.exports = { makeErrors, makeMemory, makeOutgoing, makeRejections, makeStalls }
