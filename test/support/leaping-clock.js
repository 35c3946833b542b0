'use strict'
// The real clock, which can be put ahead: what a scrape shows is up to a second old, and no test waits for
// that second.

const { systemClock } = require('../../src/core/clock')

function leapingClock() {
  let aheadMs = 0
  return {
    ...systemClock,
    now: () => systemClock.now() + aheadMs,
    cpuMs: () => systemClock.cpuMs() + aheadMs,
    leap(ms = 1000) {
      aheadMs += ms
    },
  }
}

module.exports = { leapingClock }
