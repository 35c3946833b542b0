'use strict'
// Connects the parts of an instance to its turn clock: each to as few calls as it can be exact with.

const { UnseenEnds } = require('./core/request/unseen-ends')

/**
 * @param {InstanceType<typeof import('./core/process/turn-clock').TurnClock>} turnClock
 * @param {InstanceType<typeof import('./instance').Instance>} instance
 */
function listenToTurns(turnClock, instance) {
  const {
    admin,
    admission,
    doctor,
    fleet,
    lifecycle,
    pools,
    recorder,
    releases,
    requestLog,
    signals,
    stalls,
  } = instance
  const { loopDelay, utilization } = signals
  const unseenEnds = new UnseenEnds(recorder.requests, instance.clock.now())
  // Each turn is a value of the loop delay and a beat for the watcher of stalls. The doctor counts the requests of long turns.
  turnClock.onEachTurn((busyMs, nowMs) => {
    loopDelay.record(busyMs, nowMs)
    stalls?.onTurn(busyMs, nowMs)
    doctor.onTurn(busyMs)
  })
  // The sum of short turns is enough for these. A turn in which a request arrives, ends or is queued is never summed.
  turnClock.onTurns((busyMs, nowMs, idleMs, longestMs) => {
    admission.onTurn(busyMs, nowMs, idleMs, longestMs)
    recorder.parts.onTurn(longestMs, nowMs, idleMs)
    // After the parts of ended requests, which the log lines of slow requests show.
    requestLog.slow.onTurn(nowMs)
  })
  // These only compare the time with when they are due, in a tenth of a second or later.
  turnClock.onInterval((nowMs, idleMs) => {
    pools.onTurn(nowMs)
    utilization.onTurn(nowMs)
    lifecycle.recycle.onTurn(nowMs)
    unseenEnds.onTurn(nowMs)
    fleet.onTurn(nowMs)
    admin.made?.onTurn(nowMs, idleMs)
  })
  if (releases.isEnabled) turnClock.onInterval(releases.onTurn)
}

module.exports = { listenToTurns }
