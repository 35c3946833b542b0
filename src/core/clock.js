'use strict'
// The only file that uses timers, immediates, the monotonic clock and the wall clock. The parts of an
// instance get a clock as a parameter, so tests can pass a fake one. What the process has only one of, such
// as its exit, uses `systemClock`. A few use `process.uptime()`, `process.nextTick()` or
// `queueMicrotask()` directly, and the live page has the browser's clock. The functions are captured at
// require time, before a user's tests install fake timers. They come from Node's modules: jest and vitest
// may have replaced the globals already.

const { performance } = require('node:perf_hooks')
const {
  clearImmediate: cancelTurn,
  clearTimeout: cancel,
  setImmediate: nextTurn,
  setTimeout: later,
} = require('node:timers')
const { promisify } = require('node:util')

// Node 20 throws if `performance.now` is called detached.
const now = performance.now.bind(performance)
const { nodeTiming } = performance
const NANOSECONDS_PER_MS = 1_000_000n
const nodeIdleMs = () => nodeTiming.idleTime
let readIdleMs = nodeIdleMs
const wallNow = Date.now
/** @type {() => { user: number, system: number }} */
const cpuUsage =
  /** @type {typeof process & { threadCpuUsage?: typeof process.cpuUsage }} */ (process).threadCpuUsage ??
  process.cpuUsage
const monotonic = process.hrtime.bigint
// Fake timers may be in Node's modules already: sinon marks them with `clock`, and those of node:test lack
// `promisify.custom`.
const isFrozen = 'clock' in nextTurn || !(promisify.custom in nextTurn)

const systemClock = Object.freeze({
  /** Monotonic milliseconds. */
  now,
  /**
   * Monotonic milliseconds on a scale that all threads of the process share. The integer wraps at 32 bits.
   */
  sharedMs: () => Number(BigInt.asIntN(32, monotonic() / NANOSECONDS_PER_MS)),
  /** Milliseconds for which the loop has waited for events since it began. */
  idleMs: () => readIdleMs(),
  /**
   * Milliseconds of CPU time that this thread has used. In Node before 22.19 and 23.9, it is the CPU time of
   * the whole process.
   */
  cpuMs: () => {
    const { user, system } = cpuUsage()
    return (user + system) / 1000
  },
  /** Milliseconds since the epoch: for display, never for durations. */
  wallMs: () => wallNow(),
  /**
   * Calls back in the check phase of this loop turn, and keeps the process alive until then. In frozen time:
   * as a microtask.
   */
  /** @type {(callback: () => void) => NodeJS.Immediate | undefined} */
  afterTurn: isFrozen ? (callback) => void Promise.resolve().then(callback) : nextTurn,
  /**
   * As `afterTurn`, but unref'd. In frozen time it never calls back, or `runAll()` of fake timers would not
   * end.
   */
  /** @type {(callback: () => void) => NodeJS.Immediate | undefined} */
  onTurn: isFrozen ? () => {} : (callback) => nextTurn(callback).unref(),
  cancelTurn,
  /** Calls back after `delayMs`; does not keep the process alive. */
  /** @type {(delayMs: number, callback: () => void) => NodeJS.Timeout} */
  after: (delayMs, callback) => later(callback, delayMs).unref(),
  /** As `after`, but keeps the process alive: for work that must finish. */
  /** @type {(delayMs: number, callback: () => void) => NodeJS.Timeout} */
  wait: (delayMs, callback) => later(callback, delayMs),
  cancel,
  /** Whether fake timers are installed. Time then does not pass, so no code may wait for time to pass. */
  isFrozen,
})

/**
 * Uses another source for the idle time while Node's value is wrong: during a CPU profile (decisions/0045).
 * The idle time does not jump when the replacement ends.
 *
 * @param {(nodeIdleMs: () => number, beganMs: number) => () => number} replacement
 * @returns {() => void} restores Node's value
 */
function replaceIdle(replacement) {
  const before = readIdleMs
  readIdleMs = replacement(nodeIdleMs, before())
  return () => {
    const missedMs = readIdleMs() - nodeIdleMs()
    readIdleMs = () => nodeTiming.idleTime + missedMs
  }
}

/** @typedef {typeof systemClock} Clock */

module.exports = { replaceIdle, systemClock }
