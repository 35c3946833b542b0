'use strict'
// Owns time: the only file that reads a clock or schedules anything. Everything else is handed a clock, so that
// every rule about time is tested with a fake one and no sleeps.
// Captured at require time, before a user's test suite installs fake timers. `performance.now` is bound, because
// calling it detached throws on Node 20.

const { performance } = require('node:perf_hooks')

const now = performance.now.bind(performance)
const { nodeTiming } = performance
const nextTurn = setImmediate
const cancelTurn = clearImmediate
const wallNow = Date.now
const later = setTimeout
const cancel = clearTimeout
// Fake timers installed before this file was required have been captured too; sinon and jest mark theirs, and those of
// node:test are told by their name.
const stands =
  'clock' in setImmediate || '_isMockFunction' in setImmediate || setImmediate.name === 'bound #setImmediate'

const systemClock = Object.freeze({
  /** Monotonic milliseconds. */
  now,
  /** Milliseconds this loop has spent waiting for events since it began. */
  idleMs: () => nodeTiming.idleTime,
  /** Milliseconds since the epoch; for display, never for durations. */
  wallMs: () => wallNow(),
  /** Runs once in the check phase of this loop turn, and keeps the process alive until then. */
  afterTurn: nextTurn,
  /** The same, but an idle loop neither spins nor stays alive for it. */
  onTurn: (callback) => nextTurn(callback).unref(),
  cancelTurn,
  /** Runs after that many milliseconds; keeps no process alive. */
  after: (delayMs, callback) => later(callback, delayMs).unref(),
  /** The same, but the process waits for it: for what it was told to finish. */
  wait: (delayMs, callback) => later(callback, delayMs),
  cancel,
  /** Whether time stands still, so that nothing may wait for it. */
  stands,
})

module.exports = { systemClock }
