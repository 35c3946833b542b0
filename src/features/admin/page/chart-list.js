'use strict'
// The charts: figure, unit, colour and note of each. The live page draws the charts on a canvas, a report
// draws them as SVG.

const { bytes, duration, number, percent, span } = require('../../../core/readable')

/**
 * @import { Diagnosis, FleetSnapshot, LivePoint, ProcessDescription, Snapshot } from '../../../../index.js'
 *
 * @typedef {object} State what the page shows beside the charts
 * @property {string} instance changes with a restart
 * @property {ProcessDescription} process
 * @property {Snapshot} snapshot
 * @property {Diagnosis} diagnosis
 * @property {Omit<FleetSnapshot, 'routes'> & { lastMinute?: { gaveUpRatio: number | null, shedRatio: number |
 *   null } } | null} fleet
 *
 * @typedef {object} Series
 * @property {string} label
 * @property {string} color
 * @property {(point: LivePoint) => number | null} read
 * @property {boolean} [isDashed]
 * @property {boolean} [isFilled]
 * @property {boolean} [isBar]
 *
 * @typedef {object} ChartOptions
 * @property {string} title
 * @property {Series[]} series
 * @property {(value: number | null | undefined) => string} format
 * @property {number} [most] the upper end of the scale; by default the largest value
 * @property {number} [least] the upper end of the scale is at least this, so that noise looks flat
 * @property {(state: State) => string} [note]
 */

/** Returns `null` for a second without requests. @param {number} part @param {number} rest */
const shareOf = (part, rest) => (part + rest === 0 ? null : part / (part + rest))

/** @type {ChartOptions[]} */
const CHARTS = [
  {
    title: 'Requests a second',
    format: number,
    least: 1,
    series: [
      { label: 'served', color: 'blue', read: (point) => point.requests, isFilled: true },
      { label: 'shed', color: 'orange', read: (point) => point.shed },
    ],
  },
  {
    title: 'Latency',
    format: duration,
    least: 1,
    series: [
      { label: 'p50', color: 'sky', read: (point) => point.p50, isDashed: true },
      { label: 'p99', color: 'blue', read: (point) => point.p99 },
    ],
  },
  {
    title: 'Errors and shed',
    format: percent,
    least: 0.01,
    series: [
      { label: 'errors', color: 'red', read: ({ errors, requests }) => shareOf(errors, requests - errors) },
      {
        label: 'shed',
        color: 'orange',
        read: ({ shed, requests }) => shareOf(shed, requests),
        isDashed: true,
      },
    ],
  },
  {
    title: 'In flight',
    format: number,
    least: 4,
    note: ({ snapshot: { admission } }) =>
      admission.limitedBy === null ? `mode ${admission.mode}` : `limited by ${admission.limitedBy}`,
    series: [
      { label: 'running', color: 'blue', read: (point) => point.inFlight, isFilled: true },
      { label: 'queued', color: 'orange', read: (point) => point.queued },
      { label: 'limit', color: 'grey', read: (point) => point.limit, isDashed: true },
    ],
  },
  {
    title: 'Loop delay',
    format: duration,
    least: 10,
    series: [{ label: 'p99', color: 'purple', read: (point) => point.loopDelayP99 }],
  },
  {
    title: 'Loop busy',
    format: percent,
    most: 1,
    note: ({ snapshot: { runtime } }) => `CPU ${percent(runtime.cpu.utilization)}`,
    series: [{ label: 'busy', color: 'purple', read: (point) => point.utilization, isFilled: true }],
  },
  {
    title: 'Stalls',
    format: duration,
    least: 100,
    note: ({ snapshot: { stalls } }) => `${stalls.count} since the start`,
    series: [{ label: 'stalled', color: 'red', read: (point) => point.stallMs, isBar: true }],
  },
  {
    title: 'Heap',
    format: bytes,
    least: 1e6,
    note: heapNote,
    series: [
      { label: 'used', color: 'grey', read: (point) => point.heapUsed, isDashed: true },
      { label: 'after GC', color: 'green', read: (point) => point.heapAfterGc },
    ],
  },
  {
    title: 'Memory',
    format: bytes,
    least: 1e6,
    note: ({ snapshot: { runtime } }) => `of ${bytes(runtime.memory.limitBytes)}`,
    series: [{ label: 'resident', color: 'green', read: (point) => point.rss, isFilled: true }],
  },
]

/** Says how full the heap is, and whether it grows. @param {State} state */
function heapNote({ snapshot: { runtime } }) {
  const { afterGcBytes, limitBytes, trend } = runtime.heap
  const used =
    afterGcBytes === null
      ? `limit ${bytes(limitBytes)}`
      : `${percent(afterGcBytes / limitBytes)} of ${bytes(limitBytes)}`
  if (trend.verdict === 'growing')
    return `${used}, grows ${number(trend.megabytesPerHour)} MB/h, full in ${span(trend.secondsToLimit)}`
  return trend.verdict === 'none' ? `${used}, steady` : used
}

module.exports = { CHARTS }
