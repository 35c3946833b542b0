'use strict'
// The real clock, a second further with each scrape: those of a second share a rendering, and a benchmark of renderings
// would wait a second for each.

const { systemClock } = require('../../src/clock')

/** @returns {{ clock: any, leap: () => void }} */
function leapingClock() {
  let aheadMs = 0
  return {
    clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
    leap() {
      aheadMs += 1000
    },
  }
}

module.exports = { leapingClock }
