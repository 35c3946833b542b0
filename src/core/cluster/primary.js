'use strict'
// Keeps the configured number of workers alive, and replaces workers before they exit: degraded workers, and
// all on `restart()`. `#fill` does both: it forks missing workers, and wants one worker more during a
// replacement. So a crash during a replacement needs no special case. If a worker exits early, or is not
// ready in time, the next fork waits. The wait doubles each time. Without this wait, an error at start-up
// would fork workers for ever.

const { availableParallelism, constants } = require('node:os')
const { SpillwayError } = require('../errors/errors')
const { Events } = require('../events')
const { describeError } = require('../redaction/error-description')
const { REPLACED, STOPPED } = require('./primary-link')
const { ClusterWorker } = require('./worker')
const { watcher } = require('../environment/watcher')

/**
 * @import { Cluster } from 'node:cluster'
 * @import { ClusterPrimaryEvents, ClusterSnapshot, Logger } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { Exit } from './worker'
 */

/** @satisfies {import('../log/event-lines').EventLines} */
const EVENTS = Object.freeze({
  ready: {
    level: 'info',
    sentence: (/** @type {ClusterPrimaryEvents['ready']} */ { workers }) =>
      `ready: ${workers} of ${workers} workers serve`,
  },
  degraded: {
    level: 'warn',
    sentence: (/** @type {ClusterPrimaryEvents['degraded']} */ { pid, reason }) =>
      `worker ${pid} is degraded (${reason})`,
  },
  replaced: {
    level: 'info',
    sentence: (/** @type {ClusterPrimaryEvents['replaced']} */ { pid, reason }) =>
      `worker ${pid} was replaced (${reason})`,
  },
  crashed: {
    level: 'error',
    sentence: (/** @type {ClusterPrimaryEvents['crashed']} */ { pid, code, signal }) =>
      pid === undefined
        ? 'a worker could not be started'
        : `worker ${pid} crashed (${signal ?? `code ${code}`})`,
  },
})
const SIGNALS = /** @type {const} */ ({ SIGTERM: 'stop', SIGINT: 'stop', SIGUSR2: 'restart' })
/**
 * npm and systemd forward a signal to a process that has already received it. A repeat within this time is
 * the same signal.
 */
const SAME_SIGNAL_MS = 50
const EARLY_EXIT_MS = 10_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000
/** After this many failed starts in a row a rolling restart stops, because the old workers still serve. */
const MAX_FAILED_STARTS = 3

/** The clusters that have a `ClusterPrimary`. */
const managed = new WeakSet()

/**
 * @typedef {ClusterWorker} Worker
 * @typedef {{ workers: number | undefined, exec: string | undefined, startTimeout: number,
 *   killTimeout: number, signals: boolean }} PrimaryOptions
 * @typedef {keyof ClusterPrimaryEvents} EventName
 * @typedef {keyof typeof SIGNALS} Signal
 */

/** @param {string} message */
const misuse = (message) => new SpillwayError('ERR_SPILLWAY_MISUSE', message)

class ClusterPrimary {
  #cluster
  #clock
  #internalErrors
  #logger
  #options
  /** @type {Set<Worker>} */
  #workers = new Set()
  #events
  #counts = { replaced: 0, crashed: 0, killed: 0 }
  /** Workers in a row that exited early or before they were ready. */
  #failedStarts = 0
  /** Cancels the pause before the next fork. @type {(() => void) | undefined} */
  #cancelPause
  /** The worker being replaced. @type {Worker | undefined} */
  #replaced
  #replacements = Promise.resolve()
  /** @type {Set<{ condition: () => boolean, resolve: (value?: undefined) => void }>} */
  #waiting = new Set()
  /** @type {Promise<void> | undefined} */
  #stopped
  #hasBeenReady = false
  /** Whether every worker that was ordered to exit did so with code 0. */
  #isClean = true
  #firstSignalMs = Number.NEGATIVE_INFINITY
  #listener = (/** @type {Signal} */ signal) => this.#onSignal(signal)

  /**
   * @param {PrimaryOptions} options
   * @param {{ cluster: Cluster, clock: Clock, internalErrors: InternalErrors, logger: Logger }} deps
   */
  constructor(options, { cluster, clock, internalErrors, logger }) {
    if (!cluster.isPrimary) {
      throw misuse(
        'clusterPrimary() was called in a worker. Call it in the primary: if (cluster.isPrimary) clusterPrimary(), else start your server.'
      )
    }
    // Two primaries would fork the workers twice, and the first to stop would end the process, with the
    // workers of the other.
    if (managed.has(cluster)) {
      throw misuse('clusterPrimary() was called already. Call it once, or after `await primary.stop()`.')
    }
    this.#cluster = cluster
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#logger = logger
    this.#events = new Events(EVENTS, { internalErrors, logger })
    this.#options = { ...options, workers: options.workers ?? availableParallelism() }
    if (options.exec !== undefined) cluster.setupPrimary({ exec: options.exec })
    if (options.signals) for (const signal of Object.keys(SIGNALS)) process.on(signal, this.#listener)
    managed.add(cluster)
    this.#fill()
  }

  /** @param {EventName} event @param {(details: never) => void} listener */
  on(event, listener) {
    this.#events.on(event, listener)
  }

  /** @param {EventName} event @param {(details: never) => void} listener */
  off(event, listener) {
    this.#events.off(event, listener)
  }

  snapshot() {
    const nowMs = this.#clock.now()
    const workers = /** @type {ClusterSnapshot['workers']} */ (
      [...this.#workers].map(({ id, pid, state, forkedMs }) => ({
        id,
        pid,
        state,
        uptimeSeconds: (nowMs - forkedMs) / 1000,
      }))
    )
    return { workers, ...this.#counts }
  }

  async restart() {
    for (const worker of [...this.#workers]) await this.#replace(worker, 'restart')
  }

  /** Stops all workers at once, and forks no more. */
  stop() {
    this.#stopped ??= this.#stop(undefined)
    return this.#stopped
  }

  /** @param {Signal | undefined} signal */
  async #stop(signal) {
    this.#cancelPause?.()
    for (const worker of this.#workers) worker.leave({ reason: STOPPED, signal }, this.#options.killTimeout)
    await this.#until(() => this.#workers.size === 0)
    for (const each of Object.keys(SIGNALS)) process.off(each, this.#listener)
    managed.delete(this.#cluster)
  }

  /** @param {Worker} old @param {string} reason */
  #replace(old, reason) {
    const replacement = this.#replacements.then(() => this.#replaceNow(old, reason))
    this.#replacements = replacement.catch(() => {})
    return replacement
  }

  /** @param {Worker} old @param {string} reason */
  async #replaceNow(old, reason) {
    if (!this.#isServing(old)) return
    const beganMs = this.#clock.now()
    this.#replaced = old
    this.#failedStarts = 0
    this.#fill()
    const isReplaced = () => this.#readyBeside(old) >= this.#options.workers
    const isHopeless = () => reason === 'restart' && this.#failedStarts >= MAX_FAILED_STARTS
    await this.#until(() => isReplaced() || isHopeless() || !this.#isServing(old))
    this.#replaced = undefined
    if (!this.#isServing(old)) return
    if (!isReplaced()) {
      throw new SpillwayError(
        'ERR_SPILLWAY_RESTART',
        `The rolling restart was stopped: ${this.#failedStarts} new workers in a row exited before they were ready. The old workers keep running.`
      )
    }
    old.leave({ reason: REPLACED }, this.#options.killTimeout)
    await this.#until(() => !this.#workers.has(old))
    this.#counts.replaced++
    this.#events.emit('replaced', { pid: old.pid, reason, durationMs: this.#clock.now() - beganMs })
  }

  /** @param {Worker} worker */
  #isServing(worker) {
    return this.#workers.has(worker) && !worker.isLeaving && this.#stopped === undefined
  }

  /** @param {Worker | undefined} old */
  #readyBeside(old) {
    let count = 0
    for (const worker of this.#workers) if (worker !== old && worker.isReady && !worker.isLeaving) count++
    return count
  }

  /**
   * Resolves when the condition is true. The condition is checked whenever a worker becomes ready or exits.
   *
   * @param {() => boolean} condition
   */
  #until(condition) {
    if (condition()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.add({ condition, resolve }))
  }

  #checkConditions() {
    for (const each of this.#waiting) if (each.condition() && this.#waiting.delete(each)) each.resolve()
  }

  #fill() {
    if (this.#stopped !== undefined || this.#cancelPause !== undefined) return
    const staying = [...this.#workers].filter(({ isLeaving }) => !isLeaving).length
    const isOneMore = this.#replaced !== undefined && this.#isServing(this.#replaced)
    const missing = this.#options.workers + (isOneMore ? 1 : 0) - staying
    for (let i = 0; i < missing && this.#cancelPause === undefined; i++) this.#fork()
  }

  #fork() {
    try {
      const worker = new ClusterWorker(this.#cluster, this.#clock, {
        onReady: () => this.#onReady(),
        onDegraded: (degraded, reason) => this.#onDegraded(degraded, reason),
        onExit: (exited, exit) => this.#onExit(exited, exit),
      })
      this.#workers.add(worker)
      this.#clock.after(this.#options.startTimeout, () => worker.isReady || worker.kill())
    } catch (error) {
      // Node throws some failures, such as ENOMEM, and emits others later.
      this.#onExit({ forkedMs: this.#clock.now() }, { code: null, signal: null, error })
    }
  }

  #onReady() {
    if (!this.#hasBeenReady && this.#readyBeside(undefined) === this.#options.workers) {
      this.#hasBeenReady = true
      this.#events.emit('ready', { workers: this.#options.workers })
    }
    this.#checkConditions()
  }

  /** @param {Worker} worker @param {string} reason */
  #onDegraded(worker, reason) {
    this.#events.emit('degraded', { pid: worker.pid, reason })
    this.#replace(worker, reason)
  }

  /** @param {Partial<Worker> & { forkedMs: number }} worker @param {Exit} exit */
  #onExit(worker, { code, signal, error }) {
    this.#workers.delete(/** @type {Worker} */ (worker))
    if (error !== undefined) this.#internalErrors.report('fork', error)
    if (worker.wasKilled) this.#counts.killed++
    if (!worker.isLeaving) this.#onUnexpectedExit(worker, code, signal)
    else if (code !== 0) this.#isClean = false
    this.#fill()
    this.#checkConditions()
  }

  /**
   * @param {Partial<Worker> & { forkedMs: number }} worker
   * @param {Exit['code']} code
   * @param {Exit['signal']} signal
   */
  #onUnexpectedExit(worker, code, signal) {
    const uptimeMs = this.#clock.now() - worker.forkedMs
    if (code !== 0) {
      this.#counts.crashed++
      this.#events.emit('crashed', { pid: worker.pid, code, signal, uptimeMs })
    }
    this.#failedStarts = uptimeMs < EARLY_EXIT_MS || !worker.isReady ? this.#failedStarts + 1 : 0
    if (this.#failedStarts === 0 || this.#cancelPause !== undefined || this.#stopped !== undefined) return
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failedStarts - 1))
    const timer = this.#clock.wait(pauseMs, () => {
      this.#cancelPause = undefined
      this.#fill()
    })
    this.#cancelPause = () => this.#clock.cancel(timer)
  }

  /** @param {Signal} signal */
  #onSignal(signal) {
    const nowMs = this.#clock.now()
    // Under nodemon SIGUSR2 asks the primary itself to exit.
    if (SIGNALS[signal] === 'restart' && watcher() !== 'nodemon') {
      this.restart().catch((error) => this.#logFailure(error))
    } else if (this.#firstSignalMs === Number.NEGATIVE_INFINITY) {
      this.#firstSignalMs = nowMs
      this.#stopped ??= this.#stop(signal)
      this.#stopped.then(() => process.exit(this.#isClean ? 0 : 1))
    } else if (nowMs - this.#firstSignalMs > SAME_SIGNAL_MS) process.exit(128 + constants.signals[signal])
  }

  /** @param {unknown} error */
  #logFailure(error) {
    const err = describeError(error)
    this.#internalErrors.guard('logger', () => this.#logger.error({ err }, `spillway: ${err.message}`))
  }
}

exports.ClusterPrimary = ClusterPrimary
