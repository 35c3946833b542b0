'use strict'
// What the live page shows beside the history: the snapshot, the diagnosis and the workers, as one line that all viewers share. A line that
// took long to make is kept for longer, so that making lines takes at most half a percent of the time.

/**
 * @import { Diagnosis, FleetSnapshot, Snapshot } from '../../../index.js'
 * @import { InternalErrors } from '../../core/request/internal-errors'
 */

const LEAST_MS = 2000
/** A finding must be seen within ten seconds of its fault. */
const MOST_MS = 5000
/** A line is kept for so many times as long as it took to make. */
const REST = 200
const FLEET_MS = 5000

class LiveState {
  #parts
  #text = ''
  #dueMs = Number.NEGATIVE_INFINITY
  /** @type {Omit<FleetSnapshot, 'routes'> | undefined} */
  #fleet
  #fleetDueMs = Number.NEGATIVE_INFINITY

  /**
   * @param {{ clock: Pick<import('../../core/clock').Clock, 'now'>, instance: string, takeSnapshot: () => Snapshot, diagnose: () => Diagnosis,
   *   takeFleetSnapshot: () => Promise<FleetSnapshot> | undefined,
   *   internalErrors: InternalErrors }} parts
   *   instance: tells a restart; takeFleetSnapshot: undefined where the process is in no fleet
   */
  constructor(parts) {
    this.#parts = parts
  }

  /** @param {number} nowMs @returns {boolean} whether it is time for a new one */
  isDue(nowMs) {
    return nowMs >= this.#dueMs
  }

  /** @param {number} nowMs @returns {string} the line, made again if it is due */
  line(nowMs) {
    if (!this.isDue(nowMs)) return this.#text
    this.#pollFleet(nowMs)
    const { clock, instance, takeSnapshot, diagnose } = this.#parts
    const sinceMs = clock.now()
    const state = { instance, snapshot: takeSnapshot(), diagnosis: diagnose(), fleet: this.#fleet ?? null }
    this.#text = `${JSON.stringify({ state })}\n`
    const tookMs = clock.now() - sinceMs
    this.#dueMs = nowMs + Math.min(MOST_MS, Math.max(LEAST_MS, REST * tookMs))
    return this.#text
  }

  /** The answers of the other workers come later, so that a line has those of the line before. @param {number} nowMs */
  #pollFleet(nowMs) {
    if (nowMs < this.#fleetDueMs) return
    this.#fleetDueMs = nowMs + FLEET_MS
    const { internalErrors, takeFleetSnapshot } = this.#parts
    takeFleetSnapshot()
      ?.then((/** @type {FleetSnapshot} */ { routes: _, ...fleet }) => {
        this.#fleet = fleet
      })
      .catch((error) => internalErrors.report('live', error))
  }
}

exports.LiveState = LiveState
