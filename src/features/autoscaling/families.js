'use strict'
// The metric for autoscalers. In a fleet each worker has its own figure, and an autoscaler takes the mean.

const { unlabelled } = require('../../core/metrics/family')

/** @type {import('../../core/metrics/family').FeatureFamily[]} */
const AUTOSCALING_FAMILIES = [
  {
    name: 'spillway_pressure_ratio',
    type: 'gauge',
    help: 'How much of its scarcest resource the process used in about the last ten seconds, from 0 to 1.',
    /** @param {{ autoscaling: { ratio: number } }} captured */
    points: ({ autoscaling }) => unlabelled(autoscaling.ratio),
  },
]

module.exports = { AUTOSCALING_FAMILIES }
