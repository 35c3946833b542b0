'use strict'
// The metric that names the release.

const { Labels } = require('../../core/metrics/labels')

/** @import { Release } from './release-history' */

const kLabels = Symbol('spillway.labels')
/** @param {Release} release */
const labelsOf = ({ version, revision }) => new Labels({ version, revision })

/** @type {import('../../core/metrics/family').FeatureFamily[]} */
const RELEASE_FAMILIES = [
  {
    name: 'spillway_build_info',
    type: 'gauge',
    help: 'Always 1. The labels name the release of this process.',
    isOfProcess: true,
    // A release never changes, so its labels are made once.
    /** @param {{ releases: Release & { [kLabels]?: Labels } }} captured */
    points: ({ releases: release }) => [{ labels: (release[kLabels] ??= labelsOf(release)), value: 1 }],
  },
]

module.exports = { RELEASE_FAMILIES }
