'use strict'
// How long this thread has run on a CPU. Linux counts it in `schedstat` of the thread, and newer releases of Node tell it everywhere.
// A reading takes about 3.5 µs.

const { closeSync, openSync, readSync } = require('node:fs')
const { OWN_THREAD } = require('./scheduler-wait')

const NANOSECONDS = 1e6
const MICROSECONDS = 1e3
/** A line of three numbers. */
const LONGEST_LINE = 64

/** @typedef {{ ranMs: () => number, close: () => void }} ThreadCpu */

/** @param {string} [path] @returns {ThreadCpu | undefined} undefined where nothing tells it */
function openThreadCpu(path = OWN_THREAD) {
  return openFile(path) ?? fromNode()
}

/** @param {string} path @returns {ThreadCpu | undefined} */
function openFile(path) {
  try {
    const descriptor = openSync(path, 'r')
    const bytes = Buffer.allocUnsafe(LONGEST_LINE)
    const read = () => {
      // The kernel brings the file up to date only a thousand times a second, and when a process asks for its usage.
      process.cpuUsage()
      const length = readSync(descriptor, bytes, 0, LONGEST_LINE, 0)
      return Number.parseInt(bytes.toString('latin1', 0, length), 10) / NANOSECONDS
    }
    const cpu = { ranMs: read, close: () => closeSync(descriptor) }
    // Some kernels have a file of zeros: a thread that reads it has run.
    if (read() > 0) return cpu
    cpu.close()
  } catch {}
  return undefined
}

/** @returns {ThreadCpu | undefined} */
function fromNode() {
  const { threadCpuUsage } = /** @type {{ threadCpuUsage?: typeof process.cpuUsage }} */ (process)
  if (threadCpuUsage === undefined) return undefined
  const ranMs = () => {
    const { user, system } = threadCpuUsage()
    return (user + system) / MICROSECONDS
  }
  return { ranMs, close: () => {} }
}

module.exports = { openThreadCpu }
