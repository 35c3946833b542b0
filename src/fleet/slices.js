'use strict'
// Runs work that comes in steps, and gives the loop its turn after a millisecond of it.

const WORK_MS = 1

/**
 * @param {{ now(): number, afterTurn(callback: () => void): unknown }} clock
 * @param {Iterable<unknown>} steps
 */
async function inSlices(clock, steps) {
  let sinceMs = clock.now()
  for (const _ of steps) {
    if (clock.now() - sinceMs < WORK_MS) continue
    await new Promise((resolve) => clock.afterTurn(() => resolve(undefined)))
    sinceMs = clock.now()
  }
}

module.exports = { inSlices }
