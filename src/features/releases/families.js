'use strict'
// The metric that names the release.

const { Labels } = require('../../core/metrics/labels')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { Release } from './release-history'
 * @typedef {Release & { [kLabels]?: Labels }} Sample
 */

const kLabels = Symbol('spillway.labels')
/** @param {Release} release */
const labelsOf = ({ version, revision }) => new Labels({ version, revision })

/** @type {FeatureFamily<Sample>[]} */
const RELEASE_FAMILIES = [
  {
    name: 'spillway_build_info',
    type: 'gauge',
    help: 'Always 1. The labels name the release of this process.',
    isOfProcess: true,
    // A release never changes, so its labels are made once.
    points: (release) => [{ labels: (release[kLabels] ??= labelsOf(release)), value: 1 }],
  },
]

module.exports = { RELEASE_FAMILIES }
