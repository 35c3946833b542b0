'use strict'
// Connects the parts of an instance to its turn clock. Each part gets as few calls as its figures allow.

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
  // For these parts, the sum of short turns is enough. A turn with a request that arrives, ends or is queued
  // is never summed.
  turnClock.onTurns((busyMs, nowMs, idleMs, longestMs) => {
    admission.onTurn(busyMs, nowMs, idleMs, longestMs)
    recorder.parts.onTurn(longestMs, nowMs, idleMs)
    // Runs last, because log lines of slow requests show `recorder.parts` of ended requests.
    requestLog.slow.onTurn(nowMs)
  })
  // These parts only check whether they are due. Their interval is a tenth of a second or longer.
  turnClock.onInterval((nowMs, idleMs) => {
    utilization.onTurn(nowMs)
    lifecycle.recycle.onTurn(nowMs)
    unseenEnds.onTurn(nowMs)
    features.onInterval(nowMs, idleMs)
  })
}

module.exports = { listenToTurns }
