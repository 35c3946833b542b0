'use strict'
// A fixed amount of work, and how much of it this machine does in a millisecond when nothing disturbs it.

const CHUNK = 200_000
let sink = 1

function burnIterations(count) {
  let value = sink
  for (let i = 0; i < count; i++) value = Math.imul(value ^ i, 1_664_525) + 1_013_904_223
  sink = value | 1
}

/**
 * @returns {number} iterations a millisecond: the middle of many short chunks, the first ones left to the
 *   compiler
 */
function calibrate() {
  const speeds = []
  for (let i = 0; i < 200; i++) {
    const sinceMs = performance.now()
    burnIterations(CHUNK)
    speeds.push(CHUNK / (performance.now() - sinceMs))
  }
  return speeds.slice(50).sort((a, b) => a - b)[75]
}

module.exports = { burnIterations, calibrate }
