'use strict'
// The worker thread of stall-watcher.js. When the beat of the watched thread stops, it has that thread read
// its own stack, in the middle of whatever it runs. The watched thread waits for this one only to stop the
// watch.

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
  MEANT,
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
 * @typedef {Seen & { snapshot?: unknown, isMeant: boolean }} Answer `isMeant`: somebody wants the loop to be
 *   blocked, with a debugger or a heap snapshot
 * @typedef {'describe' | 'report'} Kind of a question: `report` asks for the snapshot too
 * @typedef {{ dueMs: number, onBeat(): void, act(blockedMs: number, seen: Seen & { snapshot?: unknown,
 *   at: string }): void }} Step taken when the loop has been blocked for `dueMs`
 * @typedef {{ async: false } | { async: true, value: Promise<string> }} Wait
 * @typedef {Atomics & { waitAsync: (cells: Int32Array, cell: number, value: number) => Wait }} WaitingAtomics
 */

const periodMs = periodOf(thresholdMs)
const slowMs = readAfterMs(thresholdMs)
/**
 * JavaScript describes itself within some milliseconds, on a busy host within tenths of a second. What does
 * not is native code.
 */
const DESCRIBED_MS = 1000
/** After so long it is asked again whether somebody wants the loop to be blocked. */
const MEANT_MS = 1000
/** A snapshot takes longer: the files that make it may be loaded only now. */
const REPORTED_MS = 5000
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
  /** Whether the loop has turned while this thread watches. A slow start is not a hang. */
  #hasTurned = false
  #isEnding = false
  /**
   * The questions that the thread has not read yet, each with the beat before it.
   *
   * @type {Map<Kind, { beat: number, answer: Promise<Answer> }>}
   */
  #unread = new Map()
  #steps = this.#makeSteps()
  /**
   * How long the main thread had run, or waited for a CPU, when the beat was last seen to stop, and when that
   * was.
   */
  #awakeMs = 0
  #awakeAtMs = 0
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
    if (isSlow) for (const step of this.#steps) if (stoppedMs >= step.dueMs) this.#take(step, stoppedMs)
    // Once a beat, so that reading takes little of the thread's time.
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

  /** First taken first. */
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
   * Takes the step once the thread has described what it does, or does not answer.
   *
   * @param {Step} step
   * @param {number} blockedMs
   */
  #take(step, blockedMs) {
    if (!(step instanceof BlockedLog) && !this.#hasTurned) return
    // Until it is taken.
    step.dueMs = Number.POSITIVE_INFINITY
    const beat = this.#beat
    const isBlocked = () => Atomics.load(shared, BEAT) === beat
    const at = new Date(clock.wallMs()).toISOString()
    this.#ask('describe').then(async ({ isMeant, ...seen }) => {
      if (!isBlocked()) return
      if (isMeant) return void (step.dueMs = blockedMs + MEANT_MS)
      const asksMore = step instanceof HangReport && seen.described !== undefined
      const { snapshot } = asksMore ? await this.#ask('report', REPORTED_MS) : { snapshot: undefined }
      if (isBlocked()) step.act(blockedMs, { ...seen, snapshot, at })
    })
  }

  /**
   * JavaScript blocks the loop, and its stack says where.
   *
   * @param {Kind} kind
   * @param {number} [withinMs]
   * @returns {Promise<Answer>}
   */
  #ask(kind, withinMs = DESCRIBED_MS) {
    const beat = this.#beat
    if (Atomics.load(shared, MEANT) !== 0) return Promise.resolve(this.#answerOf(undefined))
    // Native code reads a question when it is over, so one is enough.
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
   * @param {Described & { isInspected: boolean, snapshot?: unknown } | undefined} told undefined: by native
   *   code
   * @returns {Answer}
   */
  #answerOf(told) {
    const isMeant = Atomics.load(shared, MEANT) !== 0
    const asleepIn = target === 0 ? nativeWork(process.pid, this.#awakeShare()) : 'in native code'
    if (told === undefined) return { described: undefined, asleepIn, isMeant }
    const { isInspected, snapshot, ...described } = told
    return { described, asleepIn, snapshot, isMeant: isMeant || isInspected }
  }

  /** The blocked thread calls `process.exit()`. */
  #leave() {
    this.#isEnding = true
    const beat = this.#beat
    const isBlocked = () => Atomics.load(shared, BEAT) === beat
    this.#channel.evaluate({ expression: expressions.leave, onAsked: () => {}, isBlocked })
  }

  /** For how much of the time since the beat stopped the main thread has run, or waited for a CPU. */
  #awakeShare() {
    const share = (awakeMs() - this.#awakeMs) / (clock.sharedMs() - this.#awakeAtMs)
    return Number.isNaN(share) ? undefined : share
  }

  /**
   * How long ago the last beat was. Time that this thread did not run is subtracted: the host may be starved.
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
      // A worker thread that is ended needs one more message: see inspector-channel.js about terminations.
      if (target === 0 || !this.#isEnding) this.#channel.close()
    } finally {
      Atomics.store(shared, PHASE, DISCONNECTED)
      Atomics.notify(shared, PHASE)
      // Exit listeners of the application run after this: if they hang, the process is killed.
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
