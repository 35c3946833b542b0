'use strict'
// The worker thread of stall-watcher.js. When the beat of the watched thread stops, it has that thread read its own stack, in the middle of
// whatever it runs. The watched thread waits for this one only to stop the watch.

const { Session } = require('node:inspector')
const { parentPort, workerData } = require('node:worker_threads')
const { systemClock: clock } = require('../../core/clock')
const { MAIN_THREAD, schedulerWait } = require('../../core/process/scheduler-wait')
const { BlockedLog, nativeWork } = require('./blocked-log')
const { DirectChannel, WorkerChannel } = require('./inspector-channel')
const {
  ASKED,
  BEAT,
  CONNECTED,
  DISCONNECTED,
  IDLE,
  PHASE,
  STOP,
  periodOf,
  readAfterMs,
} = require('./stall-signals')

/** @type {WorkerData} */
const { shared, target, thresholdMs, expressions, blocked, served } = workerData

/**
 * @import { Described } from './blocked-log'
 * @import { WorkerData } from './stall-watcher'
 *
 * @typedef {(given: never, watched: { blockedMs(): number, describe(): Promise<{ described: Described | undefined, asleepIn: string }>,
 *   clock: typeof clock }) => { listening: Promise<unknown>, publish(told: never): void }} Serve
 * @typedef {{ async: false } | { async: true, value: Promise<string> }} Wait
 * @typedef {Atomics & { waitAsync: (cells: Int32Array, cell: number, value: number) => Wait }} WaitingAtomics
 */

const periodMs = periodOf(thresholdMs)
const slowMs = readAfterMs(thresholdMs)
/** JavaScript describes itself within some milliseconds. What does not is native code. */
const DESCRIBED_MS = 100
/** A poll that is later than this was not scheduled in time, and the watched thread perhaps neither. */
const MAX_LATE_MS = 25
const MIN_POLL_MS = 5

class Watch {
  #beat = Atomics.load(shared, BEAT)
  /** How long this thread itself has not run since that beat. */
  #lostMs = 0
  #dueMs = clock.sharedMs()
  /** @type {number | undefined} */
  #askedBeat
  #isStopped = false
  #blockedLog = blocked === undefined ? undefined : new BlockedLog(blocked, clock)
  /** How long the main thread had run when the beat was last seen to stop, and when that was. */
  #ranMs = 0
  #ranAtMs = 0
  #channel = target === 0 ? new DirectChannel(Session) : new WorkerChannel(Session, target, clock)

  start() {
    // The watched thread may end meanwhile: then nothing may connect to it any more.
    if (Atomics.compareExchange(shared, PHASE, IDLE, CONNECTED) !== IDLE) return
    this.#channel.open()
    const stopped = /** @type {WaitingAtomics} */ (Atomics).waitAsync(shared, STOP, 0)
    if (stopped.async) stopped.value.then(() => this.#stop())
    this.#poll()
  }

  /** Answers for the process while its loop is blocked. @param {Serve} serveBlocked */
  serve(serveBlocked) {
    const { listening, publish } = serveBlocked(/** @type {never} */ (served), {
      blockedMs: () => this.#blockedMs(),
      describe: () => this.#describe(),
      clock,
    })
    const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)
    port.on('message', /** @type {(told: unknown) => void} */ (publish))
    listening.then(
      (address) => port.postMessage({ address }),
      (/** @type {unknown} */ error) => port.postMessage({ error })
    )
  }

  /** 0 while the loop turns. */
  #blockedMs() {
    const beat = Atomics.load(shared, BEAT)
    const ageMs = ((clock.sharedMs() - beat) | 0) - (beat === this.#beat ? this.#lostMs : 0)
    return ageMs < thresholdMs ? 0 : ageMs
  }

  #poll = () => {
    if (Atomics.load(shared, STOP) !== 0) return this.#stop()
    const nowMs = clock.sharedMs()
    const stoppedMs = this.#stoppedMs(nowMs)
    const isSlow = stoppedMs >= slowMs
    const pollMs = isSlow ? periodMs : Math.max(slowMs - stoppedMs, MIN_POLL_MS)
    this.#dueMs = nowMs + pollMs
    clock.wait(pollMs, this.#poll)
    if (isSlow && stoppedMs >= (this.#blockedLog?.dueMs ?? Number.POSITIVE_INFINITY)) this.#tell(stoppedMs)
    // Once a beat, so that reading takes little of the thread's time.
    if (!isSlow || this.#beat === this.#askedBeat) return
    const beat = (this.#askedBeat = this.#beat)
    this.#blockedLog?.onBeat()
    this.#ranMs = schedulerWait(MAIN_THREAD)?.ranMs ?? Number.NaN
    this.#ranAtMs = nowMs
    this.#channel.evaluate({
      expression: expressions.read,
      onAsked: () => Atomics.store(shared, ASKED, clock.sharedMs()),
      isBlocked: () => Atomics.load(shared, BEAT) === beat,
    })
  }

  /** Writes that the thread is blocked, once it has described what it does, or does not answer. @param {number} blockedMs */
  #tell(blockedMs) {
    const log = /** @type {BlockedLog} */ (this.#blockedLog)
    // Until the line is written.
    log.dueMs = Number.POSITIVE_INFINITY
    const beat = this.#beat
    this.#describe().then(({ described, asleepIn }) => {
      if (Atomics.load(shared, BEAT) === beat) log.write(blockedMs, described, asleepIn)
    })
  }

  /** What blocks the loop: JavaScript says so itself. @returns {Promise<{ described: Described | undefined, asleepIn: string }>} */
  #describe() {
    const beat = this.#beat
    return new Promise((resolve) => {
      const answer = (/** @type {unknown} */ text) => {
        clock.cancel(timer)
        const described = typeof text === 'string' ? JSON.parse(text) : undefined
        const asleepIn = target === 0 ? nativeWork(process.pid, this.#ranShare()) : 'in native code'
        resolve({ described, asleepIn })
      }
      const timer = clock.wait(DESCRIBED_MS, () => answer(undefined))
      const isBlocked = () => Atomics.load(shared, BEAT) === beat
      this.#channel.evaluate({
        expression: expressions.describe,
        onAsked: () => {},
        isBlocked,
        onAnswer: answer,
      })
    })
  }

  /** For how much of the time since the beat stopped the main thread has run. */
  #ranShare() {
    const share =
      ((schedulerWait(MAIN_THREAD)?.ranMs ?? Number.NaN) - this.#ranMs) / (clock.sharedMs() - this.#ranAtMs)
    return Number.isNaN(share) ? undefined : share
  }

  /** How long ago the last beat was. The time in which this thread did not run is subtracted: then the host may be starved. @param {number} nowMs */
  #stoppedMs(nowMs) {
    const beat = Atomics.load(shared, BEAT)
    const ageMs = (nowMs - beat) | 0
    const lateMs = (nowMs - this.#dueMs) | 0
    if (beat !== this.#beat) this.#lostMs = 0
    this.#beat = beat
    if (lateMs > MAX_LATE_MS) this.#lostMs += Math.min(lateMs, ageMs)
    return ageMs - this.#lostMs
  }

  #stop() {
    if (this.#isStopped) return
    this.#isStopped = true
    try {
      this.#channel.close()
    } finally {
      Atomics.store(shared, PHASE, DISCONNECTED)
      Atomics.notify(shared, PHASE)
      process.exit()
    }
  }
}

const watch = new Watch()
watch.start()

exports.watch = watch
