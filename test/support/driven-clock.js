'use strict'
// The real loop, in which time passes only when it is told to: what waits for a time asks again every turn,
// so that a drain of an hour takes no longer than what it waits for.

const { systemClock } = require('../../src/core/clock')

function drivenClock() {
  let nowMs = 10_000
  return {
    ...systemClock,
    now: () => nowMs,
    wait: (_delayMs, callback) => setImmediate(callback),
    advance: (ms) => (nowMs += ms),
  }
}

module.exports = { drivenClock }
