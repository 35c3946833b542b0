'use strict'
// What the two sides of the stall watcher agree on: the cells of their shared memory, and their times.

/** Cells. */
const BEAT = 0
const PHASE = 1
const STOP = 2
const CELLS = 3

/** Phases of the watching thread. */
const IDLE = 0
const CONNECTED = 1
const DISCONNECTED = 2

const MOST_PERIOD_MS = 50

/** How often the watched thread beats, because an idle loop must differ from a blocked one, and how often the other one looks. */
const periodOf = (thresholdMs) => Math.min(thresholdMs / 4, MOST_PERIOD_MS)

/** Of the time, that pauses may take. A host that is busy makes them longer than they are: then half a second of rest is enough. */
const PAUSE_SHARE = 0.01
const LONGEST_REST_MS = 500
/** To list so many frames takes long by itself. */
const DEEP_FRAMES = 500
const MAX_FRAMES = 60

/** How long to leave the thread alone after a pause. */
const restAfterMs = (pauseMs, frames) =>
  Math.min(pauseMs / PAUSE_SHARE, frames < DEEP_FRAMES ? LONGEST_REST_MS : Number.POSITIVE_INFINITY)

/** The stack is read a little before the threshold, so that a stall just over it is read as well. */
const isSlow = (stoppedMs, thresholdMs) => stoppedMs >= 0.8 * thresholdMs

module.exports = {
  BEAT,
  CELLS,
  CONNECTED,
  DISCONNECTED,
  IDLE,
  MAX_FRAMES,
  PHASE,
  STOP,
  periodOf,
  restAfterMs,
  isSlow,
}
