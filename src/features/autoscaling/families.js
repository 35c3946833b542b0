'use strict'
// The metric for autoscalers. In a fleet each worker has its own figure, and an autoscaler takes the mean.

const { unlabelled } = require('../../core/metrics/family')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { Autoscaling } from './autoscaling'
 */

/** @type {FeatureFamily<ReturnType<Autoscaling['sample']>>[]} */
const AUTOSCALING_FAMILIES = [
  {
    name: 'spillway_pressure_ratio',
    type: 'gauge',
    help: 'How much of its scarcest resource the process used in about the last ten seconds, from 0 to 1.',
    points: ({ ratio }) => unlabelled(ratio),
  },
]

module.exports = { AUTOSCALING_FAMILIES }
