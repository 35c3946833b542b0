'use strict'
// Heap in use after a major collection, against what the process may have: a ramp, not a cliff.
//
//   pressure = clamp((after GC / limit - 0.85) / (0.95 - 0.85))        0 below 85 %, 1 from 95 % on
//
// Low goes first: a class is rejected with probability pressure x its weight, and critical never. It is capped at
// 95 %, so that it cannot latch: shedding does not cure a leak, recycling does. The saw-tooth of the heap between
// collections is no pressure, and RSS hardly ever falls, so neither counts.

const { SHORTAGE_WEIGHTS } = require('./priority')

const BEGIN = 0.85
const FULL = 0.95
const MOST = 0.95

class MemoryGuard {
  pressure = 0

  /** @param {number | undefined} afterGcBytes */
  note(afterGcBytes, limitBytes) {
    if (afterGcBytes === undefined) return
    this.pressure = Math.min(1, Math.max(0, (afterGcBytes / limitBytes - BEGIN) / (FULL - BEGIN)))
  }

  rejects(priority, random) {
    return this.pressure > 0 && random < Math.min(MOST, this.pressure * SHORTAGE_WEIGHTS[priority])
  }
}

module.exports = { MemoryGuard }
