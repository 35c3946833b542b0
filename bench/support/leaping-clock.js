'use strict'
// The real clock, moved on by a second for each scrape. Scrapes of the same second share a rendering, and a
// bench of renderings would otherwise wait a second for each.

const { systemClock } = require('../../src/core/clock')

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
