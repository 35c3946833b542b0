'use strict'
// The worker thread of stall-watcher.js. When the beat of the watched thread stops, this worker makes that
// thread read its own stack, in the middle of whatever it runs. The watched thread waits for this worker only
// at the end of the watch.

const { Session } = require('node:inspector')
const { parentPort, workerData } = require('node:worker_threads')
const { systemClock: clock } = require('../../core/clock')
const { MAIN_THREAD, schedulerWait } = require('../../core/process/scheduler-wait')
const { BlockedLog, lineWriter, nativeWork } = require('./blocked-log')
const { HangExit, HangReport } = require('./hang')
const { DirectChannel, WorkerChannel } = require('./inspector-channel')
const {
  ASKED,
  BEAT,
  CONNECTED,
  DISCONNECTED,
  IDLE,
  INTENDED,
  PHASE,
  STOP,
  periodOf,
  readAfterMs,
} = require('./stall-signals')

/** @type {WorkerData} */
const { shared, target, thresholdMs, expressions, blocked, served } = workerData

/**
 * @import { Described, Seen } from './blocked-log'
 * @import { WorkerData } from './stall-watcher'
 *
 * @typedef {(given: never, watched: { blockedMs(): number, describe(): Promise<Answer>,
 *   clock: typeof clock }) => { listening: Promise<unknown>, publish(told: never): void }} Serve
 * @typedef {Seen & { snapshot?: unknown, isIntended: boolean }} Answer `isIntended`: the loop is blocked on
 *   purpose, by a debugger or a heap snapshot
 * @typedef {'describe' | 'report'} Kind of a question: `report` requests the snapshot too
 * @typedef {{ dueMs: number, onBeat(): void, act(blockedMs: number, seen: Seen & { snapshot?: unknown,
 *   at: string }): void }} Step what is done when the loop has been blocked for `dueMs`
 * @typedef {{ async: false } | { async: true, value: Promise<string> }} Wait
 * @typedef {Atomics & { waitAsync: (cells: Int32Array, cell: number, value: number) => Wait }} WaitingAtomics
 */

const periodMs = periodOf(thresholdMs)
const slowMs = readAfterMs(thresholdMs)
/**
 * JavaScript describes itself within some milliseconds, or within tenths of a second on a busy host. Without
 * an answer in this time, native code runs.
 */
const DESCRIBED_MS = 1000
/**
 * Linux does not say which thread of a process is the worker. So a worker that runs native code and a worker
 * that waits for a CPU look alike.
 */
const OF_WORKER = 'in native code, or waiting for a CPU'
/** Delay until a block on purpose is checked again. */
const INTENDED_MS = 1000
/** A snapshot takes longer, because its files may be loaded only now. */
const REPORTED_MS = 5000
/**
 * If a poll is later than this, this thread was not scheduled in time. Perhaps the watched thread was not
 * scheduled in time either.
 */
const MAX_LATE_MS = 25
const MIN_POLL_MS = 5

class Watch {
  #beat = Atomics.load(shared, BEAT)
  /** How long this thread itself has not run since `#beat`. */
  #lostMs = 0
  #dueMs = clock.sharedMs()
  /** @type {number | undefined} */
  #askedBeat
  #isStopped = false
  /** Whether the loop has turned while this thread watches. A slow start is not a hang. */
  #hasTurned = false
  #isEnding = false
  /**
   * The questions that the watched thread has not read yet, each with the last beat before the question.
   *
   * @type {Map<Kind, { beat: number, answer: Promise<Answer> }>}
   */
  #unread = new Map()
  #steps = this.#makeSteps()
  /**
   * How long the main thread had run or waited for a CPU when its beat last stopped. `#awakeAtMs`: when that
   * was noticed.
   */
  #awakeMs = 0
  #awakeAtMs = 0
  #channel = target === 0 ? new DirectChannel(Session) : new WorkerChannel(Session, target, clock)

  start() {
    // The watched thread may end meanwhile. After that, nothing may connect to it.
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
      describe: () => this.#ask('describe'),
      clock,
    })
    const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort)
    port.on('message', /** @type {(told: unknown) => void} */ (publish))
    listening.then(
      (address) => port.postMessage({ address }),
      (/** @type {unknown} */ error) => port.postMessage({ error })
    )
  }

  /** How long the loop has been blocked; 0 while it turns. */
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
    if (isSlow) for (const step of this.#steps) if (stoppedMs >= step.dueMs) this.#take(step, stoppedMs)
    // Reads the stack once for each beat, so that reading takes little of the thread's time.
    if (!isSlow || this.#beat === this.#askedBeat) return
    const beat = (this.#askedBeat = this.#beat)
    for (const step of this.#steps) step.onBeat()
    this.#awakeMs = awakeMs()
    this.#awakeAtMs = nowMs
    this.#channel.evaluate({
      expression: expressions.read,
      onAsked: () => Atomics.store(shared, ASKED, clock.sharedMs()),
      isBlocked: () => Atomics.load(shared, BEAT) === beat,
    })
  }

  /** The steps, in the order that they are taken. */
  #makeSteps() {
    if (blocked === undefined) return []
    const { output, insight, pid } = blocked
    const { blockedAfter, hangAfter, hangReport, exitAfter } = insight
    const writeLine = lineWriter(output, clock)
    /** @type {Step[]} */
    const steps = []
    if (output !== undefined && blockedAfter > 0) steps.push(new BlockedLog(writeLine, blockedAfter))
    if (hangReport !== undefined && hangAfter > 0) {
      const given = { directory: hangReport, identity: { pid, thread: target }, afterMs: hangAfter }
      steps.push(new HangReport(given, writeLine))
    }
    if (exitAfter > 0) {
      const kill = target === 0 ? () => void process.kill(pid, 'SIGKILL') : undefined
      steps.push(new HangExit(exitAfter, { leave: () => this.#leave(), kill, clock }, writeLine))
    }
    return steps
  }

  /**
   * Takes a step when the thread has described what it does, or has not answered in time.
   *
   * @param {Step} step
   * @param {number} blockedMs
   */
  #take(step, blockedMs) {
    if (!(step instanceof BlockedLog) && !this.#hasTurned) return
    // Prevents a second call while the first is in progress.
    step.dueMs = Number.POSITIVE_INFINITY
    const beat = this.#beat
    const isBlocked = () => Atomics.load(shared, BEAT) === beat
    const at = new Date(clock.wallMs()).toISOString()
    this.#ask('describe').then(async ({ isIntended, ...seen }) => {
      if (!isBlocked()) return
      if (isIntended) return void (step.dueMs = blockedMs + INTENDED_MS)
      const asksMore = step instanceof HangReport && seen.described !== undefined
      const { snapshot } = asksMore ? await this.#ask('report', REPORTED_MS) : { snapshot: undefined }
      if (isBlocked()) step.act(blockedMs, { ...seen, snapshot, at })
    })
  }

  /**
   * Asks the watched thread what it runs. It answers if JavaScript blocks the loop.
   *
   * @param {Kind} kind
   * @param {number} [withinMs]
   * @returns {Promise<Answer>}
   */
  #ask(kind, withinMs = DESCRIBED_MS) {
    const beat = this.#beat
    if (Atomics.load(shared, INTENDED) !== 0) return Promise.resolve(this.#answerOf(undefined))
    // After native code, the watched thread reads all waiting questions. So one question is enough.
    const unread = this.#unread.get(kind)
    if (target === 0 && unread?.beat === beat)
      return unread.answer.then((told) => (told.described === undefined ? this.#answerOf(undefined) : told))
    /** @type {Promise<Answer>} */
    const answer = new Promise((resolve) => {
      const timer = clock.wait(withinMs, () => resolve(this.#answerOf(undefined)))
      const onAnswer = (/** @type {unknown} */ text, /** @type {boolean} */ isInspected) => {
        this.#unread.delete(kind)
        clock.cancel(timer)
        const told = typeof text === 'string' ? JSON.parse(text) : undefined
        resolve(this.#answerOf(isInspected ? { ...told, isInspected } : told))
      }
      const isBlocked = () => Atomics.load(shared, BEAT) === beat
      this.#channel.evaluate({ expression: expressions[kind], onAsked: () => {}, isBlocked, onAnswer })
    })
    this.#unread.set(kind, { beat, answer })
    return answer
  }

  /**
   * @param {Described & { isInspected: boolean, snapshot?: unknown } | undefined} told undefined if native
   *   code runs
   * @returns {Answer}
   */
  #answerOf(told) {
    const isIntended = Atomics.load(shared, INTENDED) !== 0
    const asleepIn = target === 0 ? nativeWork(process.pid, this.#awakeShare()) : OF_WORKER
    if (told === undefined) return { described: undefined, asleepIn, isIntended }
    const { isInspected, snapshot, ...described } = told
    return { described, asleepIn, snapshot, isIntended: isIntended || isInspected }
  }

  /** Makes the blocked thread call `process.exit()`. */
  #leave() {
    this.#isEnding = true
    const beat = this.#beat
    const isBlocked = () => Atomics.load(shared, BEAT) === beat
    this.#channel.evaluate({ expression: expressions.leave, onAsked: () => {}, isBlocked })
  }

  /** The share of the time since the beat stopped that the main thread has run or waited for a CPU. */
  #awakeShare() {
    const share = (awakeMs() - this.#awakeMs) / (clock.sharedMs() - this.#awakeAtMs)
    return Number.isNaN(share) ? undefined : share
  }

  /**
   * How long ago the last beat was. Time when this thread did not run is subtracted, because the host may be
   * starved.
   *
   * @param {number} nowMs
   */
  #stoppedMs(nowMs) {
    const beat = Atomics.load(shared, BEAT)
    const ageMs = (nowMs - beat) | 0
    const lateMs = (nowMs - this.#dueMs) | 0
    if (beat !== this.#beat) {
      this.#lostMs = 0
      this.#hasTurned = true
    }
    this.#beat = beat
    if (lateMs > MAX_LATE_MS) this.#lostMs += Math.min(lateMs, ageMs)
    return ageMs - this.#lostMs
  }

  #stop() {
    if (this.#isStopped) return
    this.#isStopped = true
    try {
      // A worker thread that is being ended needs one more message: see terminations in inspector-channel.js.
      if (target === 0 || !this.#isEnding) this.#channel.close()
    } finally {
      Atomics.store(shared, PHASE, DISCONNECTED)
      Atomics.notify(shared, PHASE)
      // If the process is ending, this thread stays: it kills the process if exit listeners of the
      // application hang.
      if (!this.#isEnding) process.exit()
    }
  }
}

function awakeMs() {
  const { ranMs, waitedMs } = schedulerWait(MAIN_THREAD) ?? { ranMs: Number.NaN, waitedMs: 0 }
  return ranMs + waitedMs
}

const watch = new Watch()
watch.start()

exports.watch = watch
