'use strict'
// The metrics of stalls, by cause.

const { nameLabels } = require('../../core/metrics/family')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { Stalls } from './stalls'
 * @typedef {ReturnType<Stalls['sample']>} Sample
 */

/** @param {Sample} sample */
function* counts({ causes }) {
  for (const { cause, count } of causes) {
    if (count > 0) yield { labels: nameLabels('cause', cause), value: count }
  }
}

/**
 * Every cause has a series from the start, for alerts: Prometheus sees no increase when a series begins with
 * its first stall.
 *
 * @param {Sample} sample
 */
const seconds = ({ causes }) =>
  causes.map(({ cause, totalMs }) => ({ labels: nameLabels('cause', cause), value: totalMs / 1000 }))

/** @type {FeatureFamily<Sample>[]} */
const STALL_FAMILIES = [
  {
    name: 'spillway_stalls_total',
    type: 'counter',
    help: 'Loop turns that blocked the event loop for insight.stallThreshold or longer, by cause.',
    points: counts,
  },
  {
    name: 'spillway_stall_seconds_total',
    type: 'counter',
    help: 'Time for which turns of insight.stallThreshold or longer blocked the event loop, by cause.',
    points: seconds,
  },
]

module.exports = { STALL_FAMILIES }
