'use strict'
// The public names. Shorthand only: that is what lets ESM users import them by name.

const cluster = require('node:cluster')
const { systemClock } = require('./clock')
const { OverloadError, SpillwayError } = require('./errors')
const { loggerFrom } = require('./exposition/logger')
const { ClusterPrimary } = require('./lifecycle/cluster-primary')
const { resolveMember } = require('./options')
const { Faults } = require('./recording/faults')
const { Spillway } = require('./spillway')

/** @param {import('../index.js').SpillwayOptions} [options] */
const createSpillway = (options) => new Spillway(options)

/** @param {import('../index.js').ClusterPrimaryOptions} [options] */
const clusterPrimary = (options) => {
  const resolved = resolveMember('clusterPrimary', options)
  const clock = systemClock
  const logger = loggerFrom(resolved.logger, { clock, onError: (error) => faults.report('logger', error) })
  const faults = new Faults(logger)
  return new ClusterPrimary(resolved, { cluster, clock, faults, logger })
}

module.exports = { clusterPrimary, createSpillway, OverloadError, SpillwayError }
