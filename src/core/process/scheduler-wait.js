'use strict'
// How long the kernel's scheduler kept a thread waiting for a CPU, although the thread could have run. Linux
// counts it for each thread in `schedstat`: nanoseconds on a CPU, nanoseconds waiting for one. A reading
// takes about 20 µs. Other systems lack the file, and the figure is undefined.

const { readFileSync } = require('node:fs')

const NANOSECONDS = 1e6
/** File of the thread that reads it: the main thread, or a worker thread. */
const OWN_THREAD = '/proc/thread-self/schedstat'
/** File of the main thread, whichever thread reads it. */
const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`

/**
 * @param {string} [path]
 * @param {(path: string, encoding: 'latin1') => string} [readFile] for tests
 * @returns {{ ranMs: number, waitedMs: number } | undefined} since the thread began
 */
function schedulerWait(path = OWN_THREAD, readFile = readFileSync) {
  try {
    const [ran, waited] = readFile(path, 'latin1').split(' ', 2).map(Number)
    // On some kernels without CONFIG_SCHEDSTATS, the file has only zeros. A thread that reads the file has
    // run, so 0 means that nothing is counted.
    return ran > 0 && waited >= 0 ? { ranMs: ran / NANOSECONDS, waitedMs: waited / NANOSECONDS } : undefined
  } catch {
    return undefined
  }
}

module.exports = { MAIN_THREAD, OWN_THREAD, schedulerWait }
