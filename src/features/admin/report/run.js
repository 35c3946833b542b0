'use strict'
// All figures of a run as one plain object, which a report shows and contains as JSON. If the counters at the
// start of the run are known, tables are about the run alone. Otherwise they are about the last minute, or
// about the time since the start of the process: `covers` says which.

const { makeCurves } = require('./run-curves')
const { describeEvents } = require('./run-events')
const { describeRequests } = require('./run-requests')
const { describeServices } = require('./run-services')

const FORMAT = 'spillway.report.1'
const MINUTE_MS = 60_000
/** Counters and points are not read at exactly the same time. */
const TOLERANCE_MS = 5000
const SECOND_MS = 1000
const MIN_SECONDS = 0.001

/**
 * @import { LivePoint, RunTotals, SlowRequest } from '../../../../index.js'
 * @import { Sighting } from './sightings'
 *
 * @typedef {'run' | 'minute' | 'process'} Covers
 *
 * @typedef {object} Recorded
 * @property {{ from: number, to: number }} asked milliseconds since the epoch, perhaps infinite
 * @property {number} [seconds] length of the run, by a monotonic clock
 * @property {LivePoint[]} points may also include points outside of the run
 * @property {RunTotals | 'process'} [start] 'process' means that the process began in the run. If `start` is
 *   missing, the counters at the start are unknown
 * @property {RunTotals} end
 * @property {Sighting[]} findings
 * @property {boolean} hasVerdict whether there was enough traffic for the doctor to give a verdict
 * @property {readonly SlowRequest[]} slowest
 * @property {Record<string, unknown>} options
 * @property {string} [zone]
 * @property {string} [title]
 * @property {string} [address] which service
 * @property {string} [command] that was run
 * @property {readonly string[]} [notices] what the reader should know about the figures
 * @property {number} [workers]
 *
 * @typedef {ReturnType<typeof makeRun>} Run
 */

/** @param {Recorded} recorded */
function makeRun(recorded) {
  const { asked, end, options, zone, title, address, command, notices = [], workers = 1 } = recorded
  const points = recorded.points.filter(({ at }) => at > asked.from && at <= asked.to)
  const { from, to } = recorded.start === undefined ? endsOf(asked, points, end) : asked
  const startedAt = Date.parse(end.snapshot.at) - end.snapshot.uptimeSeconds * SECOND_MS
  const isNow = end.at - to <= TOLERANCE_MS
  const isWhole = isNow && from - startedAt <= TOLERANCE_MS
  const start = recorded.start ?? (isWhole ? 'process' : undefined)
  const seconds = recorded.seconds ?? (to - from) / SECOND_MS
  const totals = {
    start,
    end,
    isNow,
    seconds: Math.max(MIN_SECONDS, countedSeconds(start, end) ?? seconds),
  }
  return {
    format: FORMAT,
    title: title ?? null,
    address: address ?? null,
    command: command ?? null,
    from,
    to,
    seconds,
    zone: zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
    startedAt,
    notices,
    workers,
    process: end.process,
    minuteFrom: Math.max(startedAt, end.at - MINUTE_MS),
    ...describeRequests(points, totals),
    ...describeEvents({ ...recorded, from, to }, totals),
    ...describeServices(totals),
    curves: makeCurves(points),
    releases: end.snapshot.releases,
    options,
  }
}

/**
 * Returns the time covered by the counters, by the monotonic clock of the process.
 *
 * @param {Recorded['start']} start @param {RunTotals} end
 */
function countedSeconds(start, end) {
  if (start === undefined) return undefined
  return end.snapshot.uptimeSeconds - (start === 'process' ? 0 : start.snapshot.uptimeSeconds)
}

/**
 * Returns the span of time that has points, because nothing is known of the time before the first point. If
 * the wall clock was set back, the points are not in order of time.
 *
 * @param {Recorded['asked']} asked @param {LivePoint[]} points @param {RunTotals} end
 */
function endsOf({ from, to }, points, end) {
  if (points.length === 0)
    return { from: Number.isFinite(from) ? from : end.at - SECOND_MS, to: Math.min(to, end.at) }
  const times = points.map(({ at }) => at)
  return {
    from: Math.max(from, Math.min(...times) - SECOND_MS),
    to: Math.min(to, Math.max(...times, Number.isFinite(to) ? 0 : end.at)),
  }
}

module.exports = { FORMAT, makeRun }
