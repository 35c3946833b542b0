'use strict'
// What happened in the time between two snapshots, as numbers a second. Of the first snapshot only the last minute is known.

const FAILED = /** @type {const} */ (['errored', 'timed_out'])

/**
 * @import { AdmissionSnapshot, LatencySummary, RouteSnapshot, Snapshot } from '../../../index.js'
 * @typedef {object} Rates a number that is not known is undefined
 * @property {number} requests
 * @property {number} errors
 * @property {number | undefined} shed
 */

/** @param {RouteSnapshot} route */
const keyOf = ({ method, route }) => `${method} ${route}`
/** @param {RouteSnapshot} route */
const failedOf = ({ outcomes }) => FAILED.reduce((sum, outcome) => sum + outcomes[outcome], 0)
/** @param {AdmissionSnapshot} admission */
const shedOf = ({ shed, wouldShed }) => [...shed, ...wouldShed].reduce((sum, { count }) => sum + count, 0)

class SnapshotRates {
  /** @type {Rates} */
  all
  #seconds
  #now
  #before
  #routesBefore

  /** @param {Snapshot} now @param {Snapshot | undefined} before of the same process */
  constructor(now, before) {
    this.#now = now
    this.#before = before
    this.#seconds = before === undefined ? 0 : now.uptimeSeconds - before.uptimeSeconds
    this.#routesBefore = new Map(before?.routes.map((route) => [keyOf(route), route]))
    this.all = this.#ofAll()
  }

  /** @param {RouteSnapshot} route @returns {Rates & { loopMs: number | undefined }} */
  of(route) {
    const { sinceStart, loopMs, shed } = route
    if (this.#before === undefined) return { ...ofLastMinute(route.lastMinute), loopMs: loopOfMinute(route) }
    const before = this.#routesBefore.get(keyOf(route))
    return {
      requests: this.#perSecond(sinceStart.count - (before?.sinceStart.count ?? 0)),
      errors: this.#perSecond(failedOf(route) - (before === undefined ? 0 : failedOf(before))),
      shed: this.#perSecond(shed - (before?.shed ?? 0)),
      loopMs:
        loopMs === null ? undefined : this.#perSecond(loopMs.sinceStart - (before?.loopMs?.sinceStart ?? 0)),
    }
  }

  #ofAll() {
    const { requests, routes, admission } = this.#now
    if (this.#before === undefined) return ofLastMinute(requests.lastMinute)
    /** @param {readonly RouteSnapshot[]} list */
    const sumOf = (list) => list.reduce((sum, route) => sum + failedOf(route), 0)
    return {
      requests: this.#perSecond(requests.sinceStart.count - this.#before.requests.sinceStart.count),
      errors: this.#perSecond(sumOf(routes) - sumOf(this.#before.routes)),
      shed: this.#perSecond(shedOf(admission) - shedOf(this.#before.admission)),
    }
  }

  /** Routes can be folded between two snapshots, so that a count seems to fall. @param {number} difference */
  #perSecond(difference) {
    return Math.max(0, difference) / this.#seconds
  }
}

/** @param {LatencySummary} summary @returns {Rates} */
const ofLastMinute = ({ ratePerSecond, errorRatio }) => ({
  requests: ratePerSecond,
  errors: ratePerSecond * errorRatio,
  shed: undefined,
})

/** The milliseconds of each second: the window is as long as its requests and their rate say. @param {RouteSnapshot} route */
function loopOfMinute({ lastMinute: { count, ratePerSecond }, loopMs }) {
  if (loopMs === null || count === 0) return undefined
  return loopMs.lastMinute / (count / ratePerSecond)
}

exports.SnapshotRates = SnapshotRates
