'use strict'
// Watches this thread for stalls, from a worker thread (stall-watcher-thread.js) that all instances in this
// thread share. During a watch, each loop turn writes a beat into shared memory. A timer does this for an
// idle loop. When the beat stops, the worker interrupts this thread. This thread then reads its own stack,
// and which request it works for. decisions/0043 has the figures. The worker can also have a server, which
// answers while the loop is blocked.

const { randomUUID } = require('node:crypto')
const { signals } = require('node:os').constants
const { Worker, isMainThread, threadId } = require('node:worker_threads')
const { systemClock: clock } = require('../../core/clock')
const { isInspected } = require('../../core/environment/inspected')
const { ownFile } = require('../../core/own-files')
const { createStackReader } = require('./running-stack')
const {
  ASKED,
  BEAT,
  CELLS,
  CONNECTED,
  DISCONNECTED,
  IDLE,
  INTENDED,
  PHASE,
  STOP,
  periodOf,
} = require('./stall-signals')
const { NATIVE_MS } = require('./stall-sites')

const WORKER = 'features/stalls/stall-watcher-thread.js'

/** The watching thread needs no more memory than this, whatever the limits of the process are. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 }
/** Exit code of a process that `insight.exitAfter` ends: EX_SOFTWARE of sysexits.h. */
const HANG_CODE = 70
/** Disconnecting takes about 1 ms. A starved worker must not delay an exit for long. */
const DISCONNECT_MS = 500
/** Least time between two messages to the server in the worker. */
const TELL_EVERY_MS = 10_000

/** Names of the signals, by number. */
const SIGNAL_NAMES = new Map(Object.entries(signals).map(([name, number]) => [number, name]))
/** Signals that stop the process for a while, continue it, or are ignored. */
const HARMLESS = new Set([
  'SIGCHLD',
  'SIGCONT',
  'SIGSTOP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGWINCH',
])

/**
 * @import { AdminAddress, ResolvedOptions } from '../../../index.js'
 *
 * @typedef {{ delayMs: number, frames: import('../../core/stack-frames').Frame[] }} Stack `delayMs`: how long
 *   it took until the thread could be interrupted
 * @typedef {{ thresholdMs: number, onBeat: (nowMs: number) => void, onRead: (stack: Stack) => void,
 *   describe: (frames: Stack['frames']) => object, report: () => object, onEnd: (error: unknown) => void,
 *   blocked: Blocked }} Subscriber `onRead`, `describe` and `report` run inside the blocked code
 * @typedef {{ output: import('../../core/log/logger').Output | undefined, pid: number,
 *   insight: Pick<ResolvedOptions['insight'], 'blockedAfter' | 'hangAfter' | 'hangReport' | 'exitAfter'> }}
 *   Blocked what is done if a loop stays blocked, and where lines about it are written
 * @typedef {{ shared: Int32Array<SharedArrayBuffer>, target: number, thresholdMs: number,
 *   expressions: Record<Asked, string>, blocked: Blocked | undefined, served: unknown }} WorkerData
 * @typedef {'read' | 'describe' | 'report' | 'leave'} Asked
 * @typedef {{ file: string, given: object, onAnswer: (answer: { address?: AdminAddress,
 *   error?: Error }) => void }} Served a server in the worker. `file` replaces stall-watcher-thread.js as the
 *   file of the worker; `given`: the parameters of the server
 * @typedef {{ worker: Worker, shared: Int32Array<SharedArrayBuffer>, key: string, thresholdMs: number,
 *   periodMs: number, timer: NodeJS.Timeout | undefined, unwatch: () => void }} Watch
 * @typedef {NodeJS.Process & { kill: (...given: unknown[]) => true, reallyExit: { apply(self: unknown,
 *   given: IArguments): void } }} Ending
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

  /** Sends a message to the server in the worker. @param {unknown} message */
  publish(message) {
    this.#watch?.worker.postMessage(message)
  }

  /**
   * Starts watching, for the first subscriber and for one with a lower threshold.
   *
   * @param {Subscriber} subscriber
   */
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
    // The name is unique, because another copy of this package in the process has its own function.
    const key = `spillway.stalls.${randomUUID()}`
    // The stack may be nearly full, and an error that nobody catches may end the process.
    const call = (/** @type {string} */ given) =>
      `try { globalThis[Symbol.for('${key}')](${given}) } catch {}`
    /** @type {(asked: Asked) => string} */
    const ask = (asked) => call(`'${asked}'`)
    const expressions = {
      read: ask('read'),
      describe: ask('describe'),
      report: ask('report'),
      leave: ask('leave'),
    }
    const blocked = [...this.#subscribers].map((each) => each.blocked).sort(byDeeds)[0]
    const thresholdMs = Math.min(...[...this.#subscribers].map((each) => each.thresholdMs))
    const worker = new Worker(this.#served?.file ?? ownFile(WORKER), {
      // The watcher gets neither the preloaded modules of the application nor its options.
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

  /** Records whether the loop is blocked on purpose from now on. @param {boolean} isIntended */
  markIntended(isIntended) {
    if (this.#watch !== undefined) Atomics.store(this.#watch.shared, INTENDED, Number(isIntended))
  }

  #beatAgain = () => {
    if (this.#watch === undefined) return
    this.beat()
    this.#watch.timer = clock.after(this.#watch.periodMs, this.#beatAgain)
    const nowMs = clock.now()
    for (const subscriber of this.#subscribers) subscriber.onBeat(nowMs)
  }

  /** Runs in the middle of whatever blocks the loop. An error that is thrown here is dropped. */
  #onAsked = (/** @type {Asked} */ asked) => {
    if (this.#watch === undefined) return undefined
    // A debugger may have been attached since the decision to end the process.
    if (asked === 'leave') return isInspected() ? undefined : process.exit(HANG_CODE)
    if (asked !== 'read') return this.#describe(this.#framesOf(), asked === 'report')
    const delayMs = (clock.sharedMs() - Atomics.load(this.#watch.shared, ASKED)) | 0
    const frames = this.#framesOf(delayMs >= NATIVE_MS)
    for (const subscriber of this.#subscribers) subscriber.onRead({ delayMs, frames })
    return undefined
  }

  #framesOf = (isLate = false) => this.#readStack?.(this.#onAsked, isLate) ?? []

  /**
   * Describes what blocks the loop. The instance whose request runs does this, if there is one.
   *
   * @param {Stack['frames']} frames
   * @param {boolean} reports
   */
  #describe(frames, reports) {
    const all = [...this.#subscribers].map((each) => ({ ...each.describe(frames), each }))
    const { each, ...described } =
      all.find((one) => /** @type {{ route?: unknown }} */ (one).route != null) ?? all[0]
    const heapUsedBytes = process.memoryUsage().heapUsed
    const more = reports ? { snapshot: each.report() } : {}
    return JSON.stringify({ ...described, heapUsedBytes, isInspected: isInspected(), ...more })
  }

  /** Waits until the worker has disconnected, because the process may be about to exit. */
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
    // A worker that has not connected yet reads this phase, and then never connects.
    if (Atomics.compareExchange(shared, PHASE, IDLE, DISCONNECTED) === CONNECTED)
      Atomics.wait(shared, PHASE, CONNECTED, DISCONNECT_MS)
  }

  /** The worker thread has ended without being stopped. @param {Watch} watch @param {unknown} error */
  #onEnd(watch, error) {
    if (this.#watch !== watch) return
    // No worker is left that could disconnect.
    Atomics.store(watch.shared, PHASE, DISCONNECTED)
    this.#stop()
    const subscribers = [...this.#subscribers]
    this.#subscribers.clear()
    for (const subscriber of subscribers) subscriber.onEnd(error)
  }
}

/**
 * Instances that want to end the process or write a report come first, then instances with a log.
 *
 * @param {Blocked} one
 * @param {Blocked} other
 */
const byDeeds = (one, other) => deedsOf(other) - deedsOf(one)
/** @param {Blocked} blocked */
const deedsOf = ({ output, insight: { exitAfter, hangReport } }) =>
  2 * Number(exitAfter > 0 || hangReport !== undefined) + Number(output !== undefined)

/** The main thread's side of the server in the worker: starts it, and sends what it shows. */
class BlockedServer {
  #watcher
  #onError
  /** @type {(() => Promise<unknown>) | undefined} */
  #tell
  #toldMs = Number.NEGATIVE_INFINITY
  /** @type {(error: unknown) => void} */
  #fail = () => {}

  /**
   * @param {Pick<typeof stallWatcher, 'publish' | 'serve'>} watcher
   * @param {(error: unknown) => void} onError called when `tell` has failed
   */
  constructor(watcher, onError) {
    this.#watcher = watcher
    this.#onError = onError
  }

  /**
   * @param {Pick<Served, 'file' | 'given'>} served
   * @param {() => Promise<unknown>} tell returns what the server shows
   * @returns {Promise<AdminAddress>}
   */
  start(served, tell) {
    this.#tell = tell
    return new Promise((resolve, reject) => {
      this.#fail = reject
      this.#watcher.serve({
        ...served,
        onAnswer: ({ address, error }) => (address === undefined ? reject(error) : resolve(address)),
      })
    })
  }

  /** Called several times a second while the thread watches. @param {number} nowMs */
  onBeat(nowMs) {
    if (this.#tell === undefined || nowMs - this.#toldMs < TELL_EVERY_MS) return
    this.#toldMs = nowMs
    this.#tell().then((told) => this.#watcher.publish(told), this.#onError)
  }

  /** Called when the thread has ended. @param {unknown} error */
  onEnd(error) {
    this.#fail(error ?? new Error('the thread that watches the loop has ended'))
  }
}

/**
 * Calls back just before this thread ends, unless it is killed. If a debugger session is still connected
 * then, Node prints a line and waits for the session. Packages pass a signal on by `process.kill` of the own
 * pid, or by `process.reallyExit`. Neither emits `exit`, so both are wrapped during a watch.
 *
 * @param {() => void} callback @returns {() => void} stops watching
 */
function watchProcessEnd(callback) {
  const { kill, reallyExit } = /** @type {Ending} */ (process)
  /** @type {typeof kill} */
  const killWithCallback = function (pid, signal) {
    if (Math.abs(Number(pid)) === process.pid && signal !== 0 && isFatal(signal)) callback()
    return kill.call(process, ...arguments)
  }
  const exitWithCallback = function () {
    callback()
    return reallyExit.apply(process, arguments)
  }
  process.on('exit', callback)
  Object.assign(process, { kill: killWithCallback, reallyExit: exitWithCallback })
  return () => {
    process.off('exit', callback)
    // If other code has wrapped these wrappers, they stay, and only pass calls on.
    if (process.kill === killWithCallback) process.kill = kill
    if (/** @type {Ending} */ (process).reallyExit === exitWithCallback)
      Object.assign(process, { reallyExit })
  }
}

/** A signal that has a listener does not end the process. @param {unknown} [signal] */
function isFatal(signal = 'SIGTERM') {
  const given = typeof signal === 'number' ? SIGNAL_NAMES.get(signal) : signal
  const name = /** @type {NodeJS.Signals} */ (String(given))
  return signals[name] !== undefined && !HARMLESS.has(name) && process.listenerCount(name) === 0
}

/** One per thread, because two instances need only one watcher. */
const stallWatcher = new StallWatcher()

exports.BlockedServer = BlockedServer
exports.stallWatcher = stallWatcher
exports.watchProcessEnd = watchProcessEnd
