'use strict'
// Makes the watched thread call a function in the middle of whatever it runs. The main thread is reached
// directly by an inspector session, and a worker thread through the main thread's inspector. No debugger is
// enabled, so nothing pauses, and code is optimized as usual.
//
// The code may be terminated during the call, by the timeout of a `vm` script or by `worker.terminate()`. In
// that case, the inspector treats the termination as its own and drops it. So the termination is requested
// again. Otherwise the code would run for ever.

/**
 * @import { Session } from 'node:inspector'
 * @typedef {typeof Session} SessionClass
 * @typedef {{ expression: string, onAsked: () => void, isBlocked: () => boolean, onAnswer?: (value: unknown,
 *   isInspected: boolean) => void }} Question `onAsked` is called when the question is sent to the thread,
 *   `onAnswer` with the value of the expression. `isInspected`: whether an inspector port is open, which only
 *   the main thread can detect. `isBlocked`: whether the thread still runs what it ran when the question was
 *   made.
 */

/** @param {string} expression */
const paramsOf = (expression) => ({ expression, silent: true, returnByValue: true })
/** @param {object | undefined} answer of Runtime.evaluate */
const answered = (answer) =>
  /** @type {{ result?: { value?: unknown } } | undefined} */ (answer)?.result?.value
/** Run by the main thread, where Spillway may not be loaded. */
const HAS_PORT = "process.getBuiltinModule('node:inspector').url() !== undefined"
/** The second text is the error for a worker thread that has called `process.exit()`. */
const TERMINATED = /execution was terminated|cannot find context/i

class DirectChannel {
  #session

  /** @param {SessionClass} Session */
  constructor(Session) {
    this.#session = new Session()
  }

  open() {
    this.#session.connectToMainThread()
  }

  /** @param {Question} question */
  evaluate({ expression, onAsked, isBlocked, onAnswer }) {
    onAsked()
    this.#session.post('Runtime.evaluate', paramsOf(expression), (error, answer) => {
      if (TERMINATED.test(error?.message ?? '') && isBlocked())
        this.#session.post('Runtime.terminateExecution')
      onAnswer?.(answered(answer), false)
    })
  }

  close() {
    this.#session.disconnect()
  }
}

/** JavaScript answers within a few milliseconds. A native call answers when it is over. */
const ANSWER_MS = 100
const ATTACH = { waitForDebuggerOnStart: false }

/**
 * Reaches a worker thread. The session is connected only during a question, because Node prints a line if a
 * session is connected when the main thread exits. In that thread, Spillway may not be loaded. An exit during
 * a question still prints the line. A question takes about a millisecond, or ANSWER_MS if the worker is in
 * native code.
 *
 * A worker in native code reads its stack later, and that answer is dropped. If a termination comes during
 * the native call, V8 handles it before the question. Only a termination that comes during that late reading
 * is lost.
 */
class WorkerChannel {
  #Session
  #target
  #clock
  /** @type {Session | undefined} */
  #session
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  /** @type {Question | undefined} */
  #next
  /** @type {string[]} */
  #attached = []

  /**
   * @param {SessionClass} Session
   * @param {number} target the id of the thread
   * @param {Pick<import('../../core/clock').Clock, 'wait' | 'cancel'>} clock
   */
  constructor(Session, target, clock) {
    this.#Session = Session
    this.#target = target
    this.#clock = clock
  }

  open() {}

  /** @param {Question} question */
  evaluate(question) {
    // A blocked main thread connects later. It cannot exit before that.
    if (this.#next === undefined) this.#connect()
    this.#next = question
  }

  #connect() {
    this.close()
    const session = (this.#session = new this.#Session())
    /** @type {string[]} */
    const attached = (this.#attached = [])
    /** @type {string | undefined} */
    let targetSession
    session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      attached.push(sessionId)
      if (Number(/\[worker (\d+)\]/.exec(workerInfo.title)?.[1]) === this.#target) targetSession = sessionId
    })
    session.connectToMainThread()
    // Node answers after it has attached to all threads.
    session.post('NodeWorker.enable', ATTACH, () => {
      if (session === this.#session) this.#ask(session, targetSession)
    })
  }

  /** @param {Session} session @param {string | undefined} sessionId of the thread */
  #ask(session, sessionId) {
    const { expression, onAsked, isBlocked, onAnswer } = /** @type {Question} */ (this.#next)
    this.#next = undefined
    if (sessionId === undefined || !isBlocked()) return this.close()
    /** @param {string} method @param {ReturnType<typeof paramsOf>} [params] */
    const send = (method, params) =>
      session.post('NodeWorker.sendMessageToWorker', {
        sessionId,
        message: JSON.stringify({ id: 1, method, params }),
      })
    let isInspected = false
    if (onAnswer !== undefined)
      session.post('Runtime.evaluate', paramsOf(HAS_PORT), (_error, answer) => {
        isInspected = answered(answer) === true
      })
    session.on('NodeWorker.receivedMessageFromWorker', ({ params: { message } }) => {
      if (session !== this.#session) return
      const { error, result } = JSON.parse(message)
      onAnswer?.(answered(result), isInspected)
      const isTerminated = TERMINATED.test(error?.message ?? '')
      if (isTerminated && isBlocked()) send('Runtime.terminateExecution')
      else this.close()
    })
    const onLate = () => {
      // The main thread may be late itself. When it answers this message, it has passed on all messages of
      // the worker.
      session.post('NodeWorker.enable', ATTACH, () => {
        if (session === this.#session) this.close()
      })
    }
    this.#timer = this.#clock.wait(ANSWER_MS, onLate)
    onAsked()
    send('Runtime.evaluate', paramsOf(expression))
  }

  close() {
    const session = this.#session
    if (session === undefined) return
    this.#session = undefined
    this.#next = undefined
    this.#clock.cancel(this.#timer)
    // Otherwise Node would keep the session of each thread: 10 kB for each thread and question.
    for (const sessionId of this.#attached) session.post('NodeWorker.detach', { sessionId })
    session.disconnect()
  }
}

exports.DirectChannel = DirectChannel
exports.WorkerChannel = WorkerChannel
