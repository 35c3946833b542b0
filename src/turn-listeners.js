'use strict'
// Connects the parts of an instance to its turn clock: each to as few calls as it can be exact with.

const { UnseenEnds } = require('./core/request/unseen-ends')

/**
 * @import { TurnClock } from './core/process/turn-clock'
 * @import { Instance } from './instance'
 */

/**
 * @param {TurnClock} turnClock
 * @param {Instance} instance
 */
function listenToTurns(turnClock, instance) {
  const { admission, features, lifecycle, recorder, requestLog, runtime } = instance
  const { loopDelay, utilization } = runtime
  const unseenEnds = new UnseenEnds(recorder.requests, instance.clock.now())
  turnClock.onEachTurn((busyMs, nowMs) => {
    loopDelay.record(busyMs, nowMs)
    features.onEachTurn(busyMs, nowMs)
  })
  // The sum of short turns is enough for these. A turn with a request that arrives, ends or is queued is
  // never summed.
  turnClock.onTurns((busyMs, nowMs, idleMs, longestMs) => {
    admission.onTurn(busyMs, nowMs, idleMs, longestMs)
    recorder.parts.onTurn(longestMs, nowMs, idleMs)
    // After the parts of ended requests, which the log lines of slow requests show.
    requestLog.slow.onTurn(nowMs)
  })
  // These only compare the time with when they are due, in a tenth of a second or later.
  turnClock.onInterval((nowMs, idleMs) => {
    utilization.onTurn(nowMs)
    lifecycle.recycle.onTurn(nowMs)
    unseenEnds.onTurn(nowMs)
    features.onInterval(nowMs, idleMs)
  })
}

module.exports = { listenToTurns }
