'use strict'
// Counts the gate's decisions by reason and class, and records how long requests were queued.

const { ADVISED_BOUNDS, Buckets } = require('../histograms/buckets')
const { POOL_REASON, PRIORITIES, REASONS } = require('./verdict')

/** So many pools have a reason of their own: those of names past the bound share one. */
const MOST_POOLS = 20
const OTHER_POOLS = `${POOL_REASON}(other)`
const CELLS = (REASONS.length + MOST_POOLS + 1) * PRIORITIES.length

class Stats {
  shed = new Float64Array(CELLS)
  wouldShed = new Float64Array(CELLS)
  /** The row of each reason. A pool has a row from its first rejection on. @type {Map<string, number>} */
  #rows = new Map(REASONS.map((reason, row) => [reason, row]))
  /** Requests that the rules have decided about: all but those of class bypass. */
  decided = 0
  admitted = 0
  /** Requests whose client disconnected while they were queued. */
  abandoned = 0
  queueDelays = new Buckets(ADVISED_BOUNDS)

  constructor() {
    this.queueDelays.add()
  }

  onReject(reason, priority) {
    this.shed[this.#cellOf(reason, priority)]++
  }

  onWouldReject(reason, priority) {
    this.wouldShed[this.#cellOf(reason, priority)]++
  }

  #cellOf(reason, priority) {
    return (this.#rows.get(reason) ?? this.#addRow(reason)) * PRIORITIES.length + priority
  }

  #addRow(reason) {
    const row = this.#rows.size
    const name = row < REASONS.length + MOST_POOLS ? reason : OTHER_POOLS
    const known = this.#rows.get(name)
    if (known === undefined) this.#rows.set(name, row)
    return known ?? row
  }

  /** Lists the counts above 0, with the names of their reason and class. @param {Float64Array} counts `shed` or `wouldShed` */
  list(counts) {
    const list = []
    for (const [reason, row] of this.#rows) {
      for (const [column, priority] of PRIORITIES.entries()) {
        const count = counts[row * PRIORITIES.length + column]
        if (count > 0) list.push({ reason, priority, count })
      }
    }
    return list
  }

  onWait(waitMs) {
    this.queueDelays.record(0, waitMs / 1000)
  }
}

module.exports = { Stats }
