'use strict'
// The primary's record of one worker: starting, ready, leaving, exited. A worker is ready when it listens and
// every instance of spillway in it is ready. A worker without an instance is ready when it listens.

const { DEGRADED, EXIT, PRIMARY_VARIABLE, READY, STARTING, send, typeOf } = require('./primary-link')

/**
 * @import { Cluster } from 'node:cluster'
 * @import { Clock } from '../clock'
 * @import { Message } from './primary-link'
 */

/**
 * @typedef {{ code: number | null, signal: string | null, error?: unknown }} Exit `error`: why the worker was
 *   never spawned
 */
/**
 * @typedef {object} WorkerListeners
 * @property {(worker: ClusterWorker) => void} onReady
 * @property {(worker: ClusterWorker, reason: string) => void} onDegraded
 * @property {(worker: ClusterWorker, exit: Exit) => void} onExit
 */

class ClusterWorker {
  id
  pid
  forkedMs
  isReady = false
  isLeaving = false
  wasKilled = false
  #worker
  #clock
  #isListening = false
  #isDegraded = false
  #hasSpillway = false
  #hasExited = false
  /** The number of instances in the worker that are not ready yet. */
  #starting = 0
  #listeners

  /**
   * @param {Cluster} cluster
   * @param {Clock} clock
   * @param {WorkerListeners} listeners
   */
  constructor(cluster, clock, listeners) {
    this.#clock = clock
    this.#listeners = listeners
    this.forkedMs = clock.now()
    const worker = cluster.fork({ [PRIMARY_VARIABLE]: '1' })
    this.#worker = worker
    this.id = worker.id
    this.pid = worker.process.pid
    worker.on('message', (message) => this.#onMessage(message))
    worker.on('listening', () => {
      this.#isListening = true
      this.#checkReady()
    })
    worker.once('exit', (code, signal) => this.#onExit({ code, signal }))
    // A worker that cannot be spawned emits no `exit`. A message that cannot be sent needs no handling: the
    // worker exits, or a timeout of the primary kills it.
    worker.on('error', (error) => {
      if (this.pid === undefined) this.#onExit({ code: null, signal: null, error })
    })
  }

  /** @returns {'starting' | 'ready' | 'leaving'} */
  get state() {
    return this.isLeaving ? 'leaving' : this.isReady ? 'ready' : 'starting'
  }

  /**
   * Orders the exit: a worker with spillway drains, any other is disconnected. After `killTimeoutMs` the
   * worker is killed.
   *
   * @param {{ reason: string, signal?: string | undefined }} order `signal`: the signal that the primary
   *   received. It decides the drain mode
   * @param {number} killTimeoutMs
   */
  leave(order, killTimeoutMs) {
    if (this.isLeaving) return
    this.isLeaving = true
    if (this.#hasSpillway) send(this.#worker, EXIT, order)
    else this.#worker.disconnect()
    this.#clock.after(killTimeoutMs, () => this.kill())
  }

  kill() {
    if (this.#worker.isDead()) return
    this.wasKilled = true
    this.#worker.process.kill('SIGKILL')
  }

  /** @param {Message} message */
  #onMessage(message) {
    const type = typeOf(message)
    if (type === STARTING) {
      this.#hasSpillway = true
      this.#starting++
    } else if (type === READY) this.#starting--
    else if (type === DEGRADED && !this.#isDegraded) {
      this.#isDegraded = true
      this.#listeners.onDegraded(this, String(message.reason))
    }
    if (type === READY) this.#checkReady()
  }

  /** @param {Exit} exit */
  #onExit(exit) {
    if (this.#hasExited) return
    this.#hasExited = true
    this.#listeners.onExit(this, exit)
  }

  #checkReady() {
    if (this.isReady || !this.#isListening || this.#starting > 0) return
    this.isReady = true
    this.#listeners.onReady(this)
  }
}

exports.ClusterWorker = ClusterWorker
