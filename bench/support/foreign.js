'use strict'
// What others took of the core this process is pinned to: whether a measurement was one. The core's own count of what it
// was busy with, and of what the host took, less what all threads of this process used. Not how long the main thread was
// kept waiting: that is mostly its own collector. Linux tells, to 10 ms; elsewhere, and where nothing is pinned, it is 0.

const fs = require('node:fs')

const JIFFY_MS = 10

function busyMs(core) {
  const line = fs
    .readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`cpu${core} `))
  const [user, nice, system, , , , , steal] = line?.split(' ').slice(1).map(Number) ?? []
  return (user + nice + system + steal) * JIFFY_MS
}

/** @param {string | undefined} core @returns {number} in all so far; differences count */
function foreignMs(core) {
  if (core === undefined) return 0
  try {
    const { user, system } = process.cpuUsage()
    return busyMs(core) - (user + system) / 1000
  } catch {
    return 0
  }
}

module.exports = { foreignMs }
