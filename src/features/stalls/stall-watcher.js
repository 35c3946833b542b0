'use strict'
// Watches this thread for stalls, from a worker thread (stall-watcher-thread.js) that all instances of the thread share. While it
// watches, each loop turn beats into shared memory; an idle loop has a timer for it. When the beat stops, the worker interrupts this
// thread, which reads its own stack and which request it works for. decisions/0043 has the figures.

const { randomUUID } = require('node:crypto')
const { Worker, isMainThread, threadId } = require('node:worker_threads')
const { systemClock: clock } = require('../../core/clock')
const { watchProcessEnd } = require('./process-end')
const { createStackReader } = require('./running-stack')
const {
  ASKED,
  BEAT,
  CELLS,
  CONNECTED,
  DISCONNECTED,
  IDLE,
  PHASE,
  STOP,
  periodOf,
} = require('./stall-signals')

/** A watching thread needs no more, whatever the process has. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 }
/** Disconnecting takes about 1 ms. A starved worker must not delay an exit for long. */
const DISCONNECT_MS = 500

/**
 * @import { AdminAddress } from '../../../index.js'
 *
 * @typedef {{ delayMs: number, frames: import('../../core/stack-frames').Frame[] }} Stack `delayMs`: until the thread could be interrupted
 * @typedef {{ thresholdMs: number, onBeat: (nowMs: number) => void, onRead: (stack: Stack) => void, describe: (frames: Stack['frames']) => object,
 *   onEnd: (error: unknown) => void, blocked: Blocked | undefined }} Subscriber `onRead` and `describe` run inside the blocked code
 * @typedef {{ output: import('../../core/log/logger').Output, afterMs: number }} Blocked where it is said that the loop is still blocked, and when first
 * @typedef {{ shared: Int32Array<SharedArrayBuffer>, target: number, thresholdMs: number, expressions: { read: string, describe: string },
 *   blocked: Blocked | undefined, served: unknown }} WorkerData
 * @typedef {{ file: string, given: object, onAnswer: (answer: { address?: AdminAddress, error?: Error }) => void }} Served a server in the
 *   worker: the file that is the worker in place of stall-watcher-thread.js, and what the server is given
 * @typedef {{ worker: Worker, shared: Int32Array<SharedArrayBuffer>, key: string, thresholdMs: number, periodMs: number, timer: NodeJS.Timeout | undefined,
 *   unwatch: () => void }} Watch
 */

class StallWatcher {
  /** @type {Set<Subscriber>} */
  #subscribers = new Set()
  /** @type {Watch | undefined} */
  #watch
  /** @type {ReturnType<typeof createStackReader> | undefined} */
  #readStack
  /** @type {Served | undefined} */
  #served

  /** Starts a server in the worker, which answers while the loop is blocked. @param {Served} served */
  serve(served) {
    this.#served = served
    this.#stop()
    if (this.#subscribers.size > 0) this.#start()
  }

  /** For that server. @param {unknown} message */
  publish(message) {
    this.#watch?.worker.postMessage(message)
  }

  /** Starts watching, for the first subscriber and for one with a lower threshold. @param {Subscriber} subscriber */
  add(subscriber) {
    this.#subscribers.add(subscriber)
    if (subscriber.thresholdMs >= (this.#watch?.thresholdMs ?? Number.POSITIVE_INFINITY)) return
    this.#stop()
    try {
      this.#start()
    } catch (error) {
      this.#subscribers.delete(subscriber)
      throw error
    }
  }

  /** @param {Subscriber} subscriber */
  remove(subscriber) {
    if (this.#subscribers.delete(subscriber) && this.#subscribers.size === 0) this.#stop()
  }

  #start() {
    this.#readStack ??= createStackReader()
    const shared = new Int32Array(new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT))
    // Another copy of this package in the process has a function of its own.
    const key = `spillway.stalls.${randomUUID()}`
    // The stack may be nearly full, and an error that nobody catches may end the process.
    const call = (/** @type {string} */ given) =>
      `try { globalThis[Symbol.for('${key}')](${given}) } catch {}`
    const expressions = { read: call(''), describe: call('true') }
    const blocked = [...this.#subscribers].find((each) => each.blocked !== undefined)?.blocked
    const thresholdMs = Math.min(...[...this.#subscribers].map((each) => each.thresholdMs))
    const worker = new Worker(this.#served?.file ?? require.resolve('./stall-watcher-thread'), {
      // Neither the preloaded modules of the application nor its options are the watcher's.
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: RESOURCE_LIMITS,
      name: 'spillway stalls',
      workerData: {
        shared,
        target: isMainThread ? 0 : threadId,
        thresholdMs,
        expressions,
        blocked,
        served: this.#served?.given,
      },
    })
    const periodMs = periodOf(thresholdMs)
    /** @type {Watch} */
    const watch = { worker, shared, key, thresholdMs, periodMs, timer: undefined, unwatch: () => {} }
    this.#watch = watch
    worker.on('message', (answer) => this.#served?.onAnswer(answer))
    worker.on('error', (error) => this.#onEnd(watch, error))
    worker.on('exit', () => this.#onEnd(watch, undefined))
    worker.unref()
    watch.unwatch = watchProcessEnd(() => this.#stop())
    Object.defineProperty(globalThis, Symbol.for(key), { value: this.#onAsked, configurable: true })
    this.#beatAgain()
  }

  // Hot path: once a loop turn, while it watches.
  beat() {
    if (this.#watch !== undefined) Atomics.store(this.#watch.shared, BEAT, clock.sharedMs())
  }

  #beatAgain = () => {
    if (this.#watch === undefined) return
    this.beat()
    this.#watch.timer = clock.after(this.#watch.periodMs, this.#beatAgain)
    const nowMs = clock.now()
    for (const subscriber of this.#subscribers) subscriber.onBeat(nowMs)
  }

  /** Runs in the middle of whatever blocks the loop. What is thrown here is dropped. */
  #onAsked = (describes = false) => {
    if (this.#watch === undefined) return undefined
    const frames = this.#readStack?.(this.#onAsked) ?? []
    if (describes) return this.#describe(frames)
    const delayMs = (clock.sharedMs() - Atomics.load(this.#watch.shared, ASKED)) | 0
    for (const subscriber of this.#subscribers) subscriber.onRead({ delayMs, frames })
    return undefined
  }

  /** The instance whose request it is says what blocks. @param {Stack['frames']} frames */
  #describe(frames) {
    const all = [...this.#subscribers].map((each) => each.describe(frames))
    const described = all.find((each) => /** @type {{ route?: unknown }} */ (each).route != null) ?? all[0]
    return JSON.stringify({ ...described, heapUsedBytes: process.memoryUsage().heapUsed })
  }

  /** Disconnects before it returns: the process may be about to exit. */
  #stop() {
    const watch = this.#watch
    if (watch === undefined) return
    this.#watch = undefined
    clock.cancel(watch.timer)
    watch.unwatch()
    const { key, shared } = watch
    delete (/** @type {Record<symbol, unknown>} */ (globalThis)[Symbol.for(key)])
    Atomics.store(shared, STOP, 1)
    Atomics.notify(shared, STOP)
    // A worker that has not connected yet sees this phase, and never will.
    if (Atomics.compareExchange(shared, PHASE, IDLE, DISCONNECTED) === CONNECTED)
      Atomics.wait(shared, PHASE, CONNECTED, DISCONNECT_MS)
  }

  /** The worker thread has ended without being stopped. @param {Watch} watch @param {unknown} error */
  #onEnd(watch, error) {
    if (this.#watch !== watch) return
    // Nobody is left to disconnect.
    Atomics.store(watch.shared, PHASE, DISCONNECTED)
    this.#stop()
    const subscribers = [...this.#subscribers]
    this.#subscribers.clear()
    for (const subscriber of subscribers) subscriber.onEnd(error)
  }
}

/** Of this thread: two instances in one process need one watcher. */
const stallWatcher = new StallWatcher()

module.exports = { stallWatcher }
