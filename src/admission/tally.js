'use strict'
// What the gate decided, counted by reason and class, for metrics and episodes; and how long those waited that waited.

const { Buckets } = require('../histograms/buckets')
const { PRIORITIES } = require('./priority')

const REASONS = Object.freeze(
  /** @type {const} */ ([
    'delay',
    'backlog',
    'latency',
    'concurrency',
    'memory',
    'pressure',
    'deadline',
    'eventLoopDelay',
    'eventLoopUtilization',
    'heapUsedBytes',
    'rssBytes',
    'closed',
  ])
)
const REASON_INDEX = new Map(REASONS.map((reason, index) => [reason, index]))

const cell = (reason, priority) => Number(REASON_INDEX.get(reason)) * PRIORITIES.length + priority

class Tally {
  shed = new Float64Array(REASONS.length * PRIORITIES.length)
  wouldShed = new Float64Array(REASONS.length * PRIORITIES.length)
  admitted = 0
  abandoned = 0
  queueDelays = new Buckets()

  constructor() {
    this.queueDelays.add()
  }

  noteShed(reason, priority) {
    this.shed[cell(reason, priority)]++
  }

  noteWouldShed(reason, priority) {
    this.wouldShed[cell(reason, priority)]++
  }

  noteWait(waitMs) {
    this.queueDelays.record(0, waitMs / 1000)
  }
}

/** Those of a table of counts that are not 0, by name. */
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

module.exports = { REASONS, Tally, listCounts }
