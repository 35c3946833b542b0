'use strict'
// The metric of the doctor's findings.

const { Labels } = require('../../core/metrics/labels')

/**
 * @import { Finding } from '../../../index.js'
 * @import { FeatureFamily } from '../../core/metrics/family'
 */

/** Labels by problem and severity. There are few of both. @type {Map<string, Labels>} */
const known = new Map()

/** @param {Finding['problem']} problem @param {Finding['severity']} severity */
function labelsOf(problem, severity) {
  const key = `${problem} ${severity}`
  let labels = known.get(key)
  if (labels === undefined) known.set(key, (labels = new Labels({ problem, severity })))
  return labels
}

/** @type {FeatureFamily<readonly Finding[]>[]} */
const DOCTOR_FAMILIES = [
  {
    name: 'spillway_findings',
    type: 'gauge',
    help: 'Always 1. The labels name a problem that the doctor finds now, and its severity.',
    points: (findings) =>
      findings.map(({ problem, severity }) => ({
        labels: labelsOf(problem, severity),
        value: 1,
      })),
  },
]

module.exports = { DOCTOR_FAMILIES }
