'use strict'
// What a worker and `clusterPrimary()` tell each other. Objects with a type of ours, beside whatever an application sends
// on the same channel, which passes it by. A primary of ours is known by the environment it gives its workers.

const cluster = require('node:cluster')

const PRIMARY_VARIABLE = 'SPILLWAY_PRIMARY'

/** Of a worker: an instance has been made, traffic may come to it, it wants to be replaced. Of the primary: go, and why. */
const STARTING = 'spillway:starting'
const READY = 'spillway:ready'
const DEGRADED = 'spillway:degraded'
const GO = 'spillway:go'

const typeOf = (message) => (typeof message === 'object' && message !== null ? message.type : undefined)

/** A channel that has closed meanwhile is no error: without a callback it would be an error event. */
function send(to, type, details) {
  if (to.connected !== false) to.send?.({ type, ...details }, undefined, undefined, () => {})
}

const hasOurPrimary = () => /** @type {any} */ (cluster).isWorker && process.env[PRIMARY_VARIABLE] === '1'

/** Why a worker is to go: another has taken its place, so that no balancer has to notice; or all of them go. */
const REPLACED = 'replaced'
const STOPPED = 'stopped'

module.exports = {
  DEGRADED,
  GO,
  PRIMARY_VARIABLE,
  READY,
  REPLACED,
  STARTING,
  STOPPED,
  hasOurPrimary,
  send,
  typeOf,
}
