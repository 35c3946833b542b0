'use strict'
// What the two sides of the stall watcher share: the cells of their memory, and how long each side waits.

/** Cells. BEAT is the time of the last beat, by the clock that all threads share. */
const BEAT = 0
const PHASE = 1
const STOP = 2
const CELLS = 3

/** Phases of the watching thread. */
const IDLE = 0
const CONNECTED = 1
const DISCONNECTED = 2

/** How the watching thread ends where the heap of the process is full. */
const HEAP_IS_FULL = 9

const MOST_PERIOD_MS = 250

/** How often an idle thread beats, because it must differ from a blocked one. Each beat wakes two threads. */
const periodOf = (thresholdMs) => Math.min(0.7 * thresholdMs, MOST_PERIOD_MS)

/** The share of the time that pauses may take. A busy host makes pauses longer, so half a second of rest is enough. */
const PAUSE_SHARE = 0.01
const LONGEST_REST_MS = 500
/** Listing so many frames takes long by itself. */
const DEEP_FRAMES = 500
const MAX_FRAMES = 60

/** How long to leave the thread alone after a pause. */
const restAfterMs = (pauseMs, frames) =>
  Math.min(pauseMs / PAUSE_SHARE, frames < DEEP_FRAMES ? LONGEST_REST_MS : Number.POSITIVE_INFINITY)

/** How long after the last beat the stack is read: soon enough for a stall just over the threshold that began with that beat. */
const readAfterMs = (thresholdMs) => 0.8 * thresholdMs

module.exports = {
  BEAT,
  CELLS,
  CONNECTED,
  DISCONNECTED,
  HEAP_IS_FULL,
  IDLE,
  MAX_FRAMES,
  PHASE,
  STOP,
  periodOf,
  readAfterMs,
  restAfterMs,
}
