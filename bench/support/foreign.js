'use strict'
// What other processes took of the core that this process is pinned to, which says whether a measurement is
// valid: the core's own count of its busy time and of what the host took, less the CPU time of this process.
// It is not how long the main thread waited, which is mostly its own collector. Linux counts it to 10 ms.
// Elsewhere, and without pinning, it is 0.

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

/** @returns {number} the CPU time of another process so far, and 0 where only Linux knows it */
function cpuMsOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may contain spaces.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number)
    return (user + system) * JIFFY_MS
  } catch {
    return 0
  }
}

module.exports = { cpuMsOf, foreignMs }
