'use strict'
// The metric of degraded requests. `spillway_pressure_ratio` belongs to the feature autoscaling: at a scrape,
// a mean of ten seconds says more than the pressure of the last second.

const { PRIORITIES } = require('../../core/gate/decision')
const { nameLabels } = require('../../core/metrics/family')

/** @typedef {{ pressure: { degraded: readonly number[] } }} Captured */

/** @param {Captured} captured */
function* degraded({ pressure }) {
  for (const [index, value] of pressure.degraded.entries())
    if (value > 0) yield { labels: nameLabels('priority', PRIORITIES[index]), value }
}

/** @type {import('../../core/metrics/family').FeatureFamily[]} */
const PRESSURE_FAMILIES = [
  {
    name: 'spillway_degraded_requests_total',
    type: 'counter',
    help: 'Requests for which `shouldDegrade()` returned true, by class.',
    points: degraded,
  },
]

module.exports = { PRESSURE_FAMILIES }
