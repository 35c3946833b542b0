'use strict'
// Builds the snapshot of the whole fleet, a frozen plain object: the workers, and the requests of all workers
// by route. The loop and the heap of a process are only in the snapshot of that process.

const { countersOf, deepFreeze, summaryOf } = require('../../core/snapshot/snapshot')
const { NO_PARTS, routePartsOf } = require('../../core/snapshot/route-parts')
const { COUNT, ERRORS, LAST_MINUTE_PARTS, PARTS, SINCE, STREAMS } = require('./reports/route-report')
const { TimeSlices } = require('./time-slices')

/**
 * @import { JsHistogram } from 'hdr-histogram-js'
 * @import { FleetSnapshot, LatencySummary, RouteSnapshot } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { NamedMember, NamedReadable } from './members/poll-members'
 * @import { ReportSum } from './reports/report-sum'
 * @import { States } from './worker-states'
 */

const SHED = 'spillway_shed_requests_total'

/**
 * @typedef {NamedReadable & { state: 'live' | 'silent' }} Present
 * @typedef {{ -readonly [Key in keyof LatencySummary]: LatencySummary[Key] }} Summary
 */

/**
 * @param {{ clock: Clock, recorder: { timeParts: { isOn: boolean } } }} deps of the instance that is asked
 * @param {ReportSum} sum
 * @param {readonly NamedMember[]} members
 * @param {States} states
 * @returns {Promise<FleetSnapshot>}
 */
async function takeFleetSnapshot({ clock, recorder }, sum, members, states) {
  const wallMs = clock.wallMs()
  const present = /** @type {Present[]} */ (
    members.filter(({ state }) => state === 'live' || state === 'silent')
  )
  const requests = /** @type {FleetSnapshot['requests']} */ ({
    inFlight: present.reduce((total, { head }) => total + head.inFlight, 0),
  })
  /** @type {RouteSnapshot[]} */
  const routes = []
  await new TimeSlices(clock).run(
    readRoutes({ sum, wallMs, hasParts: recorder.timeParts.isOn }, requests, routes)
  )
  const { unreadable, departed } = states
  const at = new Date(wallMs).toISOString()
  const workers = present.map(workerOf)
  return Object.freeze({
    ...deepFreeze({ at, workers, unreadable, departed, requests, shed: shedIn(sum.families) }),
    routes: Object.freeze(routes),
  })
}

/**
 * @param {{ sum: ReportSum, wallMs: number, hasParts: boolean }} from
 * @param {FleetSnapshot['requests']} requests @param {RouteSnapshot[]} routes both are filled
 */
function* readRoutes({ sum, wallMs, hasParts }, requests, routes) {
  for (const { key, totals, spans } of sum.routes.read(wallMs)) {
    const [sinceStart, lastMinute] = /** @type {Summary[]} */ (
      spans.map((span) => summaryOf(countsOf(span, wallMs)))
    )
    // The rates of the workers are added, because their last minutes differ in length. If all requests were
    // divided by the longest of them, two workers with 100 a second each would show 153.
    lastMinute.ratePerSecond = spans[1].ratePerSecond
    if (key.length === 0) Object.assign(requests, { lastMinute, sinceStart })
    else {
      const [method, route] = key
      const streams = { count: totals[STREAMS], totalSeconds: totals[STREAMS + 1] }
      const parts = hasParts
        ? routePartsOf(totals.subarray(PARTS), totals.subarray(LAST_MINUTE_PARTS))
        : NO_PARTS
      routes.push(
        deepFreeze({ method, route, lastMinute, sinceStart, ...countersOf(totals, 0), streams, ...parts })
      )
    }
    yield
  }
}

/** Rejected requests since the start. @param {ReportSum['families']} families */
function shedIn(families) {
  const family = families.find(({ name, isForeign }) => name === SHED && !isForeign)
  let shed = 0
  for (const { value } of /** @type {Iterable<{ value: number }>} */ (family?.points() ?? [])) shed += value
  return shed
}

/** @param {Present} member */
const workerOf = ({ worker, state, head }) => ({
  worker,
  pid: head.pid,
  state,
  reportedAt: new Date(head.at).toISOString(),
})

/** @param {{ since: Float64Array, histogram: JsHistogram }} span @param {number} wallMs */
const countsOf = ({ since, histogram }, wallMs) => ({
  count: since[COUNT],
  errors: since[ERRORS],
  seconds: Math.max(0, wallMs - since[SINCE]) / 1000,
  histogram,
})

module.exports = { takeFleetSnapshot }
