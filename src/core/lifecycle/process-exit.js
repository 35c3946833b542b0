'use strict'
// Owns the exit of this process: every instance drains, then the process exits. Its exit code is 1 if a
// request was cut, a drain failed or an uncaught error was thrown. A second signal exits at once, with 128
// plus its number. Else the exit code is 0. All instances and copies of this package share one `ProcessExit`.
// Otherwise the first instance to finish its drain would end the process under the others.
//
// Nest and terminus re-send the signal after removing their listeners. A repeat from the process itself is
// ignored, or requests in flight would be cut.

const cluster = /** @type {typeof import('node:cluster').default} */ (
  /** @type {unknown} */ (require('node:cluster'))
)
const { once } = require('node:events')
const { constants } = require('node:os')
const { systemClock } = require('../clock')
const { watcher } = require('../environment/watcher')

const SIGNALS = ['SIGTERM', 'SIGINT']
/**
 * nodemon restarts a process by this signal. Without nodemon, the signal may have another use, such as a heap
 * snapshot.
 */
const NODEMON_SIGNAL = 'SIGUSR2'
/**
 * npm and systemd forward a signal to a process that has already received it. A repeat within this time is
 * the same signal.
 */
const SAME_SIGNAL_MS = 50
/** nodemon lists all processes before it forwards a signal. */
const SAME_SIGNAL_UNDER_WATCHER_MS = 500
/** A primary that hangs must not keep its worker alive. */
const DISCONNECT_TIMEOUT_MS = 1000
const HAND_BACK_MS = 100
const FAILURE = 1

/**
 * The number in the symbol is raised when the methods change, because copies of this package call each
 * other's methods.
 */
const kProcessExit = Symbol.for('spillway.process-exit.1')

/**
 * @typedef {(reason: string, signal: string) => Promise<{ cut: number }>} ExitDrain drains one instance
 *   before the process exits
 */

class ProcessExit {
  /** @type {Set<ExitDrain>} */
  #drains = new Set()
  /** The drains of the instances that listen for signals. @type {Set<ExitDrain>} */
  #drainsOnSignal = new Set()
  #signals = SIGNALS
  #isExiting = false
  #exitCode = 0
  #firstSignalMs = Number.NEGATIVE_INFINITY
  /** For each signal, the number of its listeners after it was last received. @type {Map<string, number>} */
  #listenerCounts = new Map()
  #listener = (/** @type {string} */ signal) => {
    const isResent = process.listenerCount(signal) < (this.#listenerCounts.get(signal) ?? 0)
    // A turn later, because listeners added by `once` are removed by then.
    systemClock.afterTurn(() => this.#listenerCounts.set(signal, process.listenerCount(signal)))
    if (!isResent) this.onSignal(signal)
  }

  /** @param {ExitDrain} drain */
  addDrain(drain) {
    this.#drains.add(drain)
  }

  /** @param {ExitDrain} drain */
  removeDrain(drain) {
    this.#drains.delete(drain)
    if (!this.#drainsOnSignal.delete(drain) || this.#drainsOnSignal.size > 0 || this.#isExiting) return
    for (const signal of this.#signals) process.off(signal, this.#listener)
  }

  /** @param {ExitDrain} drain */
  listenForSignals(drain) {
    if (this.#drainsOnSignal.size === 0) {
      this.#signals = watcher() === 'nodemon' ? [...SIGNALS, NODEMON_SIGNAL] : SIGNALS
      for (const signal of this.#signals) process.on(signal, this.#listener)
    }
    this.#drainsOnSignal.add(drain)
  }

  /**
   * Called for a signal, and for a parent's message 'shutdown'. The first call starts the exit, unless an
   * exit is in progress. The second call ends the process.
   *
   * @param {string} reason
   */
  onSignal(reason) {
    const nowMs = systemClock.now()
    if (this.#firstSignalMs === Number.NEGATIVE_INFINITY) {
      this.#firstSignalMs = nowMs
      this.exit(0, reason, { beforeExit: disconnect })
      return
    }
    const sameSignalMs = watcher() === '' ? SAME_SIGNAL_MS : SAME_SIGNAL_UNDER_WATCHER_MS
    if (nowMs - this.#firstSignalMs > sameSignalMs) {
      process.exit(
        reason in constants.signals
          ? 128 + constants.signals[/** @type {NodeJS.Signals} */ (reason)]
          : FAILURE
      )
    }
  }

  /**
   * The primary orders the exit. A second order, or a signal after it, does not end the process.
   *
   * @param {string} reason
   * @param {string} [signal]
   */
  onPrimaryOrder(reason, signal) {
    this.#firstSignalMs = Number.POSITIVE_INFINITY
    this.exit(0, reason, { beforeExit: disconnect, signal })
  }

  /**
   * Drains every instance and exits: with 1 if a request was cut, else with `exitCode`.
   *
   * @param {number} exitCode also applies if an exit is in progress: an uncaught error during a drain makes
   *   the exit code 1
   * @param {string} reason
   * @param {{ beforeExit?: () => unknown, signal?: string | undefined }} how `signal`: the signal, if the
   *   reason is not the signal itself
   */
  async exit(exitCode, reason, { beforeExit = handBack, signal = reason } = {}) {
    this.#exitCode ||= exitCode
    if (this.#isExiting) return
    this.#isExiting = true
    const drains = await Promise.allSettled([...this.#drains].map((drain) => drain(reason, signal)))
    const isClean = drains.every((drain) => drain.status === 'fulfilled' && drain.value.cut === 0)
    await beforeExit()
    process.exit(isClean ? this.#exitCode : FAILURE)
  }
}

/** Disconnects a worker from its primary before it exits, so that the primary does not count a crash. */
async function disconnect() {
  const { worker } = cluster
  if (worker === undefined || !worker.isConnected()) return
  // If the primary died in this turn, the channel still looks connected, and messages to the primary become
  // errors of the worker.
  worker.on('error', () => {})
  const disconnected = once(worker, 'disconnect').catch(() => {})
  worker.disconnect()
  await Promise.race([
    disconnected,
    new Promise((resolve) => systemClock.wait(DISCONNECT_TIMEOUT_MS, () => resolve(undefined))),
  ])
}

/**
 * Waits while the worker hands connections back. The primary may have sent these connections before it learnt
 * that the worker no longer listens.
 */
async function handBack() {
  const { worker } = cluster
  if (worker?.isConnected())
    await new Promise((resolve) => systemClock.wait(HAND_BACK_MS, () => resolve(undefined)))
}

// biome-ignore format: it would move the cast
const processExit = () => (/** @type {{ [kProcessExit]?: ProcessExit }} */ (process)[kProcessExit] ??= new ProcessExit())

module.exports = { processExit }
