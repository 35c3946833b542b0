'use strict'
// The metrics of the pressure. They have points once `spillway.pressure` was read, or an option needs it.

const { PRIORITIES } = require('../../core/gate/verdict')
const { nameLabels, unlabelled } = require('../../core/metrics/family')

/** @typedef {{ pressure: { ratio: number, degraded: readonly number[] } }} Captured */

/** @param {Captured} captured */
function* degraded({ pressure }) {
  for (const [index, value] of pressure.degraded.entries())
    if (value > 0) yield { labels: nameLabels('priority', PRIORITIES[index]), value }
}

/** @type {import('../../core/metrics/family').Family[]} */
const PRESSURE_FAMILIES = [
  {
    name: 'spillway_pressure',
    type: 'gauge',
    help: 'How much of the scarcest resource of the process is in use, from 0 to 1.',
    across: 'max',
    /** @param {Captured} captured */
    points: ({ pressure }) => unlabelled(pressure.ratio),
  },
  {
    name: 'spillway_degraded_requests_total',
    type: 'counter',
    help: 'Requests for which `shouldDegrade()` returned true, by class.',
    points: degraded,
  },
]

module.exports = { PRESSURE_FAMILIES }
