'use strict'
// The real loop with a clock that only moves when told, timers too: what is due runs in `pass`, and nothing
// waits.

const { stillClock } = require('./still-clock')

function handClock() {
  const clock = stillClock()
  const timers = new Set()
  const after = (delayMs, callback) => {
    const timer = { dueMs: clock.now() + delayMs, delayMs, callback, unref: () => timer }
    timers.add(timer)
    return timer
  }
  const runDue = () => {
    for (const timer of [...timers]) if (timer.dueMs <= clock.now() && timers.delete(timer)) timer.callback()
  }
  return {
    ...clock,
    after,
    wait: after,
    cancel: (timer) => timers.delete(timer),
    /**
     * How many timers are armed, of this delay if one is given. Beside an instance, give one: a major
     * collection arms a timer of its own at any time.
     */
    armed: (delayMs) =>
      [...timers].filter((timer) => delayMs === undefined || timer.delayMs === delayMs).length,
    /** Time goes by in steps, as timers that start timers see it. */
    pass(ms, stepMs = 100) {
      for (let left = ms; left > 0; left -= stepMs) {
        clock.advance(Math.min(left, stepMs))
        runDue()
      }
    },
  }
}

module.exports = { handClock }
