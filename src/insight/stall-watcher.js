'use strict'
// Watches this thread for stalls, from a worker thread (stall-watcher-thread.js) that all instances of the thread share. While it
// watches, each loop turn beats into shared memory; an idle loop has a timer for it. When the beat stops, the worker interrupts this
// thread, which reads its own stack and which request it works for. decisions/0043 has the figures.

const { Worker, isMainThread, threadId } = require('node:worker_threads')
const { systemClock } = require('../clock')
const { watchProcessEnd } = require('./process-end')
const { readRunningStack } = require('./running-stack')
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

/** What the worker calls. */
const kStalls = Symbol.for('spillway.stalls.1')
const EXPRESSION = "globalThis[Symbol.for('spillway.stalls.1')]?.()"
/** A watching thread needs no more, whatever the process has. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 }
/** Disconnecting takes about 1 ms. A starved worker must not delay an exit for long. */
const DISCONNECT_MS = 500

/**
 * @typedef {{ delayMs: number, frames: import('./running-stack').Frame[] }} Stack `delayMs`: until the thread could be interrupted
 * @typedef {{ thresholdMs: number, onBeat: (nowMs: number) => void, onRead: (stack: Stack) => void,
 *   onEnd: (error: unknown) => void }} Subscriber `onRead` runs inside the blocked code
 */

class StallWatcher {
  /** @type {Map<Subscriber, true>} */
  #subscribers = new Map()
  #clock
  #watch

  constructor(clock = systemClock) {
    this.#clock = clock
  }

  /** Starts watching, for the first subscriber. @param {Subscriber} subscriber */
  add(subscriber) {
    this.#subscribers.set(subscriber, true)
    if (this.#watch === undefined) this.#start()
  }

  /** @param {Subscriber} subscriber */
  remove(subscriber) {
    if (this.#subscribers.delete(subscriber) && this.#subscribers.size === 0) this.#stop()
  }

  #start() {
    const shared = new Int32Array(new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT))
    const thresholdMs = Math.min(...[...this.#subscribers.keys()].map((each) => each.thresholdMs))
    const worker = new Worker(require.resolve('./stall-watcher-thread'), {
      // Neither the preloaded modules of the application nor its options are the watcher's.
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: RESOURCE_LIMITS,
      name: 'spillway stalls',
      workerData: { shared, target: isMainThread ? 0 : threadId, thresholdMs, expression: EXPRESSION },
    })
    const watch = { shared, timer: undefined, periodMs: periodOf(thresholdMs), unwatch: () => {} }
    this.#watch = watch
    worker.on('error', (error) => this.#onEnd(watch, error))
    worker.on('exit', () => this.#onEnd(watch, undefined))
    worker.unref()
    watch.unwatch = watchProcessEnd(() => this.#stop())
    Object.defineProperty(globalThis, kStalls, { value: this.#onAsked, configurable: true })
    this.#beatAgain()
  }

  // Hot path: once a loop turn, while it watches.
  beat() {
    if (this.#watch !== undefined) Atomics.store(this.#watch.shared, BEAT, this.#clock.sharedMs())
  }

  #beatAgain = () => {
    if (this.#watch === undefined) return
    this.beat()
    this.#watch.timer = this.#clock.after(this.#watch.periodMs, this.#beatAgain)
    const nowMs = this.#clock.now()
    for (const subscriber of this.#subscribers.keys()) subscriber.onBeat(nowMs)
  }

  /** Runs in the middle of whatever blocks the loop. The inspector drops what is thrown here. */
  #onAsked = () => {
    if (this.#watch === undefined) return
    const shared = /** @type {Int32Array<SharedArrayBuffer>} */ (this.#watch.shared)
    const delayMs = (this.#clock.sharedMs() - Atomics.load(shared, ASKED)) | 0
    const stack = { delayMs, frames: readRunningStack(this.#onAsked) }
    for (const subscriber of this.#subscribers.keys()) subscriber.onRead(stack)
  }

  /** Disconnects before it returns: the process may be about to exit. */
  #stop() {
    const watch = this.#watch
    if (watch === undefined) return
    this.#watch = undefined
    this.#clock.cancel(watch.timer)
    watch.unwatch()
    delete globalThis[kStalls]
    const { shared } = watch
    Atomics.store(shared, STOP, 1)
    Atomics.notify(shared, STOP)
    // A worker that has not connected yet sees this phase, and never will.
    if (Atomics.compareExchange(shared, PHASE, IDLE, DISCONNECTED) === CONNECTED)
      Atomics.wait(shared, PHASE, CONNECTED, DISCONNECT_MS)
  }

  /** The worker thread has ended without being stopped. */
  #onEnd(watch, error) {
    if (this.#watch !== watch) return
    this.#stop()
    const subscribers = [...this.#subscribers.keys()]
    this.#subscribers.clear()
    for (const subscriber of subscribers) subscriber.onEnd(error)
  }
}

/** Of this thread: two instances in one process need one watcher. */
const stallWatcher = new StallWatcher()

module.exports = { StallWatcher, stallWatcher }
