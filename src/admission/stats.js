'use strict'
// Counts the gate's decisions by reason and class, and records how long requests were queued.

const { ADVISED_BOUNDS, Buckets } = require('../histograms/buckets')
const { PRIORITIES, REASONS } = require('./verdict')

const REASON_INDEX = new Map(REASONS.map((reason, index) => [reason, index]))

const cellOf = (reason, priority) => Number(REASON_INDEX.get(reason)) * PRIORITIES.length + priority

class Stats {
  shed = new Float64Array(REASONS.length * PRIORITIES.length)
  wouldShed = new Float64Array(REASONS.length * PRIORITIES.length)
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
    this.shed[cellOf(reason, priority)]++
  }

  onWouldReject(reason, priority) {
    this.wouldShed[cellOf(reason, priority)]++
  }

  onWait(waitMs) {
    this.queueDelays.record(0, waitMs / 1000)
  }
}

/** Lists the counts above 0, with the names of their reason and class. */
function listCounts(counts) {
  const list = []
  for (const [row, reason] of REASONS.entries()) {
    for (const [column, priority] of PRIORITIES.entries()) {
      const count = counts[row * PRIORITIES.length + column]
      if (count > 0) list.push({ reason, priority, count })
    }
  }
  return list
}

module.exports = { Stats, listCounts }
