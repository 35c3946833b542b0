'use strict'
// The real loop with a clock that only moves when told: turns come and go, and no time passes between two
// requests of a test, however slow the machine.

const { systemClock } = require('../../src/core/clock')

function stillClock() {
  let nowMs = 10_000
  return { ...systemClock, now: () => nowMs, cpuMs: () => nowMs, advance: (ms) => (nowMs += ms) }
}

module.exports = { stillClock }
