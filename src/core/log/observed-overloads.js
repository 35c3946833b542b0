'use strict'
// Logs the overloads of mode `observe`: when mode `adaptive` would begin to reject requests, and how many it would have rejected.
// There is a line but no event, because no request was rejected.

const { withRounded } = require('../durations')
const { causeText } = require('./cause-text')

/** @import { SpillwayEvents } from '../../../index.js' */

/** @param {Record<'info' | 'warn', (fields: object, message: string) => void>} log */
function observedOverloads({ info, warn }) {
  /** @param {'overload' | 'recovered'} event @param {Partial<SpillwayEvents['overload'] & SpillwayEvents['recovered']>} given */
  return (event, { rejected, ...details }) => {
    if (event === 'overload') {
      const message = `spillway: mode adaptive would shed requests now (${causeText(/** @type {SpillwayEvents['overload']} */ (details))})`
      return warn({ event: 'wouldShed', ...details }, message)
    }
    const fields = { event: 'wouldHaveShed', ...withRounded(details), requests: rejected }
    info(fields, `spillway: mode adaptive would have shed ${rejected} requests`)
  }
}

module.exports = { observedOverloads }
