'use strict'
// The public exports. `module.exports` has only shorthand properties, so that ESM users can import them by
// name.

const cluster = /** @type {Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { refuseUncalled } = require('./core/http/wrong-framework')
const { CallPlace } = require('./core/call-place')
const { systemClock } = require('./core/clock')
const { isTested } = require('./core/environment/deployment')
const { OverloadError, SpillwayError } = require('./core/errors/errors')
const { loggerFrom } = require('./core/log/logger')
const { Notices } = require('./core/notices')
const { doubtsOf } = require('./core/options/doubtful-units')
const { DEFAULTS, TEST_DEFAULTS, resolveMember } = require('./core/options/options')
const { announceUse } = require('./core/process-use')
const { InternalErrors } = require('./core/errors/internal-errors')
const { Spillway } = require('./spillway')

/** @import { Cluster } from 'node:cluster' */

/**
 * Binds all members, so that they can be passed on: `const { koa } = spillway`,
 * `app.listen(3000, spillway.ready)`.
 *
 * @template {object} Instance
 * @param {Instance} instance
 */
function withBoundMembers(instance) {
  const { constructor: _, ...members } = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(instance))
  // Getters stay unbound: users read them from the instance, and a bound getter takes ten times as long.
  for (const [name, member] of Object.entries(members))
    if (member.get === undefined)
      Object.defineProperty(instance, name, { ...member, value: member.value.bind(instance) })
  return instance
}

/** @param {import('../index.js').SpillwayOptions} [options] */
const createSpillway = (options) => {
  const place = new CallPlace(createSpillway)
  const spillway = new Spillway(options, undefined, place, isTested() ? TEST_DEFAULTS : DEFAULTS)
  announceUse(place)
  return refuseUncalled(withBoundMembers(spillway))
}

/** @param {import('../index.js').ClusterPrimaryOptions} [options] */
const clusterPrimary = (options) => {
  const resolved = resolveMember('clusterPrimary', options)
  const clock = systemClock
  const logger = loggerFrom(resolved.logger, {
    clock,
    onError: (error) => internalErrors.report('logger', error),
  })
  const internalErrors = new InternalErrors(logger)
  const notices = new Notices((fields, message) =>
    internalErrors.guard('logger', () => logger.warn(fields, message))
  )
  for (const [option, sentence] of doubtsOf('clusterPrimary', resolved))
    notices.warn('doubtful-unit', new CallPlace(clusterPrimary), sentence, option)
  const { ClusterPrimary } = require('./core/cluster/primary')
  return withBoundMembers(new ClusterPrimary(resolved, { cluster, clock, internalErrors, logger }))
}

module.exports = { clusterPrimary, createSpillway, OverloadError, SpillwayError }
