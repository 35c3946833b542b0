'use strict'
// The head of `spillway top`: whose figures these are, whether the process is healthy, and the figures of the whole process in a grid.
// It always has the same number of lines, so that nothing below it jumps.

const { NONE, bytes, duration, percent, span, timeOfDay } = require('../../core/readable')
const { rate } = require('../figures')
const { clip, padEnd, printable, widthOf, wrap } = require('../printable-text')

/**
 * @import { Output, Paint, Style } from '../output'
 * @import { Feed } from './feed'
 */

const BARS = '▁▂▃▄▅▆▇█'
const LABEL_WIDTH = 10
const LEAST_CELL_WIDTH = 20
/** From this width on a line has room for eight figures. */
const WIDE = 150
/** More than nothing. */
const ANY = Number.MIN_VALUE
const HEALTH_LINES = 2
/** The doctor's own sentence has the figures of its own time, which are not those of the last second below it. */
const TOO_LITTLE = 'Not enough traffic yet for the doctor to tell.'
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
  return [
    titleLine(feed, { paint, url, width }),
    ...healthLines(feed, { paint, width, end: out.isUnicode ? '…' : '...' }),
    ...gridLines(columnsOf(feed), { paint, width }),
    ...(out.isUnicode ? [sparkLine(feed.history, { paint, width })] : []),
  ]
}

/** @param {Feed} feed @param {{ paint: Paint, url: string, width: number }} look */
function titleLine({ snapshot }, { paint, url, width }) {
  const { at, uptimeSeconds, releases } = snapshot
  const { version } = releases.current
  const left = printable(
    `${url.replace('http://', '')}  up ${span(uptimeSeconds)}${version === '' ? '' : `  release ${version}`}`
  )
  const title = `spillway top  ${left}`
  const time = timeOfDay(at)
  const room = width - widthOf(time) - 2
  return `${paint('bold', padEnd(clip(title, room), room))}  ${paint('dim', time)}`
}

/**
 * One sentence: the loss of the service, the first finding, or that there is none.
 *
 * @param {Feed} feed @param {{ paint: Paint, width: number, end: string }} look
 */
function healthLines(feed, { paint, width, end }) {
  const { style, word, sentence } = healthOf(feed)
  const [first, ...rest] = wrap(printable(sentence), width - word.length - 1)
  const second = rest.join(' ')
  const lines = [
    `${paint('bold', paint(style, word))} ${first}`,
    ' '.repeat(word.length + 1) + clip(second, width - word.length - 1, end),
  ]
  return lines.slice(0, HEALTH_LINES)
}

/** @param {Feed} feed @returns {{ style: Style | undefined, word: string, sentence: string }} */
function healthOf({ loss, lostSeconds, diagnosis: { healthy, summary, findings } }) {
  if (loss !== undefined)
    return {
      style: 'red',
      word: 'LOST',
      sentence: `Old figures, ${lostSeconds} s without an answer: ${loss.message}`,
    }
  if (healthy === null) return { style: 'yellow', word: 'UNKNOWN', sentence: TOO_LITTLE }
  if (healthy) return { style: 'green', word: 'HEALTHY', sentence: summary.replace(/^Healthy: n/, 'N') }
  const [{ severity }] = findings
  const others = findings.length - 1
  const more = others === 0 ? 'Press d for figures and advice.' : `${others} more: press d.`
  return { style: SEVERITY_STYLES[severity], word: severity.toUpperCase(), sentence: `${summary} ${more}` }
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
      ['stalled', duration(stalls.totalMs)],
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

/** @param {Cell[][]} columns @param {{ paint: Paint, width: number }} look */
function gridLines(columns, { paint, width }) {
  const shown = gridFor(columns, width)
  const cellWidth = Math.floor((width + 1) / shown.length)
  /** @param {number} index */
  const lineOf = (index) =>
    shown.map((column) => {
      const [label, value, style] = column[index]
      const text = clip(value, cellWidth - LABEL_WIDTH - 1)
      return padEnd(paint('dim', padEnd(label, LABEL_WIDTH)) + paint(style, text), cellWidth)
    })
  return shown[0].map((_, index) => lineOf(index).join(''))
}

/** On a wide terminal each column becomes two; on a narrow one the last are left out. @param {Cell[][]} columns @param {number} width */
function gridFor(columns, width) {
  if (width >= WIDE) return columns.flatMap((column) => [column.slice(0, 2), column.slice(2)])
  return columns.slice(0, Math.max(1, Math.min(columns.length, Math.floor((width + 1) / LEAST_CELL_WIDTH))))
}

/**
 * Requests a second over the last two minutes, the newest on the right; before it the scale.
 *
 * @param {number[]} history @param {{ paint: Paint, width: number }} look
 */
function sparkLine(history, { paint, width }) {
  const shown = history.slice(-(width - LABEL_WIDTH))
  const most = Math.max(1, ...shown)
  const label = padEnd(`0-${rate(most)}/s`, LABEL_WIDTH)
  const bars = shown
    .map((value) => BARS[Math.min(BARS.length - 1, Math.floor((value / most) * BARS.length))])
    .join('')
  return paint('dim', label) + paint('cyan', bars)
}

module.exports = { headLines }
