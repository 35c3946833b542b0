'use strict'
// A Worker of BullMQ: its jobs in flight, out of its `concurrency`. The method `processJob` is observed,
// because no event reports that a job was delayed or rate-limited. Its Queue must ask Redis how many jobs
// wait. Each reading of the figures sends this question, unless the previous one is still unanswered, and
// shows the answer to the previous question.

const { ReplacedMethod } = require('../../../core/replaced-method')

/** @import { PoolRecord } from '../pool-record' */

/**
 * @typedef {{ processJob: unknown, concurrency: number, isRunning: unknown }} Worker
 * @typedef {{ getWaitingCount: () => PromiseLike<number> }} Queue
 * @typedef {{ worker: Worker, queue?: Queue | undefined }} Given
 */

class BullmqWorker {
  isTimed = false
  #worker
  #queue
  #internalErrors
  #processJob
  #isOpen = true
  #running = 0
  #waiting = 0
  #isAsking = false

  /** @param {Given} given @param {PoolRecord} record */
  constructor({ worker, queue }, { internalErrors }) {
    this.#worker = worker
    this.#queue = queue
    this.#internalErrors = internalErrors
    this.#processJob = new ReplacedMethod(worker, 'processJob', (method) => this.#observe(method))
    this.#askWaiting()
  }

  /** @param {ReplacedMethod} method */
  #observe(method) {
    const adapter = this
    /** @this {unknown} */
    return async function processJob() {
      adapter.#running++
      try {
        return await Reflect.apply(method.inner, this, arguments)
      } finally {
        adapter.#running--
      }
    }
  }

  async #askWaiting() {
    // A Redis that is away answers once it is back. Until then no further question is sent.
    if (this.#queue === undefined || this.#isAsking) return
    this.#isAsking = true
    try {
      this.#waiting = await this.#queue.getWaitingCount()
    } catch (error) {
      this.#waiting = 0
      if (this.#isOpen) this.#internalErrors.report('pools', error)
    }
    this.#isAsking = false
  }

  get max() {
    return this.#worker.concurrency
  }

  get waiting() {
    return this.#waiting
  }

  figures() {
    const { max } = this
    this.#askWaiting()
    return { used: this.#running, idle: Math.max(0, max - this.#running), waiting: this.#waiting, max }
  }

  close() {
    this.#isOpen = false
    this.#processJob.restore()
  }
}

/** @param {Partial<Worker> | undefined} worker @returns {worker is Worker} */
const isWorker = (worker) =>
  typeof worker?.processJob === 'function' &&
  typeof worker.isRunning === 'function' &&
  typeof worker.concurrency === 'number'

/** @param {Partial<Queue> | undefined} queue */
const isQueue = (queue) => queue === undefined || typeof queue.getWaitingCount === 'function'

module.exports = {
  kind: /** @type {const} */ ('bullmq'),
  accepts: 'a Worker of BullMQ, or { worker, queue }',
  /** @param {Partial<Worker> & { worker?: Partial<Worker>, queue?: Partial<Queue> }} given */
  find(given) {
    if (isWorker(given)) return { worker: given }
    const { worker, queue } = given
    return isWorker(worker) && isQueue(queue) ? { worker, queue } : undefined
  },
  Adapter: BullmqWorker,
}
