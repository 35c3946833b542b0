'use strict'
// How short each resource of the gate is, from 0 to 1, for features that combine these figures. Each figure
// is computed when it is read, so only a reader pays for it.

const { NORMAL } = require('./verdict')

/**
 * @import { Limits } from './limits/limits'
 * @import { ResourceLimits } from './limits/resource-limits'
 * @import { Queue } from './queue'
 * @import { Stats } from './stats'
 * @import { UserHooks } from './user-hooks'
 */

class Shortages {
  #queue
  #limits
  #resources
  #hooks
  #stats

  /**
   * @param {{ queue: Queue, limits: Limits, resources: ResourceLimits, hooks: UserHooks, stats: Stats }}
   *   parts
   */
  constructor({ queue, limits, resources, hooks, stats }) {
    this.#queue = queue
    this.#limits = limits
    this.#resources = resources
    this.#hooks = hooks
    this.#stats = stats
  }

  /**
   * The wait of the next request of class `normal`, as a share of the wait that is tolerated.
   *
   * @param {number} nowMs
   */
  queue(nowMs) {
    const queued = this.#queue.length
    return queued === 0 ? 0 : this.#limits.expectedWaitMs(queued) / this.#limits.toleratedMs(NORMAL, nowMs)
  }

  get memory() {
    return this.#resources.memoryPressure
  }

  /** The user's own figure, `shed.shortage`. */
  get shortage() {
    return this.#hooks.shortage
  }

  /** Requests that the gate has judged since the start. */
  get decided() {
    return this.#stats.decided
  }

  /** Requests that were rejected because the process is full. */
  get rejected() {
    return this.#stats.rejectedByProcess
  }
}

exports.Shortages = Shortages
