'use strict'
// Why Restify's tests are skipped, or false: Restify 11 asks Node for a binding that Node 24 no longer has.

const RESTIFY_SKIP =
  Number(process.versions.node.split('.')[0]) >= 24 && 'Restify 11 does not load on Node 24 or newer'

module.exports = { RESTIFY_SKIP }
