'use strict'
// The level of the line of each event of an instance.

const EVENT_LEVELS = Object.freeze(
  /** @type {const} */ ({
    overload: 'warn',
    recovered: 'info',
    degraded: 'warn',
    draining: 'info',
    stall: 'warn',
  })
)

module.exports = { EVENT_LEVELS }
