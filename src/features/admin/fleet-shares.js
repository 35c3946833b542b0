'use strict'
// Which share of a fleet's requests was rejected, and which share of their clients gave up, over the last
// minute. A fleet only counts rejections since the start. So the first and the last reading of the minute are
// compared.

/**
 * @import { FleetSnapshot } from '../../../index.js'
 * @typedef {{ gaveUpRatio: number | null, shedRatio: number | null }} Shares `null` where a share is not
 *   known
 */

const MINUTE_MS = 60_000

class FleetShares {
  /** Readings of the last minute, oldest first. @type {{ atMs: number, count: number, shed: number }[]} */
  #readings = []

  /**
   * @param {Pick<FleetSnapshot, 'requests' | 'routes' | 'shed'>} fleet
   * @param {number} nowMs
   * @returns {Shares}
   */
  take({ requests, routes, shed }, nowMs) {
    return { gaveUpRatio: gaveUpRatio(requests, routes), shedRatio: this.#shedRatio(requests, shed, nowMs) }
  }

  /** @param {FleetSnapshot['requests']} requests @param {number} shed @param {number} nowMs */
  #shedRatio({ sinceStart: { count } }, shed, nowMs) {
    const last = this.#readings.at(-1)
    // Counts fall when the report of a member can no longer be read. Then the readings begin anew.
    const isSameFleet = last !== undefined && last.count <= count && last.shed <= shed
    const sinceMs = nowMs - MINUTE_MS
    this.#readings = isSameFleet ? this.#readings.filter(({ atMs }) => atMs >= sinceMs) : []
    this.#readings.push({ atMs: nowMs, count, shed })
    const [first] = this.#readings
    const rejected = shed - first.shed
    const all = rejected + count - first.count
    return all === 0 ? null : rejected / all
  }
}

/** @param {FleetSnapshot['requests']} requests @param {FleetSnapshot['routes']} routes */
function gaveUpRatio({ lastMinute: { count } }, routes) {
  if (count === 0 || routes.some(({ gaveUp }) => gaveUp === null)) return null
  return Math.min(1, routes.reduce((sum, { gaveUp }) => sum + (gaveUp?.lastMinute ?? 0), 0) / count)
}

exports.FleetShares = FleetShares
