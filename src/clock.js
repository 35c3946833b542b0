'use strict'
// Owns time: the only file that reads a clock or schedules anything. Everything else is handed a clock, so that
// every rule about time is tested with a fake one and no sleeps.
// Captured at require time, before a user's test suite installs fake timers, and from Node's module: those of jest and vitest
// may be there before, as the globals of a suite, and a suite for jsdom has no immediates. `performance.now` is bound, because
// calling it detached throws on Node 20.

const { performance } = require('node:perf_hooks')
const {
  clearImmediate: cancelTurn,
  clearTimeout: cancel,
  setImmediate: nextTurn,
  setTimeout: later,
} = require('node:timers')
const { promisify } = require('node:util')

const now = performance.now.bind(performance)
const { nodeTiming } = performance
const wallNow = Date.now
// Fake ones that reach into the module are captured where they came first: sinon marks its own, those of node:test lack what Node's have.
const stands = 'clock' in nextTurn || !(promisify.custom in nextTurn)

const systemClock = Object.freeze({
  /** Monotonic milliseconds. */
  now,
  /** Milliseconds this loop has spent waiting for events since it began. */
  idleMs: () => nodeTiming.idleTime,
  /** Milliseconds since the epoch; for display, never for durations. */
  wallMs: () => wallNow(),
  /** Runs once in the check phase of this loop turn, and keeps the process alive until then. Where time stands there is none. */
  afterTurn: stands ? (callback) => void Promise.resolve().then(callback) : nextTurn,
  /** The same, but an idle loop neither spins nor stays alive for it. A fake one each turn would never let `runAll()` end. */
  onTurn: stands ? () => {} : (callback) => nextTurn(callback).unref(),
  cancelTurn,
  /** Runs after that many milliseconds; keeps no process alive. */
  after: (delayMs, callback) => later(callback, delayMs).unref(),
  /** The same, but the process waits for it: for what it was told to finish. */
  wait: (delayMs, callback) => later(callback, delayMs),
  cancel,
  /** Whether time stands still, so that nothing may wait for it. */
  stands,
})

/** @typedef {typeof systemClock} Clock */

module.exports = { systemClock }
