'use strict'
// Keeps as many workers as it was told to, each of them replaced before it goes: one that says it is degraded, and all of
// them in turn on `restart()`. The one rule behind it: `#fill` forks what is missing, and while a worker is being
// replaced one more is wanted, so that a crash in the middle of it needs no rule of its own.
// Workers that die young, or are not ready in time, are forked again after a pause that doubles, or a fault at their start
// would fork for ever.

const { availableParallelism, constants } = require('node:os')
const { SpillwayError } = require('../errors')
const { Events } = require('../events')
const { describeError } = require('../redaction/error-description')
const { REPLACED, STOPPED } = require('./messages')
const { ClusterWorker } = require('./worker')
const { watcher } = require('../environment/watcher')

const EVENTS = Object.freeze(
  /** @type {const} */ ({ ready: 'info', degraded: 'warn', replaced: 'info', crashed: 'error' })
)
const SIGNALS = /** @type {const} */ ({ SIGTERM: 'stop', SIGINT: 'stop', SIGUSR2: 'restart' })
/** npm and systemd pass a signal on to a process that has got it from elsewhere already. */
const SAME_SIGNAL_MS = 50
const YOUNG_MS = 10_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000
/** So many deaths in a row, and a rolling restart is given up: the workers that still serve are the better ones. */
const MOST_DEATHS = 3

/** The clusters that have a primary of ours. */
const taken = new WeakSet()

const misuse = (message) => new SpillwayError('ERR_SPILLWAY_MISUSE', message)

class ClusterPrimary {
  #cluster
  #clock
  #faults
  #logger
  #options
  #workers = new Set()
  #events
  #counts = { replaced: 0, crashed: 0, killed: 0 }
  /** In a row, of workers that were young, or not ready in time. */
  #deaths = 0
  #pause
  /** The worker being replaced. */
  #replaced
  #queue = Promise.resolve()
  #waiting = new Set()
  #stopped
  #hasBeenReady = false
  /** Whether all that were told to go did, and cut nothing. */
  #isClean = true
  #toldMs = Number.NEGATIVE_INFINITY
  #onSignal = (signal) => this.#heed(signal)

  constructor(options, { cluster, clock, faults, logger }) {
    if (!cluster.isPrimary) {
      throw misuse(
        'clusterPrimary() was called in a worker. Call it in the primary: if (cluster.isPrimary) clusterPrimary(), else start your server.'
      )
    }
    // Two would fork all the workers twice, and whichever has stopped first would end those of the other with the process.
    if (taken.has(cluster)) {
      throw misuse('clusterPrimary() was called already. Call it once, or after `await primary.stop()`.')
    }
    this.#cluster = cluster
    this.#clock = clock
    this.#faults = faults
    this.#logger = logger
    this.#events = new Events(EVENTS, { faults, logger })
    this.#options = { ...options, workers: options.workers ?? availableParallelism() }
    if (options.exec !== undefined) cluster.setupPrimary({ exec: options.exec })
    if (options.signals) for (const signal of Object.keys(SIGNALS)) process.on(signal, this.#onSignal)
    taken.add(cluster)
    this.#fill()
  }

  on(event, listener) {
    this.#events.on(event, listener)
  }

  off(event, listener) {
    this.#events.off(event, listener)
  }

  snapshot() {
    const nowMs = this.#clock.now()
    const workers = [...this.#workers].map(({ id, pid, state, bornMs }) => ({
      id,
      pid,
      state,
      uptimeSeconds: (nowMs - bornMs) / 1000,
    }))
    return { workers, ...this.#counts }
  }

  /** Every worker there is, one after the other. */
  async restart() {
    for (const worker of [...this.#workers]) await this.#replace(worker, 'restart')
  }

  /** Every worker at once; none comes after. */
  stop() {
    this.#stopped ??= this.#stop(undefined)
    return this.#stopped
  }

  async #stop(signal) {
    this.#pause?.()
    for (const worker of this.#workers) worker.leave({ reason: STOPPED, signal }, this.#options.killTimeout)
    await this.#until(() => this.#workers.size === 0)
    for (const each of Object.keys(SIGNALS)) process.off(each, this.#onSignal)
    taken.delete(this.#cluster)
  }

  #replace(old, reason) {
    const replacement = this.#queue.then(() => this.#replaceNow(old, reason))
    this.#queue = replacement.catch(() => {})
    return replacement
  }

  async #replaceNow(old, reason) {
    if (!this.#isServing(old)) return
    const beganMs = this.#clock.now()
    this.#replaced = old
    this.#deaths = 0
    this.#fill()
    const hasCome = () => this.#readyBeside(old) >= this.#options.workers
    const isHopeless = () => reason === 'restart' && this.#deaths >= MOST_DEATHS
    await this.#until(() => hasCome() || isHopeless() || !this.#isServing(old))
    this.#replaced = undefined
    if (!this.#isServing(old)) return
    if (!hasCome()) {
      throw new SpillwayError(
        'ERR_SPILLWAY_RESTART',
        `The rolling restart was given up: ${this.#deaths} new workers in a row did not live to be ready. The old ones go on.`
      )
    }
    old.leave({ reason: REPLACED }, this.#options.killTimeout)
    await this.#until(() => !this.#workers.has(old))
    this.#counts.replaced++
    this.#events.tell('replaced', { pid: old.pid, reason, durationMs: this.#clock.now() - beganMs })
  }

  #isServing(worker) {
    return this.#workers.has(worker) && !worker.isLeaving && this.#stopped === undefined
  }

  #readyBeside(old) {
    let count = 0
    for (const worker of this.#workers) if (worker !== old && worker.isReady && !worker.isLeaving) count++
    return count
  }

  /** Resolves when it holds; asked again whenever a worker comes or goes. */
  #until(holds) {
    if (holds()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.add({ holds, resolve }))
  }

  #look() {
    for (const each of this.#waiting) if (each.holds() && this.#waiting.delete(each)) each.resolve()
  }

  #fill() {
    if (this.#stopped !== undefined || this.#pause !== undefined) return
    const staying = [...this.#workers].filter(({ isLeaving }) => !isLeaving).length
    const isOneMore = this.#replaced !== undefined && this.#isServing(this.#replaced)
    const missing = this.#options.workers + (isOneMore ? 1 : 0) - staying
    for (let i = 0; i < missing && this.#pause === undefined; i++) this.#fork()
  }

  #fork() {
    try {
      const worker = new ClusterWorker(this.#cluster, this.#clock, {
        onReady: () => this.#welcome(),
        onDegraded: (degraded, reason) => this.#relieve(degraded, reason),
        onGone: (gone, how) => this.#bury(gone, how),
      })
      this.#workers.add(worker)
      this.#clock.after(this.#options.startTimeout, () => worker.isReady || worker.kill())
    } catch (error) {
      // Some failures, such as ENOMEM, Node throws, and others it tells later.
      this.#bury({ pid: undefined, bornMs: this.#clock.now() }, { code: null, signal: null, error })
    }
  }

  #welcome() {
    if (!this.#hasBeenReady && this.#readyBeside(undefined) === this.#options.workers) {
      this.#hasBeenReady = true
      this.#events.tell('ready', { workers: this.#options.workers })
    }
    this.#look()
  }

  #relieve(worker, reason) {
    this.#events.tell('degraded', { pid: worker.pid, reason })
    this.#replace(worker, reason)
  }

  /** @param {any} worker @param {{ code: number | null, signal: string | null, error?: unknown }} how `error` of one never spawned */
  #bury(worker, { code, signal, error }) {
    this.#workers.delete(worker)
    if (error !== undefined) this.#faults.report('fork', error)
    if (worker.wasKilled) this.#counts.killed++
    if (!worker.isLeaving) this.#mourn(worker, code, signal)
    else if (code !== 0) this.#isClean = false
    this.#fill()
    this.#look()
  }

  #mourn(worker, code, signal) {
    const uptimeMs = this.#clock.now() - worker.bornMs
    if (code !== 0) {
      this.#counts.crashed++
      this.#events.tell('crashed', { pid: worker.pid, code, signal, uptimeMs })
    }
    this.#deaths = uptimeMs < YOUNG_MS || !worker.isReady ? this.#deaths + 1 : 0
    if (this.#deaths === 0 || this.#pause !== undefined || this.#stopped !== undefined) return
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#deaths - 1))
    const timer = this.#clock.wait(pauseMs, () => this.#resume())
    this.#pause = () => this.#clock.cancel(timer)
  }

  #resume() {
    this.#pause = undefined
    this.#fill()
  }

  #heed(signal) {
    const nowMs = this.#clock.now()
    // nodemon means the primary itself.
    if (SIGNALS[signal] === 'restart' && watcher() !== 'nodemon') {
      this.restart().catch((error) => this.#logFailure(error))
    } else if (this.#toldMs === Number.NEGATIVE_INFINITY) {
      this.#toldMs = nowMs
      this.#stopped ??= this.#stop(signal)
      this.#stopped.then(() => process.exit(this.#isClean ? 0 : 1))
    } else if (nowMs - this.#toldMs > SAME_SIGNAL_MS) process.exit(128 + constants.signals[signal])
  }

  #logFailure(error) {
    const err = describeError(error)
    this.#faults.guard('logger', () => this.#logger.error({ err }, `spillway: ${err.message}`))
  }
}

module.exports = { ClusterPrimary }
