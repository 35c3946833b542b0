'use strict'
// What the two sides of the stall watcher share: the cells of their memory, and how long each side waits.

/**
 * Cells. BEAT is the time of the last beat, and ASKED the time of the last question, by the clock that all
 * threads share. INTENDED is 1 while the loop is blocked on purpose, by a debugger or a heap snapshot.
 */
const BEAT = 0
const ASKED = 1
const PHASE = 2
const STOP = 3
const INTENDED = 4
const CELLS = 5

/** Phases of the watching thread. */
const IDLE = 0
const CONNECTED = 1
const DISCONNECTED = 2

const MAX_PERIOD_MS = 250

/**
 * How often an idle thread beats, to distinguish it from a blocked thread. Each beat wakes two threads.
 *
 * @param {number} thresholdMs
 */
const periodOf = (thresholdMs) => Math.min(0.7 * thresholdMs, MAX_PERIOD_MS)

/**
 * Delay between the last beat and the reading of the stack, short enough for a stall just over the threshold.
 *
 * @param {number} thresholdMs
 */
const readAfterMs = (thresholdMs) => 0.8 * thresholdMs

module.exports = {
  ASKED,
  BEAT,
  CELLS,
  CONNECTED,
  DISCONNECTED,
  IDLE,
  INTENDED,
  PHASE,
  STOP,
  periodOf,
  readAfterMs,
}
