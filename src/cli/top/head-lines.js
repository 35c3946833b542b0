'use strict'
// The head of `spillway top`: whose figures these are, whether the process is healthy, and the figures of the
// whole process in a grid. It always has the same number of lines, so that nothing below it jumps.

const { NONE, bytes, duration, percent, span, timeOfDay } = require('../../core/readable')
const { rate } = require('../figures')
const { asManyAsFit, clip, padEnd, printable, widthOf, wrap } = require('../printable-text')

/**
 * @import { Output, Paint, Style } from '../output'
 * @import { Feed } from './feed'
 */

const BARS = '▁▂▃▄▅▆▇█'
const LABEL_WIDTH = 10
/** Width of the text after the bars, which says how long they go back. */
const SPAN_WIDTH = 8
const SECOND_MS = 1000
const REMEMBERED_S = 600
/** A point comes each second or a little later. So a bar of one second would sometimes have no point. */
const MIN_BAR_S = 2
const MIN_CELL_WIDTH = 20
/** From this width on a line has room for eight figures. */
const WIDE = 150
/** The smallest number above 0. */
const ANY = Number.MIN_VALUE
/** Below this width a sentence takes two lines. */
const NARROW = 100
/**
 * Problems caused by other processes or a limit of the container: the rules of the doctor with `isOutside`.
 */
const OUTSIDE = new Set(['cpu-throttled', 'host-starved'])
const SEVERITY_STYLES = /** @type {const} */ ({ high: 'red', medium: 'yellow', low: undefined })

/**
 * @typedef {[label: string, value: string, style?: Style | undefined]} Cell
 *
 * @param {Feed} feed
 * @param {{ out: Output, url: string, width: number }} look
 * @returns {string[]}
 */
function headLines(feed, { out, url, width }) {
  const { paint } = out
  const end = out.isUnicode ? '…' : '...'
  return [
    titleLine(feed, { paint, url, width }),
    ...healthLines(feed, { paint, width, end }),
    ...gridLines(columnsOf(feed), { paint, width, end }),
    ...(out.isUnicode ? [sparkLine(feed.history, { paint, width })] : []),
  ]
}

/** @param {Feed} feed @param {{ paint: Paint, url: string, width: number }} look */
function titleLine({ snapshot }, { paint, url, width }) {
  const { at, uptimeSeconds, releases } = snapshot
  const { version } = releases.current
  const time = timeOfDay(at)
  const room = width - widthOf(time) - 2
  const parts = [
    'spillway top',
    url.replace('http://', ''),
    `up ${span(uptimeSeconds)}`,
    ...(version === '' ? [] : [`release ${version}`]),
  ]
  return `${paint('bold', padEnd(asManyAsFit(parts.map(printable), room), room))}  ${paint('dim', time)}`
}

/**
 * Findings, each with as many lines as the others.
 *
 * @param {Feed} feed @param {{ paint: Paint, width: number, end: string }} look
 */
function healthLines(feed, look) {
  const said = healthOf(feed)
  const lines = linesOfHealth(look.width)
  const drawn = said.flatMap((each) => sentenceLines(each, lines / said.length, look))
  return Array.from({ length: lines }, (_, line) => drawn[line] ?? '')
}

/** @param {number} width */
const linesOfHealth = (width) => (width < NARROW ? 4 : 2)

/**
 * @param {Said} said
 * @param {number} most lines
 * @param {{ paint: Paint, width: number, end: string }} look
 */
function sentenceLines({ style, word, sentence, next }, most, { paint, width, end }) {
  const room = width - word.length - 1
  const all = wrap(printable(sentence), room)
  const lines = [...all.slice(0, most - 1), all.slice(most - 1).join(' ')].filter((line) => line !== '')
  const last = lines.at(-1) ?? ''
  if (widthOf(last) + widthOf(next) <= room) lines[lines.length - 1] = last + next
  else if (lines.length < most) lines.push(next.trimStart())
  // The key to press is shown even if the sentence is cut.
  else lines[most - 1] = clip(last, room - widthOf(next), end) + next
  return lines.map((line, index) =>
    index === 0 ? `${paint('bold', paint(style, word))} ${line}` : ' '.repeat(word.length + 1) + line
  )
}

/**
 * Says that the service is lost, that nothing is wrong, or the first finding. A second finding may follow:
 * the next cause inside this process, or else the next cause outside. So a busy machine does not hide what
 * blocks the process.
 *
 * @typedef {{ style: Style | undefined, word: string, sentence: string, next: string }} Said
 *
 * @param {Feed} feed
 * @returns {Said[]}
 */
function healthOf({ loss, lostSeconds, diagnosis: { healthy, summary, findings } }) {
  if (loss !== undefined) {
    const sentence = `Old figures, ${lostSeconds} s without an answer: ${loss.message}`
    return [{ style: 'red', word: 'LOST', sentence, next: '' }]
  }
  if (healthy === null) return [{ style: 'yellow', word: 'UNKNOWN', sentence: summary, next: '' }]
  if (healthy)
    return [{ style: 'green', word: 'HEALTHY', sentence: summary.replace(/^Healthy: n/, 'N'), next: '' }]
  const [first, ...others] = findings
  const causes = others.filter(({ effectOf }) => effectOf === null)
  const culprit = causes.find(({ problem }) => !OUTSIDE.has(problem)) ?? causes[0]
  const shown = culprit === undefined ? [first] : [first, culprit]
  const left = findings.length - shown.length
  return shown.map((finding) => ({
    style: SEVERITY_STYLES[finding.severity],
    word: finding.severity.toUpperCase(),
    sentence: finding.summary,
    next: finding !== shown.at(-1) ? '' : left === 0 ? ' Press d.' : ` ${left} more: press d.`,
  }))
}

/** Four columns of four figures each. @param {Feed} feed @returns {Cell[][]} */
function columnsOf({ snapshot, rates: { all } }) {
  const { requests, admission, runtime, stalls } = snapshot
  const { lastMinute, inFlight } = requests
  const { loop, cpu, heap, memory } = runtime
  const heapBytes = heap.afterGcBytes ?? heap.usedBytes
  const full = heapBytes / heap.limitBytes
  return [
    [
      ['requests', `${rate(all.requests)}/s`],
      ['errors', `${rate(all.errors)}/s`, shade(lastMinute.errorRatio, ANY, 0.05)],
      ['shed', all.shed === undefined ? NONE : `${rate(all.shed)}/s`, shade(all.shed ?? 0, ANY)],
      ['in flight', admission.limit === null ? `${inFlight}` : `${inFlight} of ${admission.limit}`],
    ],
    [
      ['p50', duration(lastMinute.p50Ms)],
      ['p99', duration(lastMinute.p99Ms)],
      ['max', duration(lastMinute.maxMs)],
      ['queued', `${admission.queued}`, shade(admission.queued, 1)],
    ],
    [
      ['loop', percent(loop.utilization), shade(loop.utilization, 0.7, 0.9)],
      ['loop p99', duration(loop.delayMs.p99), shade(loop.delayMs.p99, 50, 200)],
      ['stalls', `${stalls.count}`],
      // The seconds of a long time would not fit.
      ['stalled', duration(stalls.totalMs).replace(/(?<=min|h|d) .*/, '')],
    ],
    [
      ['heap', bytes(heapBytes), shade(full, 0.7, 0.9)],
      ['of limit', percent(full), shade(full, 0.7, 0.9)],
      ['memory', bytes(memory.rssBytes)],
      ['cpu', percent(cpu.utilization)],
    ],
  ]
}

/** @param {number} value @param {number} yellowFrom @param {number} [redFrom] @returns {Style | undefined} */
function shade(value, yellowFrom, redFrom = Number.POSITIVE_INFINITY) {
  if (value >= redFrom) return 'red'
  return value >= yellowFrom ? 'yellow' : undefined
}

/** @param {Cell[][]} columns @param {{ paint: Paint, width: number, end: string }} look */
function gridLines(columns, { paint, width, end }) {
  const shown = gridFor(columns, width)
  const cellWidth = Math.floor((width + 1) / shown.length)
  /** @param {number} index */
  const lineOf = (index) =>
    shown.map((column) => {
      const [label, value, style] = column[index]
      const text = clip(value, cellWidth - LABEL_WIDTH - 1, end)
      return padEnd(paint('dim', padEnd(label, LABEL_WIDTH)) + paint(style, text), cellWidth)
    })
  return shown[0].map((_, index) => lineOf(index).join(''))
}

/**
 * On a wide terminal each column becomes two. On a narrow terminal the last columns are left out.
 *
 * @param {Cell[][]} columns
 * @param {number} width
 */
function gridFor(columns, width) {
  if (width >= WIDE) return columns.flatMap((column) => [column.slice(0, 2), column.slice(2)])
  return columns.slice(0, Math.max(1, Math.min(columns.length, Math.floor((width + 1) / MIN_CELL_WIDTH))))
}

/**
 * Draws requests a second over the last ten minutes, the newest on the right. The scale stands before the
 * bars, and how long they go back after them. A bar is the mean of its seconds. Seconds without a record have
 * no bar.
 *
 * @param {Feed['history']} history @param {{ paint: Paint, width: number }} look
 */
function sparkLine(history, { paint, width }) {
  const most = Math.max(1, width - LABEL_WIDTH - SPAN_WIDTH)
  const newest = history.at(-1)?.at ?? 0
  const known = history.filter(({ at }) => at <= newest && at > newest - REMEMBERED_S * SECOND_MS)
  const seconds = known.length === 0 ? 0 : Math.round((newest - known[0].at) / SECOND_MS)
  const bars = barsOf(known, Math.max(MIN_BAR_S, Math.ceil(seconds / most))).slice(-most)
  const top = bars.reduce((/** @type {number} */ sum, mean = 0) => Math.max(sum, mean), 1)
  const text = bars.map((mean) => (mean === undefined ? ' ' : BARS[levelOf(mean / top)])).join('')
  const back = seconds < 120 ? seconds : 60 * Math.round(seconds / 60)
  return (
    paint('dim', padEnd(`0-${rate(top)}/s`, LABEL_WIDTH)) +
    paint('cyan', text) +
    paint('dim', back === 0 ? '' : `  ${span(back)}`)
  )
}

/**
 * @param {Feed['history']} points
 * @param {number} seconds per bar
 * @returns {(number | undefined)[]} undefined without a point
 */
function barsOf(points, seconds) {
  /** @type {({ sum: number, count: number } | undefined)[]} */
  const sums = []
  /** @param {number} at */
  const barAt = (at) => Math.floor(at / SECOND_MS / seconds)
  const first = barAt(points[0]?.at ?? 0)
  for (const { at, requests } of points) {
    const { sum, count } = sums[barAt(at) - first] ?? { sum: 0, count: 0 }
    sums[barAt(at) - first] = { sum: sum + requests, count: count + 1 }
  }
  return Array.from(sums, (bar) => bar && bar.sum / bar.count)
}

/** @param {number} share from 0 to 1 */
const levelOf = (share) => Math.min(BARS.length - 1, Math.floor(share * BARS.length))

module.exports = { OUTSIDE, headLines }
