'use strict'
// The metric of degraded requests. `spillway_pressure_ratio` belongs to the feature autoscaling: at a scrape,
// a mean of ten seconds says more than the pressure of the last second.

const { PRIORITIES } = require('../../core/gate/decision')
const { nameLabels } = require('../../core/metrics/family')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { Pressure } from './pressure'
 * @typedef {ReturnType<Pressure['sample']>} Sample
 */

/** @param {Sample} sample */
function* degradedRequests({ degraded }) {
  for (const [index, value] of degraded.entries())
    if (value > 0) yield { labels: nameLabels('priority', PRIORITIES[index]), value }
}

/** @type {FeatureFamily<Sample>[]} */
const PRESSURE_FAMILIES = [
  {
    name: 'spillway_degraded_requests_total',
    type: 'counter',
    help: 'Requests for which `shouldDegrade()` returned true, by class.',
    points: degradedRequests,
  },
]

module.exports = { PRESSURE_FAMILIES }
