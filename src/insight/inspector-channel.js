'use strict'
// Has the watched thread call a function in the middle of whatever it runs. The main thread is reached by an inspector session of its own, a
// worker thread through the main thread's inspector. No debugger is enabled, so nothing pauses, and code is optimized as without.
//
// If the code is terminated in the middle of the call, by the timeout of a `vm` script or by `worker.terminate()`, the inspector takes
// the termination for itself. It is then asked for again, or the code would run on for ever.

/** @typedef {typeof import('node:inspector').Session} SessionClass */
/**
 * @typedef {{ expression: string, onAsked: () => void, mayTerminate: () => boolean }} Question `onAsked` is called when the question is on
 *   its way to the thread; `mayTerminate`: whether the thread still runs what it ran then
 */

const paramsOf = (expression) => ({ expression, silent: true, returnByValue: true })
const TERMINATED = /execution was terminated/i

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
  evaluate({ expression, onAsked, mayTerminate }) {
    onAsked()
    this.#session.post('Runtime.evaluate', paramsOf(expression), (error) => {
      if (TERMINATED.test(error?.message ?? '') && mayTerminate())
        this.#session.post('Runtime.terminateExecution')
    })
  }

  close() {
    this.#session.disconnect()
  }
}

/**
 * Connected only while it asks: the main thread, which may know nothing of us, must find no session when it exits, or Node waits for
 * it and says so.
 */
class WorkerChannel {
  #Session
  #target
  #session

  /** @param {SessionClass} Session @param {number} target the id of the thread */
  constructor(Session, target) {
    this.#Session = Session
    this.#target = target
  }

  open() {}

  /** @param {Question} question */
  evaluate({ expression, onAsked, mayTerminate }) {
    this.close()
    const session = (this.#session = new this.#Session())
    const send = (sessionId, method, params) =>
      session.post('NodeWorker.sendMessageToWorker', {
        sessionId,
        message: JSON.stringify({ id: 1, method, params }),
      })
    session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      if (Number(/\[worker (\d+)\]/.exec(workerInfo.title)?.[1]) !== this.#target) return
      onAsked()
      send(sessionId, 'Runtime.evaluate', paramsOf(expression))
    })
    session.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
      const isTerminated = TERMINATED.test(JSON.parse(message).error?.message ?? '')
      if (isTerminated && mayTerminate()) send(sessionId, 'Runtime.terminateExecution')
      else this.close()
    })
    session.connectToMainThread()
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  }

  close() {
    this.#session?.disconnect()
    this.#session = undefined
  }
}

module.exports = { DirectChannel, WorkerChannel }
